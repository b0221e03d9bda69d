package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/model"
)

// DefaultBaseURL is where requests go when Options has no BaseURL.
const DefaultBaseURL = "https://api.openai.com/v1"

// DefaultMaxBody is the size, in bytes, above which a response is refused.
const DefaultMaxBody = 16 << 20

// DefaultIdle is how long a stream may be silent. Models that think say nothing
// for long.
const DefaultIdle = 2 * time.Minute

// The APIs that a server may have.
const (
	APIChat      = "chat"      // Chat Completions
	APIResponses = "responses" // Responses
	APIAuto      = "auto"      // the one that the server has for the model: see Options.API
)

// The names under which servers take the limit of output tokens.
const (
	MaxTokens           = "max_tokens"
	MaxCompletionTokens = "max_completion_tokens"
)

// The ways in which servers take a JSON Schema for the answer.
const (
	SchemaNative = "json_schema" // the schema itself
	SchemaObject = "json_object" // only that the answer is JSON
	SchemaNone   = "none"        // not at all
)

// NoField represents the name of a field that a server does not have.
const NoField = "-"

// FormNamed is how Quirks call the choice of one tool by its name; the other
// forms are model's ToolChoice constants.
const FormNamed = "named"

// Options say which server is spoken to, and how. The zero value speaks to
// OpenAI without a key.
type Options struct {
	// BaseURL is the server's address up to the version, such as
	// http://localhost:11434/v1. A query (Azure's api-version) is kept; a
	// trailing /chat/completions or /responses is taken off. "" means
	// DefaultBaseURL.
	BaseURL string
	// APIKey is sent as a bearer token (to Azure as its own header); "" sends
	// none. It goes to the host of BaseURL only: redirects are not followed.
	APIKey string
	// Headers are added to every request: names to templates over {{stage}},
	// {{role}} and {{run}}. They win over our own.
	Headers map[string]string
	// API is one of the API constants; "" means APIChat. APIAuto begins with
	// Responses at OpenAI and Azure and with Chat Completions elsewhere. Where the
	// server says that it, or the model, has no such API, the other one is tried,
	// and what answers is remembered for the model. Until that is known the
	// requests for a model wait for the first one.
	API string
	// Azure is set for Azure OpenAI.
	Azure *Azure
	// Stream has answers sent as they are made, so that a long one is distinguished from a
	// dead connection: it may take long, but not be silent for longer than Idle
	// (0 means DefaultIdle).
	Stream bool
	Idle   time.Duration
	// Body holds fields that are added to the body of every request, such as
	// chat_template_kwargs. Those that the adapter writes itself are refused.
	Body map[string]any
	// MaxBody bounds a response in bytes; 0 means DefaultMaxBody.
	MaxBody int64
	// Proxy chooses a proxy for a request, as in http.Transport; nil uses none.
	// It does not apply when Transport is set.
	Proxy func(*http.Request) (*url.URL, error)
	// Warn hears once when the server refuses the form in which it is asked for an
	// answer of a schema, and another is used from then on. It may be called
	// concurrently; nil: no one hears it. With FixedSchema such a refusal is an error
	// like any other.
	Warn        func(text string)
	FixedSchema bool
	// Transport replaces the adapter's own HTTP transport; nil is normal.
	Transport http.RoundTripper

	Quirks
}

