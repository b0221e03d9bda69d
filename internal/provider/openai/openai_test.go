package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSuite(t *testing.T) {
	modeltest.Run(t, modeltest.Harness{
		New:    newForSuite,
		Read:   readWire,
		Write:  writeWire,
		Refuse: func(message string) []byte { return errorBody(message, "", "") },
		Faults: vendorFaults(),
		Lacks:  modeltest.Lacks{Vision: true, Tools: true, Traces: true, CacheWrite: true},
	})
}

func newForSuite(t *testing.T, s modeltest.Settings) model.Client {
	return newClient(t, Options{BaseURL: s.URL + "/v1", APIKey: s.Key, Headers: s.Headers, Structured: s.Structured, MaxBody: s.MaxBody})
}

func newClient(t testing.TB, o Options) *Client {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	t.Cleanup(c.Close)
	return c
}

// readWire reads a request without the package's own types.
func readWire(r *http.Request, body []byte) (modeltest.Seen, error) {
	var s modeltest.Seen
	if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" {
		return s, fmt.Errorf("%s %s, want POST /v1/chat/completions", r.Method, r.URL.Path)
	}
	if got := r.Header.Get("Content-Type"); got != "application/json" {
		return s, fmt.Errorf("content type %q", got)
	}
	var w struct {
		Model           string          `json:"model"`
		Messages        []model.Message `json:"messages"`
		Temperature     *float64        `json:"temperature"`
		TopP            *float64        `json:"top_p"`
		MaxTokens       int             `json:"max_tokens"`
		ReasoningEffort string          `json:"reasoning_effort"`
		Seed            *int64          `json:"seed"`
		ResponseFormat  *struct {
			Type       string `json:"type"`
			JSONSchema struct {
				Name   string          `json:"name"`
				Schema json.RawMessage `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	dec := json.NewDecoder(strings.NewReader(string(body)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&w); err != nil {
		return s, fmt.Errorf("decode %s: %w", body, err)
	}
	s = modeltest.Seen{
		Model: w.Model, Messages: w.Messages, Temperature: w.Temperature, TopP: w.TopP,
		MaxTokens: w.MaxTokens, Effort: w.ReasoningEffort, Seed: w.Seed,
	}
	s.Key, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if f := w.ResponseFormat; f != nil {
		if f.Type != "json_schema" || f.JSONSchema.Name == "" {
			return s, fmt.Errorf("response format %+v", f)
		}
		s.Schema = f.JSONSchema.Schema
	}
	return s, nil
}

// writeWire writes a response as OpenAI does, with all that the adapter ignores.
func writeWire(r modeltest.Reply) []byte {
	message := map[string]any{"role": "assistant", "content": r.Text, "refusal": nil, "annotations": []any{}}
	if r.Refusal != "" {
		message["content"], message["refusal"] = nil, r.Refusal
	}
	reason := map[model.Finish]string{model.FinishLength: "length", model.FinishFilter: "content_filter"}[r.Finish]
	if reason == "" {
		reason = "stop"
	}
	doc := map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1700000000, "model": r.Model,
		"choices":            []any{map[string]any{"index": 0, "message": message, "logprobs": nil, "finish_reason": reason}},
		"service_tier":       "default",
		"system_fingerprint": r.Fingerprint,
	}
	if !r.NoUsage {
		doc["usage"] = map[string]any{
			"prompt_tokens": r.Input, "completion_tokens": r.Output, "total_tokens": r.Input + r.Output,
			"prompt_tokens_details":     map[string]any{"cached_tokens": r.Cached, "audio_tokens": 0},
			"completion_tokens_details": map[string]any{"reasoning_tokens": r.Reasoning},
		}
	}
	b, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return b
}

func errorBody(message, kind, code string) []byte {
	b, err := json.Marshal(map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil, "code": code}})
	if err != nil {
		panic(err)
	}
	return b
}

// vendorFaults are errors as various servers word them.
func vendorFaults() []modeltest.Fault {
	body := func(message, kind, code string) string { return string(errorBody(message, kind, code)) }
	return []modeltest.Fault{
		{Name: "openai context", Status: 400, Want: model.ContextLength, Body: body("This model's maximum context length is 8192 tokens.", "invalid_request_error", "context_length_exceeded")},
		{Name: "vllm context", Status: 400, Want: model.ContextLength, Body: `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens","type":"BadRequestError","param":null,"code":400}`},
		{Name: "llama.cpp context", Status: 400, Want: model.ContextLength, Body: `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`},
		{Name: "too large", Status: 413, Want: model.ContextLength, Body: body("Request too large", "tokens", "rate_limit_exceeded")},
		{Name: "azure filter", Status: 400, Want: model.ContentFilter, Body: body("The response was filtered", "", "content_filter")},
		{Name: "azure filter in words", Status: 400, Want: model.ContentFilter, Body: body("triggering Azure OpenAI's content management policy", "", "")},
		{Name: "policy", Status: 403, Want: model.ContentFilter, Body: body("no", "", "content_policy_violation")},
		{Name: "xai key", Status: 400, Want: model.Auth, Body: `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***."}`},
		{Name: "google key", Status: 400, Want: model.Auth, Body: `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`},
		{Name: "no credit", Status: 429, Want: model.Auth, Header: map[string]string{"Retry-After": "5"}, Body: body("You exceeded your current quota", "insufficient_quota", "insufficient_quota")},
		{Name: "payment", Status: 402, Want: model.Auth, Body: body("Insufficient credits", "", "")},
		{Name: "ollama model", Status: 404, Want: model.NotFound, Body: `{"error":"model 'x' not found"}`},
		{Name: "model not found as bad request", Status: 400, Want: model.NotFound, Body: body("no such model", "invalid_request_error", "model_not_found")},
		{Name: "fastapi", Status: 422, Want: model.BadRequest, Body: `{"detail":[{"loc":["body","seed"],"msg":"extra fields not permitted"}]}`},
		{Name: "wrong method", Status: 405, Want: model.NotFound, Body: `{"detail":"Method Not Allowed"}`},
		{Name: "conflict", Status: 409, Want: model.Server, Body: body("try again", "", "")},
		{Name: "gateway timeout", Status: 504, Want: model.Server, Body: "upstream timed out"},
		{Name: "early", Status: 425, Want: model.Overloaded},
		{Name: "teapot", Status: 418, Want: model.BadRequest},
		{
			Name: "reset headers", Status: 429, Want: model.RateLimit, Wait: 6*time.Minute + 500*time.Millisecond, Body: body("slow down", "requests", "rate_limit_exceeded"),
			Header: map[string]string{"X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Tokens": "6m0.5s", "X-Ratelimit-Remaining-Requests": "12", "X-Ratelimit-Reset-Requests": "8h"},
		},
		{Name: "good status, rate limit inside", Status: 200, Want: model.RateLimit, Body: body("Rate limit reached", "rate_limit_error", "")},
		{Name: "good status, overloaded inside", Status: 200, Want: model.Overloaded, Body: body("busy", "overloaded_error", "")},
		{Name: "good status, unknown error inside", Status: 200, Want: model.Server, Body: `{"error":"the model crashed"}`},
	}
}
