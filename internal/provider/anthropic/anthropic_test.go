package anthropic

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

var _ = flag.Bool("update", false, "write testdata/abilities.json anew")

// TestMain looks for goroutines that nobody waits for, but for one that a package
// below the SDK starts when it is loaded.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"))
}

func TestSuite(t *testing.T) {
	t.Parallel()
	modeltest.Run(t, harness(StructuredNative))
	modeltest.Golden(t, "testdata/abilities.json", harness(StructuredNative))
}

func TestSuiteByTool(t *testing.T) {
	t.Parallel()
	modeltest.Run(t, harness(StructuredTool))
}

func harness(structured string) modeltest.Harness {
	return modeltest.Harness{
		New: func(t *testing.T, s modeltest.Settings) model.Client {
			o := Options{BaseURL: s.URL + "/v1", APIKey: s.Key, Headers: s.Headers, MaxBody: s.MaxBody, Stream: s.Stream, Idle: s.Idle}
			if s.Structured {
				o.Structured = structured
			}
			return newClient(t, o)
		},
		Read:         readWire,
		Write:        writeWire,
		Stream:       streamWire,
		KeepAlive:    event("ping", map[string]any{"type": "ping"}),
		Refuse:       func(message string) []byte { return errorBody("", message) },
		Faults:       vendorFaults(),
		StreamFaults: streamFaults(),
		Lacks:        modeltest.Lacks{Seed: true, Fingerprint: true, TokenDefault: true},
	}
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

// The shapes of the protocol, written anew: the test must not share the mistakes
// of the package.
type (
	seenRequest struct {
		Model     string `json:"model"`
		MaxTokens *int   `json:"max_tokens"`
		System    []seenBlock
		Messages  []struct {
			Role    string      `json:"role"`
			Content []seenBlock `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name         string          `json:"name"`
			Description  string          `json:"description"`
			InputSchema  json.RawMessage `json:"input_schema"`
			CacheControl any             `json:"cache_control"`
		} `json:"tools"`
		ToolChoice *struct {
			Type string `json:"type"`
			Name string `json:"name"`
			One  bool   `json:"disable_parallel_tool_use"`
		} `json:"tool_choice"`
		Temperature *float64 `json:"temperature"`
		TopP        *float64 `json:"top_p"`
		Stream      bool     `json:"stream"`
		Thinking    *struct {
			Type   string `json:"type"`
			Budget int    `json:"budget_tokens"`
		} `json:"thinking"`
		OutputConfig struct {
			Effort string `json:"effort"`
			Format *struct {
				Type   string          `json:"type"`
				Schema json.RawMessage `json:"schema"`
			} `json:"format"`
		} `json:"output_config"`
	}
	seenBlock struct {
		Type   string `json:"type"`
		Text   string `json:"text"`
		Source struct {
			Type      string `json:"type"`
			MediaType string `json:"media_type"`
			Data      []byte `json:"data"`
		} `json:"source"`
		ID           string          `json:"id"`
		Name         string          `json:"name"`
		Input        json.RawMessage `json:"input"`
		ToolUseID    string          `json:"tool_use_id"`
		IsError      bool            `json:"is_error"`
		Content      []seenBlock     `json:"content"`
		Thinking     string          `json:"thinking"`
		Signature    json.RawMessage `json:"signature"`
		CacheControl any             `json:"cache_control"`
	}
)

// readWire reads a request, and refuses what the protocol refuses.
func readWire(r *http.Request, body []byte) (modeltest.Seen, error) {
	var s modeltest.Seen
	if r.Method != http.MethodPost || r.URL.Path != "/v1/messages" {
		return s, fmt.Errorf("%s %s, want POST /v1/messages", r.Method, r.URL.Path)
	}
	if r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Anthropic-Version") != "2023-06-01" {
		return s, fmt.Errorf("content type %q, version %q", r.Header.Get("Content-Type"), r.Header.Get("Anthropic-Version"))
	}
	var w seenRequest
	dec := json.NewDecoder(strings.NewReader(string(body)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&w); err != nil {
		return s, fmt.Errorf("decode %s: %w", body, err)
	}
	if w.MaxTokens == nil || *w.MaxTokens < 1 || strings.Count(string(body), `"cache_control"`) > 4 {
		return s, fmt.Errorf("no max_tokens or too many breakpoints: %s", body)
	}
	s = modeltest.Seen{
		Model: w.Model, Temperature: w.Temperature, TopP: w.TopP, MaxTokens: *w.MaxTokens,
		Effort: w.OutputConfig.Effort, Stream: w.Stream, Key: r.Header.Get("X-Api-Key"),
	}
	if err := seeMessages(&s, w); err != nil {
		return s, err
	}
	return s, seeTools(&s, w)
}

func seeMessages(s *modeltest.Seen, w seenRequest) error {
	for _, b := range w.System {
		s.Messages = append(s.Messages, model.Message{Role: model.System, Content: b.Text})
	}
	for _, m := range w.Messages {
		if m.Role != model.User && m.Role != model.Assistant || len(m.Content) == 0 {
			return fmt.Errorf("a message of role %q with %d blocks", m.Role, len(m.Content))
		}
		results := model.Message{Role: model.ToolRole}
		others := model.Message{Role: m.Role}
		for _, b := range m.Content {
			p, err := seePart(b)
			switch {
			case err != nil:
				return err
			case p.Result != nil && (m.Role != model.User || len(others.Parts) > 0):
				return fmt.Errorf("a result stands where the protocol has none: %+v", m)
			case p.Result != nil:
				results.Parts = append(results.Parts, p)
			default:
				others.Parts = append(others.Parts, p)
			}
		}
		if len(results.Parts) > 0 {
			s.Messages = append(s.Messages, results)
		}
		if len(others.Parts) > 0 {
			s.Messages = append(s.Messages, plain(others))
		}
	}
	return nil
}

// plain puts a lone text into Content.
func plain(m model.Message) model.Message {
	if len(m.Parts) == 1 && m.Parts[0].Text != "" {
		return model.Message{Role: m.Role, Content: m.Parts[0].Text}
	}
	return m
}

func seePart(b seenBlock) (model.Part, error) {
	switch b.Type {
	case "text":
		if b.Text == "" {
			return model.Part{}, fmt.Errorf("an empty text")
		}
		return model.Part{Text: b.Text}, nil
	case "image":
		if b.Source.Type != "base64" {
			return model.Part{}, fmt.Errorf("an image from %q", b.Source.Type)
		}
		return model.Part{Image: &model.Image{MIME: b.Source.MediaType, Data: b.Source.Data}}, nil
	case "tool_use":
		return model.Part{Call: &model.ToolCall{ID: b.ID, Name: b.Name, Arguments: b.Input}}, nil
	case "thinking":
		return model.Part{Reasoning: &model.Reasoning{Text: b.Thinking, Opaque: b.Signature}}, nil
	case "tool_result":
		r := &model.ToolResult{CallID: b.ToolUseID, IsError: b.IsError}
		for _, c := range b.Content {
			p, err := seePart(c)
			if err != nil {
				return p, err
			}
			r.Content += p.Text
			if p.Image != nil {
				r.Images = append(r.Images, *p.Image)
			}
		}
		return model.Part{Result: r}, nil
	}
	return model.Part{}, fmt.Errorf("a block of type %q", b.Type)
}

func seeTools(s *modeltest.Seen, w seenRequest) error {
	for _, t := range w.Tools {
		if strings.HasPrefix(t.Description, "Takes the final answer.") {
			s.Schema = t.InputSchema
			continue
		}
		s.Tools = append(s.Tools, model.Tool{Name: t.Name, Description: t.Description, Parameters: t.InputSchema})
	}
	if f := w.OutputConfig.Format; f != nil {
		if f.Type != "json_schema" {
			return fmt.Errorf("format %q", f.Type)
		}
		s.Schema = f.Schema
	}
	if w.ToolChoice == nil {
		return nil
	}
	switch w.ToolChoice.Type {
	case "auto", "none":
		s.ToolChoice = w.ToolChoice.Type
	case "any":
		s.ToolChoice = model.ToolChoiceRequired
	case "tool":
		s.ToolChoice = w.ToolChoice.Name
	default:
		return fmt.Errorf("tool choice %q", w.ToolChoice.Type)
	}
	return nil
}

// writeWire writes a response as Anthropic does, with all that the adapter
// ignores.
func writeWire(r modeltest.Reply) []byte {
	doc := head(r)
	doc["content"], doc["stop_reason"] = contentOf(r), reason(r)
	if r.Refusal != "" {
		doc["stop_details"] = map[string]any{"type": "refusal", "category": nil, "explanation": r.Refusal}
	}
	if r.Finish == model.FinishFilter {
		doc["amazon-bedrock-guardrailAction"] = "INTERVENED"
	}
	if !r.NoUsage {
		doc["usage"] = usageOf(r)
	}
	return mustJSON(doc)
}

func head(r modeltest.Reply) map[string]any {
	return map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": r.Model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
	}
}

func usageOf(r modeltest.Reply) map[string]any {
	return map[string]any{
		"input_tokens": r.Input - r.Cached - r.CacheWrite, "output_tokens": r.Output,
		"cache_read_input_tokens": r.Cached, "cache_creation_input_tokens": r.CacheWrite,
		"output_tokens_details": map[string]any{"thinking_tokens": r.Reasoning}, "service_tier": "standard",
	}
}

func reason(r modeltest.Reply) string {
	reasons := map[model.Finish]string{model.FinishLength: "max_tokens", model.FinishTools: "tool_use", model.FinishRefusal: "refusal"}
	if s := reasons[r.Finish]; s != "" {
		return s
	}
	return "end_turn"
}

func contentOf(r modeltest.Reply) []any {
	content := []any{}
	if r.Trace != nil {
		content = append(content, map[string]any{"type": "thinking", "thinking": r.Trace.Text, "signature": r.Trace.Opaque})
	}
	if r.Text != "" {
		content = append(content, map[string]any{"type": "text", "text": r.Text, "citations": nil})
	}
	for _, c := range r.Calls {
		input := c.Arguments
		switch {
		case input == nil:
			input = json.RawMessage(`{}`)
		case !json.Valid(input): // in a document it can only be text
			input = mustJSON(string(input))
		}
		content = append(content, map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": input})
	}
	return content
}

// streamWire writes the same as events.
func streamWire(r modeltest.Reply) []string {
	start := head(r)
	if !r.NoUsage {
		usage := usageOf(r)
		usage["output_tokens"] = 1
		delete(usage, "output_tokens_details")
		start["usage"] = usage
	}
	events := []string{event("message_start", map[string]any{"type": "message_start", "message": start})}
	for i, b := range contentOf(r) {
		events = append(events, blockEvents(i, b.(map[string]any), r.Calls)...)
		if i == 0 {
			events = append(events, event("ping", map[string]any{"type": "ping"}))
		}
	}
	delta := map[string]any{"stop_reason": reason(r), "stop_sequence": nil}
	if r.Refusal != "" {
		delta["stop_details"] = map[string]any{"type": "refusal", "category": nil, "explanation": r.Refusal}
	}
	last := map[string]any{"type": "message_delta", "delta": delta}
	if r.Finish == model.FinishFilter {
		last["amazon-bedrock-guardrailAction"] = "INTERVENED"
	}
	if !r.NoUsage {
		last["usage"] = map[string]any{"output_tokens": r.Output, "output_tokens_details": map[string]any{"thinking_tokens": r.Reasoning}}
	}
	return append(events, event("message_delta", last), event("message_stop", map[string]any{"type": "message_stop"}))
}

// blockEvents writes a block: empty at first, then in pieces.
func blockEvents(i int, b map[string]any, calls []model.ToolCall) []string {
	var deltas []map[string]any
	grow := func(kind, field, text string) {
		for len(text) > 0 {
			n := min(len(text), 700)
			for n < len(text) && text[n]&0xC0 == 0x80 { // not within a character
				n++
			}
			deltas = append(deltas, map[string]any{"type": kind, field: text[:n]})
			text = text[n:]
		}
	}
	empty := map[string]any{"type": b["type"]}
	switch b["type"] {
	case "text":
		empty["text"] = ""
		grow("text_delta", "text", b["text"].(string))
	case "thinking":
		empty["thinking"], empty["signature"] = "", ""
		grow("thinking_delta", "thinking", b["thinking"].(string))
		var signature string
		if json.Unmarshal(b["signature"].(json.RawMessage), &signature) == nil {
			grow("signature_delta", "signature", signature)
		}
	case "tool_use":
		empty["id"], empty["name"], empty["input"] = b["id"], b["name"], map[string]any{}
		deltas = append(deltas, map[string]any{"type": "input_json_delta", "partial_json": ""})
		for _, c := range calls {
			if c.ID == b["id"] {
				grow("input_json_delta", "partial_json", string(c.Arguments))
			}
		}
	}
	events := []string{event("content_block_start", map[string]any{"type": "content_block_start", "index": i, "content_block": empty})}
	for _, d := range deltas {
		events = append(events, event("content_block_delta", map[string]any{"type": "content_block_delta", "index": i, "delta": d}))
	}
	return append(events, event("content_block_stop", map[string]any{"type": "content_block_stop", "index": i}))
}

func event(name string, data any) string {
	return "event: " + name + "\ndata: " + string(mustJSON(data)) + "\n\n"
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func errorBody(kind, message string) []byte {
	return mustJSON(map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}, "request_id": "req_1"})
}

func streamFaults() []modeltest.StreamFault {
	fault := func(kind string, want model.Code) modeltest.StreamFault {
		return modeltest.StreamFault{Name: kind, Want: want, Event: func(message string) string {
			return "event: error\ndata: " + string(errorBody(kind, message)) + "\n\n"
		}}
	}
	return []modeltest.StreamFault{
		fault("overloaded_error", model.Overloaded),
		fault("api_error", model.Server),
		fault("rate_limit_error", model.RateLimit),
		fault("throttlingException", model.RateLimit),
		fault("something_new", model.Server),
	}
}

// vendorFaults are errors as Anthropic, AWS and Google word them.
func vendorFaults() []modeltest.Fault {
	body := func(kind, message string) string { return string(errorBody(kind, message)) }
	google := func(code int, status string) string {
		return fmt.Sprintf(`[{"error":{"code":%d,"message":"it failed","status":%q}}]`, code, status)
	}
	amazon := func(kind string) map[string]string {
		return map[string]string{"X-Amzn-Errortype": kind + ":http://internal.amazon.com/coral/com.amazon.bedrock/"}
	}
	faults := []modeltest.Fault{
		{Name: "key", Status: 401, Want: model.Auth, Body: body("authentication_error", "invalid x-api-key")},
		{Name: "permission", Status: 403, Want: model.Auth, Body: body("permission_error", "Your API key does not have permission")},
		{Name: "billing", Status: 402, Want: model.Credit, Body: body("billing_error", "payment is due")},
		{Name: "credit as bad request", Status: 400, Want: model.Credit, Body: body("invalid_request_error", "Your credit balance is too low to access the Anthropic API.")},
		{Name: "spend limit", Status: 400, Want: model.Credit, Body: body("invalid_request_error", "You have reached your specified API usage limits.")},
		{Name: "model", Status: 404, Want: model.NotFound, Body: body("not_found_error", "model: claude-9")},
		{Name: "too large", Status: 413, Want: model.ContextLength, Body: body("request_too_large", "Request exceeds the maximum size")},
		{Name: "prompt too long", Status: 400, Want: model.ContextLength, Body: body("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")},
		{Name: "with the answer too long", Status: 400, Want: model.ContextLength, Body: body("invalid_request_error", "input length and `max_tokens` exceed context limit: 199000 + 8000 > 200000")},
		{Name: "parameter", Status: 400, Want: model.BadRequest, Body: body("invalid_request_error", "max_tokens: must be at least 1")},
		{Name: "unprocessable", Status: 422, Want: model.BadRequest, Body: body("api_error", "cannot process this")},
		{Name: "unprocessable at Google", Status: 422, Want: model.BadRequest, Body: google(422, "INTERNAL")},
		{Name: "output filtered", Status: 400, Want: model.ContentFilter, Body: body("invalid_request_error", "Output blocked by content filtering policy")},
		{Name: "rate", Status: 429, Want: model.RateLimit, Wait: 11 * time.Second, Header: map[string]string{"Retry-After": "11", "Anthropic-Ratelimit-Tokens-Remaining": "0", "Anthropic-Ratelimit-Tokens-Reset": "2036-03-01T12:00:00Z"}, Body: body("rate_limit_error", "slow down")},
		{Name: "overloaded", Status: 529, Want: model.Overloaded, Body: body("overloaded_error", "Overloaded")},
		{Name: "server", Status: 500, Want: model.Server, Body: body("api_error", "Internal server error")},
		{Name: "timeout", Status: 504, Want: model.Timeout, Body: body("timeout_error", "timed out")},
		{Name: "gateway timeout", Status: 504, Want: model.Server, Body: "upstream timed out"},
		{Name: "good status, overloaded inside", Status: 200, Want: model.Overloaded, Body: body("overloaded_error", "busy")},
		{Name: "good status, unknown error inside", Status: 200, Want: model.Server, Body: `{"error":"the model crashed"}`},
		{Name: "amazon throttles", Status: 429, Want: model.RateLimit, Header: amazon("ThrottlingException"), Body: `{"message":"Too many requests"}`},
		{Name: "amazon warms up", Status: 429, Want: model.Overloaded, Header: amazon("ModelNotReadyException"), Body: `{"message":"not ready"}`},
		{Name: "amazon's model fails", Status: 424, Want: model.Server, Header: amazon("ModelErrorException"), Body: `{"message":"failed"}`},
		{Name: "amazon's model is slow", Status: 408, Want: model.Timeout, Header: amazon("ModelTimeoutException"), Body: `{"message":"slow"}`},
		{Name: "amazon's context", Status: 400, Want: model.ContextLength, Header: amazon("ValidationException"), Body: `{"message":"Input is too long for requested model."}`},
		{Name: "amazon's signature", Status: 403, Want: model.Auth, Header: amazon("InvalidSignatureException"), Body: `{"message":"The request signature we calculated does not match"}`},
		{Name: "google's quota", Status: 429, Want: model.RateLimit, Body: google(429, "RESOURCE_EXHAUSTED")},
		{Name: "google's rights", Status: 403, Want: model.Auth, Body: google(403, "PERMISSION_DENIED")},
		{Name: "google's token", Status: 401, Want: model.Auth, Body: google(401, "UNAUTHENTICATED")},
	}
	return append(faults, modeltest.DatedWaits("Anthropic-Ratelimit-", body("rate_limit_error", "slow down"))...)
}