// Quirks are in what a server differs from OpenAI. The zero value is right for
// most. But for Efforts, ToolForms, Schema, Parallel and CacheKey they concern
// Chat Completions alone.
type Quirks struct {
	// TokenField is MaxTokens or MaxCompletionTokens. "" chooses by host:
	// OpenAI's and Azure's newer models know only the latter, other servers
	// mostly only the former.
	TokenField string
	// NoTemperature says that the request must have neither temperature nor top_p;
	// they are left out.
	NoTemperature bool
	// EffortField takes the reasoning effort; "" means reasoning_effort, NoField
	// that it is left out. Efforts are the values it takes, nil means any. A
	// request with another one fails with BadRequest and is not sent.
	EffortField string
	Efforts     []string
	// SeedField takes the seed; "" means seed, NoField that it is left out.
	SeedField string
	// SystemRole is the role of system messages; "" means system.
	SystemRole string
	// ToolForms are the choices of tools that are understood: ToolChoice
	// constants and FormNamed; nil means all. A request that must have another
	// one fails with BadRequest; for none the tools are left out. ToolAny is the
	// server's word for required; "" means required.
	ToolForms []string
	ToolAny   string
	// Parallel, if set, says whether the model may call several tools at once.
	Parallel *bool
	// Schema is one of the Schema constants; "" means SchemaNone.
	Schema string
	// ReasoningField is where a message takes the model's own reasoning back:
	// reasoning_content, reasoning or reasoning_details; "" leaves it out, as most
	// servers want it. It is always read.
	ReasoningField string
	// ReasoningAlways sends ReasoningField with every call of a tool, empty where
	// nothing was thought or it is lost: there are servers that refuse a call
	// without it.
	ReasoningAlways bool
	// CacheKey sends a prompt_cache_key, which requests of the same role and stage
	// with the same system message have in common, so that they find the server
	// that has their beginning in its cache.
	CacheKey bool
	// Cost says that usage.cost is what an answer cost, in dollars.
	Cost bool
}

func checkOptions(o Options) error {
	faults := []error{
		checkChoice("api", o.API, "", APIChat, APIResponses, APIAuto),
		checkChoice("token field", o.TokenField, "", MaxTokens, MaxCompletionTokens),
		checkChoice("schema", o.Schema, "", SchemaNative, SchemaObject, SchemaNone),
		checkChoice("reasoning field", o.ReasoningField, "", "reasoning_content", "reasoning", reasoningDetails),
		checkBody(o.Body),
		header.CheckKey("api key", o.APIKey),
		o.Azure.check(o),
	}
	for _, f := range o.ToolForms {
		faults = append(faults, checkChoice("tool form", f, model.ToolChoiceAuto, model.ToolChoiceNone, model.ToolChoiceRequired, FormNamed))
	}
	if o.MaxBody < 0 {
		faults = append(faults, fmt.Errorf("max body %d: must not be negative", o.MaxBody))
	}
	if o.Idle < 0 {
		faults = append(faults, fmt.Errorf("idle %v: must not be negative", o.Idle))
	}
	return errors.Join(faults...)
}

func checkChoice(what, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("%s %q: allowed are %s", what, value, strings.Trim(strings.Join(allowed, ", "), ", "))
}

// checkBody refuses fields that would be in a body twice.
func checkBody(body map[string]any) error {
	own := []string{
		"model", "messages", "input", "instructions", "temperature", "top_p", "max_tokens", "max_completion_tokens", "max_output_tokens",
		"seed", "reasoning_effort", "response_format", "text", "tools", "tool_choice", "parallel_tool_calls", "prompt_cache_key", "stream",
		"stream_options", "store", "include",
	}
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(body)) {
		if slices.Contains(own, name) {
			faults = append(faults, fmt.Errorf("body field %q: written by the adapter itself: remove it", name))
		}
	}
	return errors.Join(faults...)
}

// extraFields returns the fields of body as they are written in an object, each after
// a comma, in the order of their names.
func extraFields(body map[string]any) ([]byte, error) {
	if len(body) == 0 {
		return nil, nil
	}
	b, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("body: %w", err)
	}
	b[0] = ','
	return b[:len(b)-1], nil
}

func parseBase(raw string) (*url.URL, error) {
	if raw == "" {
		raw = DefaultBaseURL
	}
	return header.ParseBase(raw, DefaultBaseURL, "/"+chatPath, "/"+responsesPath)
}

// vendor reports whether a host is OpenAI's own or Azure's.
func vendor(host string) bool {
	return host == "api.openai.com" || strings.HasSuffix(host, ".api.openai.com") || azureHost.MatchString(host)
}

func tokenField(host string) string {
	if vendor(host) {
		return MaxCompletionTokens
	}
	return MaxTokens
}
