// Package openai sends requests to servers that speak OpenAI's Chat Completions
// protocol: OpenAI itself, Azure, vLLM, Ollama, llama.cpp, OpenRouter and the
// many others. It uses the vendor's SDK for transport and authentication and
// turns every failure into a classified *model.Error.
//
// It knows nothing about retries, limits, prices or records, and nothing about
// the environment: the SDK's own environment variables are not read.
package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/model"
)

// DefaultBaseURL is where requests go when Options has no BaseURL.
const DefaultBaseURL = "https://api.openai.com/v1"

// DefaultMaxBody is the size, in bytes, above which a response is refused.
const DefaultMaxBody = 16 << 20

// endpoint is the path below the base URL.
const endpoint = "chat/completions"

// The names under which servers take the limit of output tokens.
const (
	MaxTokens           = "max_tokens"
	MaxCompletionTokens = "max_completion_tokens"
)

// Options say which server is spoken to, and how. The zero value speaks to
// OpenAI without a key.
type Options struct {
	// BaseURL is the server's address up to the version, such as
	// http://localhost:11434/v1. A query (Azure's api-version) is kept; a
	// trailing /chat/completions is taken off. "" means DefaultBaseURL.
	BaseURL string
	// APIKey is sent as a bearer token; "" sends no Authorization header. It
	// goes to the host of BaseURL only: redirects are not followed.
	APIKey string
	// Headers are added to every request: names to templates over {{stage}},
	// {{role}} and {{run}}. They win over those of the SDK.
	Headers map[string]string
	// Structured says that the server takes response_format json_schema. If it
	// is false, a request's Schema is not sent.
	Structured bool
	// TokenField is MaxTokens or MaxCompletionTokens. "" chooses by host:
	// OpenAI's and Azure's newer models know only the latter, other servers
	// mostly only the former.
	TokenField string
	// MaxBody bounds a response in bytes; 0 means DefaultMaxBody.
	MaxBody int64
	// Proxy chooses a proxy for a request, as in http.Transport; nil uses none.
	// It does not apply when Transport is set.
	Proxy func(*http.Request) (*url.URL, error)
	// Transport replaces the adapter's own HTTP transport; nil is normal.
	Transport http.RoundTripper
}

// Client is one server with one key. It is safe for concurrent use. Deadlines
// come from the context of each call; the client has none of its own.
type Client struct {
	api        sdk.Client
	path       string // endpoint with the query of the base URL
	host       string // for messages
	headers    *header.Set
	tokenField string
	structured bool
	maxBody    int64
	system     lastText
	scrub      *strings.Replacer // blanks credentials in messages of servers
	transport  http.RoundTripper
}

var _ model.Client = (*Client)(nil)

// New checks o and returns a client. It opens no connection. The error joins
// all faults of o.
func New(o Options) (*Client, error) {
	base, err := parseBase(o.BaseURL)
	headers, herr := header.Parse(o.Headers)
	if err = errors.Join(err, herr, checkOptions(o)); err != nil {
		return nil, err
	}
	c := &Client{
		path:       endpoint,
		host:       base.Host,
		headers:    headers,
		tokenField: o.TokenField,
		structured: o.Structured,
		maxBody:    o.MaxBody,
		scrub:      scrubber(append(headers.Secrets(), o.APIKey)),
		transport:  o.Transport,
	}
	if base.RawQuery != "" {
		c.path += "?" + base.RawQuery
		base.RawQuery = ""
	}
	if c.tokenField == "" {
		c.tokenField = tokenField(base.Hostname())
	}
	if c.maxBody == 0 {
		c.maxBody = DefaultMaxBody
	}
	if c.transport == nil {
		c.transport = newTransport(o.Proxy)
	}
	c.api = c.newAPI(base, o.APIKey)
	return c, nil
}

// newAPI builds the SDK's client from explicit options only; its constructor
// would read OPENAI_* variables, among them one that redirects all traffic.
func (c *Client) newAPI(base *url.URL, key string) sdk.Client {
	opts := []option.RequestOption{
		option.WithBaseURL(base.String()),
		option.WithHTTPClient(&http.Client{Transport: c.transport, CheckRedirect: stayHere}),
		option.WithMaxRetries(0),
	}
	if key != "" {
		opts = append(opts, option.WithAPIKey(key))
	}
	return sdk.Client{Options: opts}
}

// Generate implements model.Client. An answer without text is returned with
// Text ""; a refusal's words stand in Text.
func (c *Client) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	body, err := c.encode(req)
	if err != nil {
		return model.Response{}, c.fault(model.BadRequest, err)
	}
	var res *http.Response
	err = c.api.Post(ctx, c.path, body, &res, option.WithMiddleware(c.dress(req.Tags)))
	if err != nil {
		return model.Response{}, c.failure(ctx, res, err)
	}
	defer func() { _ = res.Body.Close() }() // read to its end or given up: its error changes nothing
	return c.answer(ctx, res)
}

// Close closes the connections that are not in use. The client stays usable.
func (c *Client) Close() {
	if t, ok := c.transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

func parseBase(raw string) (*url.URL, error) {
	if raw == "" {
		raw = DefaultBaseURL
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("base url %q: not a URL: %w", raw, errors.Unwrap(err))
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return nil, fmt.Errorf("base url %q: want http:// or https:// and a host, such as %s", raw, DefaultBaseURL)
	case u.User != nil:
		return nil, fmt.Errorf("base url of %s: user and password are not allowed in it: use the key or a header", u.Host)
	}
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/"+endpoint)
	u.RawPath, u.Fragment = "", ""
	return u, nil
}

func checkOptions(o Options) error {
	var faults []error
	switch o.TokenField {
	case "", MaxTokens, MaxCompletionTokens:
	default:
		faults = append(faults, fmt.Errorf("token field %q: allowed are %s and %s", o.TokenField, MaxTokens, MaxCompletionTokens))
	}
	if o.MaxBody < 0 {
		faults = append(faults, fmt.Errorf("max body %d: must not be negative", o.MaxBody))
	}
	if strings.ContainsFunc(o.APIKey, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		faults = append(faults, errors.New("api key: holds a space, a line break or another control character: check how it was set"))
	}
	return errors.Join(faults...)
}

func tokenField(host string) string {
	if host == "api.openai.com" || strings.HasSuffix(host, ".openai.azure.com") {
		return MaxCompletionTokens
	}
	return MaxTokens
}
