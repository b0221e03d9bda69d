package ollama

import (
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

var _ = flag.Bool("update", false, "rewrite the files of testdata")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func harness() modeltest.Harness {
	return modeltest.Harness{
		New: newForSuite, Read: readWire, Write: writeWire, Stream: streamWire,
		KeepAlive: `{"model":"","message":{"role":"assistant","content":""},"done":false}` + "\n",
		Refuse:    func(message string) []byte { return mustJSON(map[string]string{"error": message}) },
		Faults:    serverFaults(),
		StreamFaults: []modeltest.StreamFault{
			{Name: "error", Event: errorLine, Want: model.Server},
			{Name: "context", Event: func(m string) string { return errorLine("the prompt exceeds the context length; " + m) }, Want: model.ContextLength},
			{Name: "no model", Event: func(m string) string { return errorLine("model 'x' not found " + m) }, Want: model.NotFound},
		},
		Lacks: modeltest.Lacks{
			Refusal: true, Cached: true, Reasoning: true, Fingerprint: true, Opaque: true, CacheWrite: true, TextArguments: true,
		},
	}
}

func TestSuite(t *testing.T) { modeltest.Run(t, harness()) }

func TestAbilities(t *testing.T) {
	modeltest.Golden(t, filepath.Join("testdata", "abilities.json"), harness())
}

// newForSuite returns a client that knows its model: the suite counts requests,
// and the question about a model is not one of those it counts.
func newForSuite(t *testing.T, s modeltest.Settings) model.Client {
	for _, choice := range []string{"none", "required", "list"} {
		if strings.HasSuffix(t.Name(), "/tools/choice_"+choice) {
			t.Skip("the protocol has no choice of tools, see TestToolChoice")
		}
	}
	return newClient(t, Options{
		BaseURL: s.URL, APIKey: s.Key, Headers: s.Headers, Structured: s.Structured, MaxBody: s.MaxBody, Stream: s.Stream, Idle: s.Idle,
		Transport: knowing(131072, "vision", "tools", "thinking"),
	})
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

// shown is a transport that answers the question about a model itself.
type shown struct {
	*http.Transport
	answer string
}

func knowing(window int, can ...string) *shown {
	return &shown{&http.Transport{}, string(aboutModel(window, can...))}
}

func (s *shown) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Path, "/api/show") {
		return s.Transport.RoundTrip(r)
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(s.answer)), Request: r}, r.Context().Err()
}

