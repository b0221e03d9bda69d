package gemini

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
	modeltest.Run(t, harness(false))
	modeltest.Golden(t, "testdata/abilities.json", harness(false))
}

func TestSuiteOnVertex(t *testing.T) {
	t.Parallel()
	modeltest.Run(t, harness(true))
}

func harness(onVertex bool) modeltest.Harness {
	return modeltest.Harness{
		New: func(t *testing.T, s modeltest.Settings) model.Client {
			o := Options{BaseURL: s.URL, APIKey: s.Key, Headers: s.Headers, MaxBody: s.MaxBody, Stream: s.Stream, Idle: s.Idle, Structured: s.Structured}
			if onVertex && s.Key != "" { // there is no way to speak to it without a token
				o.APIKey, o.Vertex = "", &Vertex{Project: "p", Region: "us-central1", Token: staticToken(s.Key)}
			}
			return newClient(t, o)
		},
		Read:         readWire,
		Write:        writeWire,
		Stream:       streamWire,
		Refuse:       func(message string) []byte { return errorBody(0, "", message) },
		Faults:       vendorFaults(),
		StreamFaults: streamFaults(),
		Lacks:        modeltest.Lacks{Refusal: true, Fingerprint: true, CacheWrite: true},
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
		Contents []seenContent `json:"contents"`
		System   *seenContent  `json:"systemInstruction"`
		Tools    []struct {
			Functions []struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parametersJsonSchema"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
		ToolConfig *struct {
			Calling struct {
				Mode    string   `json:"mode"`
				Allowed []string `json:"allowedFunctionNames"`
			} `json:"functionCallingConfig"`
		} `json:"toolConfig"`
		Config struct {
			Temperature *float64        `json:"temperature"`
			TopP        *float64        `json:"topP"`
			MaxTokens   int             `json:"maxOutputTokens"`
			Seed        *int64          `json:"seed"`
			MIME        string          `json:"responseMimeType"`
			Schema      json.RawMessage `json:"responseJsonSchema"`
			Thinking    *struct {
				Level  string `json:"thinkingLevel"`
				Budget *int   `json:"thinkingBudget"`
			} `json:"thinkingConfig"`
		} `json:"generationConfig"`
	}
	seenContent struct {
		Role  string     `json:"role"`
		Parts []seenPart `json:"parts"`
	}
	seenPart struct {
		Text      *string         `json:"text"`
		Thought   bool            `json:"thought"`
		Signature json.RawMessage `json:"thoughtSignature"`
		Data      *struct {
			MIME string `json:"mimeType"`
			Data []byte `json:"data"`
		} `json:"inlineData"`
		Call *struct {
			ID   string          `json:"id"`
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		} `json:"functionCall"`
		Result *struct {
			ID       string            `json:"id"`
			Name     string            `json:"name"`
			Response map[string]string `json:"response"`
		} `json:"functionResponse"`
	}
)

// readWire reads a request of either backend, and refuses what they refuse.
func readWire(r *http.Request, body []byte) (modeltest.Seen, error) {
	var s modeltest.Seen
	path, method, _ := strings.Cut(r.URL.Path, ":")
	var ok bool
	if s.Model, ok = strings.CutPrefix(path, "/v1beta/models/"); !ok {
		s.Model, ok = strings.CutPrefix(path, "/v1beta1/projects/p/locations/us-central1/publishers/google/models/")
	}
	s.Stream = method == "streamGenerateContent" && r.URL.Query().Get("alt") == "sse"
	if r.Method != http.MethodPost || !ok || !s.Stream && method != "generateContent" {
		return s, fmt.Errorf("%s %s", r.Method, r.URL)
	}
	if got := r.Header.Get("Content-Type"); got != "application/json" {
		return s, fmt.Errorf("content type %q", got)
	}
	var w seenRequest
	dec := json.NewDecoder(strings.NewReader(string(body)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&w); err != nil {
		return s, fmt.Errorf("decode %s: %w", body, err)
	}
	s.Key = r.Header.Get("X-Goog-Api-Key")
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		s.Key = token
	}
	if t := w.Config.Thinking; t != nil {
		s.Effort = strings.ToLower(t.Level)
	}
	s.Temperature, s.TopP, s.MaxTokens, s.Seed = w.Config.Temperature, w.Config.TopP, w.Config.MaxTokens, w.Config.Seed
	if s.Schema = w.Config.Schema; (s.Schema != nil) != (w.Config.MIME == "application/json") {
		return s, fmt.Errorf("type %q of an answer with the schema %s", w.Config.MIME, s.Schema)
	}
	if err := seeContents(&s, w); err != nil {
		return s, err
	}
	return s, seeTools(&s, w)
}

func seeContents(s *modeltest.Seen, w seenRequest) error {
	if w.System != nil {
		for _, p := range w.System.Parts {
			s.Messages = append(s.Messages, model.Message{Role: model.System, Content: *p.Text})
		}
	}
	for _, c := range w.Contents {
		role := map[string]string{"user": model.User, "model": model.Assistant}[c.Role]
		if role == "" || len(c.Parts) == 0 {
			return fmt.Errorf("a content of role %q with %d parts", c.Role, len(c.Parts))
		}
		m := model.Message{Role: role}
		results := 0
		for _, p := range c.Parts {
			out, err := seePart(p)
			if err != nil {
				return err
			}
			if out.Result != nil {
				results++
				m.Role = model.ToolRole
			}
			m.Parts = append(m.Parts, out)
		}
		if results > 0 && (results < len(c.Parts) || role != model.User) {
			return fmt.Errorf("results stand beside others: %+v", c)
		}
		if len(m.Parts) == 1 && m.Parts[0].Text != "" {
			m = model.Message{Role: m.Role, Content: m.Parts[0].Text}
		}
		s.Messages = append(s.Messages, m)
	}
	return nil
}

func seePart(p seenPart) (model.Part, error) {
	switch {
	case p.Text != nil && p.Thought:
		return model.Part{Reasoning: &model.Reasoning{Text: *p.Text, Opaque: p.Signature}}, nil
	case p.Text != nil && *p.Text != "":
		return model.Part{Text: *p.Text}, nil
	case p.Data != nil:
		return model.Part{Image: &model.Image{MIME: p.Data.MIME, Data: p.Data.Data}}, nil
	case p.Call != nil:
		return model.Part{Call: &model.ToolCall{ID: p.Call.ID, Name: p.Call.Name, Arguments: p.Call.Args}}, nil
	case p.Result != nil:
		r := &model.ToolResult{CallID: p.Result.ID, Name: p.Result.Name, Content: p.Result.Response["output"]}
		if text, failed := p.Result.Response["error"]; failed {
			r.Content, r.IsError = text, true
		}
		return model.Part{Result: r}, nil
	}
	return model.Part{}, fmt.Errorf("an empty part: %+v", p)
}

func seeTools(s *modeltest.Seen, w seenRequest) error {
	for _, t := range w.Tools {
		for _, f := range t.Functions {
			s.Tools = append(s.Tools, model.Tool{Name: f.Name, Description: f.Description, Parameters: f.Parameters})
		}
	}
	if w.ToolConfig == nil {
		return nil
	}
	calling := w.ToolConfig.Calling
	if len(calling.Allowed) == 1 && calling.Mode == "ANY" {
		s.ToolChoice = calling.Allowed[0]
		return nil
	}
	choice := map[string]string{"AUTO": model.ToolChoiceAuto, "NONE": model.ToolChoiceNone, "ANY": model.ToolChoiceRequired}
	if s.ToolChoice = choice[calling.Mode]; s.ToolChoice == "" || len(calling.Allowed) > 0 {
		return fmt.Errorf("tool choice %+v", calling)
	}
	return nil
}

// writeWire writes a response as Google does, with all that the adapter ignores.
func writeWire(r modeltest.Reply) []byte { return mustJSON(reply(r, partsOf(r), true)) }

// reply is a document or a piece of a stream.
func reply(r modeltest.Reply, parts []any, last bool) map[string]any {
	candidate := map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": parts}}
	if len(parts) == 0 {
		candidate["content"] = map[string]any{"role": "model"}
	}
	doc := map[string]any{"candidates": []any{candidate}, "modelVersion": r.Model, "responseId": "r1"}
	if !last {
		return doc
	}
	candidate["finishReason"] = "STOP"
	candidate["safetyRatings"] = []any{map[string]any{"category": "HARM_CATEGORY_HARASSMENT", "probability": "NEGLIGIBLE"}}
	if reason := map[model.Finish]string{model.FinishLength: "MAX_TOKENS", model.FinishFilter: "SAFETY"}[r.Finish]; reason != "" {
		candidate["finishReason"] = reason
	}
	if !r.NoUsage {
		doc["usageMetadata"] = map[string]any{
			"promptTokenCount": r.Input, "candidatesTokenCount": r.Output - r.Reasoning, "thoughtsTokenCount": r.Reasoning,
			"cachedContentTokenCount": r.Cached, "totalTokenCount": r.Input + r.Output,
			"promptTokensDetails": []any{map[string]any{"modality": "TEXT", "tokenCount": r.Input}},
		}
	}
	return doc
}

func partsOf(r modeltest.Reply) []any {
	var parts []any
	if r.Trace != nil {
		parts = append(parts, map[string]any{"text": r.Trace.Text, "thought": true, "thoughtSignature": r.Trace.Opaque})
	}
	if r.Text != "" {
		parts = append(parts, map[string]any{"text": r.Text})
	}
	for _, c := range r.Calls {
		call := map[string]any{"id": c.ID, "name": c.Name}
		switch {
		case c.Arguments == nil:
		case json.Valid(c.Arguments):
			call["args"] = c.Arguments
		default: // cannot be, but as a text
			call["args"] = string(c.Arguments)
		}
		parts = append(parts, map[string]any{"functionCall": call})
	}
	return parts
}

// streamWire writes the same in pieces, long texts in several.
func streamWire(r modeltest.Reply) []string {
	var events []string
	write := func(parts []any, last bool) {
		events = append(events, "data: "+string(mustJSON(reply(r, parts, last)))+"\r\n\r\n")
	}
	for _, p := range partsOf(r) {
		fields := p.(map[string]any)
		text, _ := fields["text"].(string)
		for fields["thought"] == nil && len(text) > 40 {
			n := max(40, len(text)/3)
			for n < len(text) && text[n]&0xC0 == 0x80 { // not within a character
				n++
			}
			write([]any{map[string]any{"text": text[:n]}}, false)
			text = text[n:]
			fields["text"] = text
		}
		write([]any{fields}, false)
	}
	write(nil, true)
	return events
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func errorBody(code int, status, message string, details ...any) []byte {
	return mustJSON(map[string]any{"error": map[string]any{"code": code, "message": message, "status": status, "details": details}})
}

func streamFaults() []modeltest.StreamFault {
	fault := func(code int, status string, want model.Code) modeltest.StreamFault {
		return modeltest.StreamFault{Name: status, Want: want, Event: func(message string) string {
			return "data: " + string(errorBody(code, status, message)) + "\r\n\r\n"
		}}
	}
	return []modeltest.StreamFault{
		fault(503, "UNAVAILABLE", model.Overloaded),
		fault(500, "INTERNAL", model.Server),
		fault(429, "RESOURCE_EXHAUSTED", model.RateLimit),
		fault(504, "DEADLINE_EXCEEDED", model.Timeout),
		{Name: "blocked", Want: model.ContentFilter, Event: func(message string) string {
			return "data: " + string(mustJSON(map[string]any{"promptFeedback": map[string]any{"blockReason": "SAFETY", "blockReasonMessage": message}})) + "\n\n"
		}},
	}
}

// vendorFaults are errors as Google words them.
func vendorFaults() []modeltest.Fault {
	info := func(reason string) any {
		return map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com"}
	}
	retry := map[string]any{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.07s"}
	quota := map[string]any{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []any{map[string]any{"quotaMetric": "m"}}}
	daily := map[string]any{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []any{
		map[string]any{"quotaMetric": "m", "quotaId": "GenerateRequestsPerMinutePerProjectPerModel"},
		map[string]any{"quotaMetric": "m", "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"},
	}}
	body := func(code int, status, message string, details ...any) string {
		return string(errorBody(code, status, message, details...))
	}
	return []modeltest.Fault{
		{Name: "bad key", Status: 400, Want: model.Auth, Body: body(400, "INVALID_ARGUMENT", "it failed", info("API_KEY_INVALID"))},
		{Name: "bad key in words", Status: 400, Want: model.Auth, Body: body(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")},
		{Name: "no key", Status: 403, Want: model.Auth, Body: body(403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers")},
		{Name: "old token", Status: 401, Want: model.Auth, Body: body(401, "UNAUTHENTICATED", "no", info("ACCESS_TOKEN_EXPIRED"))},
		{Name: "api is off", Status: 403, Want: model.Auth, Body: body(403, "PERMISSION_DENIED", "it has not been used", info("SERVICE_DISABLED"))},
		{Name: "wrong country", Status: 400, Want: model.Auth, Body: body(400, "FAILED_PRECONDITION", "User location is not supported for the API use.")},
		{Name: "no model", Status: 404, Want: model.NotFound, Body: body(404, "NOT_FOUND", "models/gemini-9 is not found for API version v1beta")},
		{Name: "argument", Status: 400, Want: model.BadRequest, Body: body(400, "INVALID_ARGUMENT", "Unknown name \"x\"")},
		{Name: "precondition", Status: 400, Want: model.BadRequest, Body: body(400, "FAILED_PRECONDITION", "Precondition check failed.")},
		{Name: "context", Status: 400, Want: model.ContextLength, Body: body(400, "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048575).")},
		{Name: "payload", Status: 400, Want: model.ContextLength, Body: body(400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes.")},
		{Name: "quota", Status: 429, Want: model.RateLimit, Wait: 34070 * time.Millisecond, Body: body(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota", quota, retry)},
		{Name: "quota of the day", Status: 429, Want: model.Credit, Body: body(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota", daily, retry)},
		{Name: "the header counts first", Status: 429, Want: model.RateLimit, Wait: 2 * time.Second, Header: map[string]string{"Retry-After": "2"}, Body: body(429, "RESOURCE_EXHAUSTED", "quota", retry)},
		{Name: "no wait for what is permanent", Status: 404, Want: model.NotFound, Body: body(404, "NOT_FOUND", "no", retry)},
		{Name: "unreadable delay", Status: 429, Want: model.RateLimit, Body: body(429, "RESOURCE_EXHAUSTED", "quota", map[string]any{"retryDelay": "soon"})},
		{Name: "details of another kind", Status: 429, Want: model.RateLimit, Body: `{"error":{"status":"RESOURCE_EXHAUSTED","message":"m","details":"none"}}`},
		{Name: "overloaded", Status: 503, Want: model.Overloaded, Body: body(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")},
		{Name: "slow", Status: 504, Want: model.Timeout, Body: body(504, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete.")},
		{Name: "gateway timeout", Status: 504, Want: model.Server, Body: "upstream timed out"},
		{Name: "internal", Status: 500, Want: model.Server, Body: body(500, "INTERNAL", "An internal error has occurred.")},
		{Name: "cancelled", Status: 499, Want: model.Server, Body: body(499, "CANCELLED", "The operation was cancelled.")},
		{Name: "in a list", Status: 503, Want: model.Overloaded, Body: "[" + body(503, "UNAVAILABLE", "busy") + "]"},
		{Name: "blocked", Status: 200, Want: model.ContentFilter, Body: `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":5}}`},
		{Name: "malformed call", Status: 200, Want: model.Malformed, Body: `{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: x"}]}`},
		{Name: "unexpected call", Status: 200, Want: model.Malformed, Body: `{"candidates":[{"finishReason":"UNEXPECTED_TOOL_CALL"}]}`},
		{Name: "no reason that is told", Status: 200, Want: model.Server, Body: `{"candidates":[{"finishReason":"OTHER"}]}`},
		{Name: "good status, error inside", Status: 200, Want: model.Server, Body: `{"error":"the model crashed"}`},
	}
}