// aboutModel is the answer of /api/show, with more in it than is used.
func aboutModel(window int, can ...string) []byte {
	doc := map[string]any{
		"modelfile": "FROM x", "parameters": "num_ctx 4096", "template": "{{ .Prompt }}",
		"details":    map[string]any{"family": "llama", "parameter_size": "8.0B"},
		"model_info": map[string]any{"general.architecture": "llama", "llama.context_length": window, "other.context_length": 7},
	}
	if can != nil {
		doc["capabilities"] = can
	}
	return mustJSON(doc)
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func errorLine(message string) string {
	return string(mustJSON(map[string]string{"error": message})) + "\n"
}

// seenRequest is a request as a server reads it, without the package's types.
type seenRequest struct {
	Model    string `json:"model"`
	Messages []struct {
		Role      string   `json:"role"`
		Content   *string  `json:"content"`
		Thinking  string   `json:"thinking"`
		Images    []string `json:"images"`
		ToolName  string   `json:"tool_name"`
		CallID    string   `json:"tool_call_id"`
		ToolCalls []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
	Tools []struct {
		Type     string     `json:"type"`
		Function model.Tool `json:"function"`
	} `json:"tools"`
	Format    json.RawMessage `json:"format"`
	Think     json.RawMessage `json:"think"`
	KeepAlive json.RawMessage `json:"keep_alive"`
	Stream    *bool           `json:"stream"`
	Truncate  *bool           `json:"truncate"`
	Shift     *bool           `json:"shift"`
	Options   struct {
		NumCtx      int      `json:"num_ctx"`
		NumPredict  int      `json:"num_predict"`
		Temperature *float64 `json:"temperature"`
		TopP        *float64 `json:"top_p"`
		Seed        *int64   `json:"seed"`
	} `json:"options"`
}

func parseRequest(r *http.Request, body []byte) (seenRequest, error) {
	var w seenRequest
	if r.Method != http.MethodPost || r.URL.Path != "/api/chat" {
		return w, fmt.Errorf("%s %s, want POST /api/chat", r.Method, r.URL.Path)
	}
	if got := r.Header.Get("Content-Type"); got != "application/json" {
		return w, fmt.Errorf("content type %q", got)
	}
	dec := json.NewDecoder(strings.NewReader(string(body)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&w); err != nil {
		return w, fmt.Errorf("decode %s: %w", body, err)
	}
	if w.Stream == nil || w.Truncate == nil || *w.Truncate || w.Shift == nil || *w.Shift || w.Options.NumCtx == 0 {
		return w, fmt.Errorf("stream, truncate, shift or num_ctx is not set: %s", body)
	}
	return w, nil
}

func readWire(r *http.Request, body []byte) (modeltest.Seen, error) {
	w, err := parseRequest(r, body)
	if err != nil {
		return modeltest.Seen{}, err
	}
	s := modeltest.Seen{
		Model: w.Model, Temperature: w.Options.Temperature, TopP: w.Options.TopP, MaxTokens: w.Options.NumPredict,
		Seed: w.Options.Seed, Schema: w.Format, Stream: *w.Stream,
	}
	if len(w.Think) > 0 && json.Unmarshal(w.Think, &s.Effort) != nil {
		return s, fmt.Errorf("think %s", w.Think)
	}
	s.Key, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	for _, t := range w.Tools {
		if t.Type != "function" {
			return s, fmt.Errorf("tool of type %q", t.Type)
		}
		s.Tools = append(s.Tools, t.Function)
	}
	s.Messages, err = w.conversation()
	return s, err
}

func (w seenRequest) conversation() ([]model.Message, error) {
	var all []model.Message
	for _, m := range w.Messages {
		if m.Content == nil {
			return nil, fmt.Errorf("a message of %s without content", m.Role)
		}
		if m.Role == model.ToolRole {
			result := model.ToolResult{CallID: m.CallID, Name: m.ToolName, Content: *m.Content}
			all = append(all, model.Message{Role: m.Role, Parts: []model.Part{{Result: &result}}})
			continue
		}
		var parts []model.Part
		if m.Thinking != "" {
			parts = append(parts, model.Part{Reasoning: &model.Reasoning{Text: m.Thinking}})
		}
		for _, text := range m.Images {
			data, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				return nil, err
			}
			parts = append(parts, model.Part{Image: &model.Image{MIME: http.DetectContentType(data), Data: data}})
		}
		if *m.Content != "" && len(parts)+len(m.ToolCalls) > 0 {
			parts = append(parts, model.Part{Text: *m.Content})
		}
		for _, c := range m.ToolCalls {
			parts = append(parts, model.Part{Call: &model.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments}})
		}
		message := model.Message{Role: m.Role, Parts: parts}
		if len(parts) == 0 {
			message.Content = *m.Content
		}
		all = append(all, message)
	}
	return all, nil
}

// writeWire writes a response as Ollama does, with all that the adapter ignores.
func writeWire(r modeltest.Reply) []byte {
	return mustJSON(last(r, message(r)))
}

// streamWire writes it as Ollama does in a stream: thoughts, pieces of the text,
// the calls, and an end without any of these.
func streamWire(r modeltest.Reply) []string {
	var lines []string
	add := func(message map[string]any) {
		lines = append(lines, string(mustJSON(map[string]any{"model": r.Model, "created_at": "2026-01-01T00:00:00Z", "message": message, "done": false}))+"\n")
	}
	if r.Trace != nil {
		for _, piece := range split(r.Trace.Text) {
			add(map[string]any{"role": "assistant", "content": "", "thinking": piece})
		}
	}
	for _, piece := range split(r.Text) {
		add(map[string]any{"role": "assistant", "content": piece})
	}
	if len(r.Calls) > 0 {
		add(map[string]any{"role": "assistant", "content": "", "tool_calls": message(r)["tool_calls"]})
	}
	return append(lines, string(mustJSON(last(r, map[string]any{"role": "assistant", "content": ""})))+"\n")
}

func split(text string) []string {
	var pieces []string
	runes := []rune(text)
	for at := 0; at < len(runes); at += 1000 {
		for _, part := range [][2]int{{at, min(at+7, len(runes))}, {min(at+7, len(runes)), min(at+1000, len(runes))}} {
			if part[0] < part[1] {
				pieces = append(pieces, string(runes[part[0]:part[1]]))
			}
		}
	}
	return pieces
}

func message(r modeltest.Reply) map[string]any {
	m := map[string]any{"role": "assistant", "content": r.Text}
	if r.Trace != nil {
		m["thinking"] = r.Trace.Text
	}
	var calls []any
	for _, c := range r.Calls {
		function := map[string]any{"index": len(calls), "name": c.Name}
		if c.Arguments != nil {
			function["arguments"] = c.Arguments
		}
		calls = append(calls, map[string]any{"id": c.ID, "function": function})
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	return m
}

func last(r modeltest.Reply, message map[string]any) map[string]any {
	reason := map[model.Finish]string{model.FinishLength: "length", model.FinishFilter: "content_filter"}[r.Finish]
	if reason == "" {
		reason = "stop"
	}
	doc := map[string]any{
		"model": r.Model, "created_at": "2026-01-01T00:00:00Z", "message": message, "done": true, "done_reason": reason,
		"total_duration": 5191566416, "load_duration": 2154458, "prompt_eval_duration": 383809000, "eval_duration": 4799921000,
	}
	if !r.NoUsage {
		doc["prompt_eval_count"], doc["eval_count"] = r.Input, r.Output
	}
	return doc
}

// serverFaults are errors as Ollama and what stands before it word them.
func serverFaults() []modeltest.Fault {
	body := func(m string) string { return string(mustJSON(map[string]string{"error": m})) }
	return []modeltest.Fault{
		{Name: "no model", Status: 404, Want: model.NotFound, Body: body(`model "qwen9" not found, try pulling it first`)},
		{Name: "prompt too long", Status: 400, Want: model.ContextLength, Body: body("the prompt is longer than the context length currently available to the model; shorten the prompt")},
		{Name: "input too long", Status: 400, Want: model.ContextLength, Body: body("the input length exceeds the context length")},
		{Name: "runner's context", Status: 500, Want: model.ContextLength, Body: body("the request exceeds the available context size")},
		{Name: "no tools", Status: 400, Want: model.BadRequest, Body: body("registry.ollama.ai/library/x does not support tools")},
		{Name: "no thinking", Status: 400, Want: model.BadRequest, Body: body(`"x" does not support thinking`)},
		{Name: "busy", Status: 503, Want: model.Overloaded, Body: body("server busy, please try again.  maximum pending requests exceeded")},
		{Name: "memory", Status: 500, Want: model.Server, Body: body("model requires more system memory (12.0 GiB) than is available (7.5 GiB)")},
		{Name: "runner died", Status: 500, Want: model.Server, Body: body("llama runner process has terminated: exit status 2")},
		{Name: "gateway", Status: 504, Want: model.Server, Body: "upstream timed out"},
		{Name: "object", Status: 401, Want: model.Auth, Body: `{"error":{"message":"unauthorized","type":"x"}}`},
	}
}

func TestTransport(t *testing.T) {
	t.Parallel()
	modeltest.TestTransport(t, func(t *testing.T, key string, stream bool, transport http.RoundTripper) model.Client {
		return newClient(t, Options{APIKey: key, Stream: stream, Transport: transport})
	})
}
