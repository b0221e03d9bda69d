package openai

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// chatWire is a request as a strict server reads it, without the package's own
// types.
type chatWire struct {
	Model           string            `json:"model"`
	Messages        []chatWireMessage `json:"messages"`
	Temperature     *float64          `json:"temperature"`
	TopP            *float64          `json:"top_p"`
	MaxTokens       int               `json:"max_tokens"`
	ReasoningEffort string            `json:"reasoning_effort"`
	Seed            *int64            `json:"seed"`
	ResponseFormat  *struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
	Tools []struct {
		Type     string     `json:"type"`
		Function model.Tool `json:"function"`
	} `json:"tools"`
	ToolChoice    json.RawMessage `json:"tool_choice"`
	Stream        bool            `json:"stream"`
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type chatWireMessage struct {
	Role             string          `json:"role"`
	Content          json.RawMessage `json:"content"`
	ReasoningContent string          `json:"reasoning_content"`
	ToolCallID       string          `json:"tool_call_id"`
	ToolCalls        []struct {
		Type     string `json:"type"`
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func decodeStrictly(body []byte, into any) error {
	dec := json.NewDecoder(strings.NewReader(string(body)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("decode %.500s: %w", body, err)
	}
	return nil
}

func checkRequest(r *http.Request, path string) error {
	if r.Method != http.MethodPost || r.URL.Path != path {
		return fmt.Errorf("%s %s, want POST %s", r.Method, r.URL.Path, path)
	}
	if got := r.Header.Get("Content-Type"); got != "application/json" {
		return fmt.Errorf("content type %q", got)
	}
	return nil
}

func readWire(r *http.Request, body []byte, path string) (modeltest.Seen, error) {
	var w chatWire
	if err := checkRequest(r, path); err != nil {
		return modeltest.Seen{}, err
	}
	if err := decodeStrictly(body, &w); err != nil {
		return modeltest.Seen{}, err
	}
	s := modeltest.Seen{
		Model: w.Model, Temperature: w.Temperature, TopP: w.TopP,
		MaxTokens: w.MaxTokens, Effort: w.ReasoningEffort, Seed: w.Seed, Stream: w.Stream,
	}
	if w.Stream != (w.StreamOptions != nil && w.StreamOptions.IncludeUsage) {
		return s, fmt.Errorf("stream %v, but counts are %v", w.Stream, w.StreamOptions)
	}
	s.Key, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if f := w.ResponseFormat; f != nil {
		if f.Type != "json_schema" || f.JSONSchema.Name == "" {
			return s, fmt.Errorf("response format %+v", f)
		}
		s.Schema = f.JSONSchema.Schema
	}
	for _, t := range w.Tools {
		if t.Type != "function" {
			return s, fmt.Errorf("tool of type %q", t.Type)
		}
		s.Tools = append(s.Tools, t.Function)
	}
	if s.ToolChoice = readChoice(w.ToolChoice); s.ToolChoice != "" && len(s.Tools) == 0 {
		return s, fmt.Errorf("a choice of tools %s without tools", w.ToolChoice)
	}
	for _, m := range w.Messages {
		msg, err := m.read()
		if err != nil {
			return s, err
		}
		s.Messages = append(s.Messages, msg)
	}
	return s, nil
}

// readChoice reads both APIs' forms.
func readChoice(raw json.RawMessage) string {
	var word string
	if json.Unmarshal(raw, &word) == nil {
		return word
	}
	var named struct {
		Name     string `json:"name"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	_ = json.Unmarshal(raw, &named) // absent is no choice
	return named.Name + named.Function.Name
}

func (m *chatWireMessage) read() (model.Message, error) {
	var text string
	isText := json.Unmarshal(m.Content, &text) == nil && string(m.Content) != "null"
	switch {
	case m.Role == "tool":
		return model.Message{Role: model.ToolRole, Parts: []model.Part{{Result: &model.ToolResult{CallID: m.ToolCallID, Content: text}}}}, nil
	case m.Role == "assistant" && (len(m.ToolCalls) > 0 || m.ReasoningContent != ""):
		return m.answer(text)
	case isText:
		return model.Message{Role: m.Role, Content: text}, nil
	}
	var parts []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		ImageURL struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if err := json.Unmarshal(m.Content, &parts); err != nil {
		return model.Message{}, fmt.Errorf("content %s: %w", m.Content, err)
	}
	msg := model.Message{Role: m.Role}
	for _, p := range parts {
		if p.Type == "text" {
			msg.Parts = append(msg.Parts, model.Part{Text: p.Text})
			continue
		}
		image, err := readDataURL(p.ImageURL.URL)
		if err != nil {
			return msg, err
		}
		msg.Parts = append(msg.Parts, model.Part{Image: image})
	}
	return msg, nil
}

func (m *chatWireMessage) answer(text string) (model.Message, error) {
	msg := model.Message{Role: model.Assistant}
	if m.ReasoningContent != "" {
		msg.Parts = append(msg.Parts, model.Part{Reasoning: &model.Reasoning{Text: m.ReasoningContent}})
	}
	msg.Parts = append(msg.Parts, model.Part{Text: text})
	for _, c := range m.ToolCalls {
		if c.Type != "function" {
			return msg, fmt.Errorf("call of type %q", c.Type)
		}
		msg.Parts = append(msg.Parts, model.Part{Call: &model.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: json.RawMessage(c.Function.Arguments)}})
	}
	return msg, nil
}

func readDataURL(url string) (*model.Image, error) {
	mime, data, ok := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
	b, err := base64.StdEncoding.DecodeString(data)
	if !ok || err != nil {
		return nil, fmt.Errorf("image %.60s: %w", url, err)
	}
	return &model.Image{MIME: mime, Data: b}, nil
}

func reasonOf(r modeltest.Reply) string {
	reason := map[model.Finish]string{model.FinishLength: "length", model.FinishFilter: "content_filter", model.FinishTools: "tool_calls"}[r.Finish]
	if reason == "" {
		reason = "stop"
	}
	return reason
}

func usageOf(r modeltest.Reply) map[string]any {
	return map[string]any{
		"prompt_tokens": r.Input, "completion_tokens": r.Output, "total_tokens": r.Input + r.Output,
		"prompt_tokens_details":     map[string]any{"cached_tokens": r.Cached, "cache_write_tokens": r.CacheWrite, "audio_tokens": 0},
		"completion_tokens_details": map[string]any{"reasoning_tokens": r.Reasoning},
	}
}

// writeWire writes a response as OpenAI does, with all that the adapter ignores.
func writeWire(r modeltest.Reply) []byte {
	message := map[string]any{"role": "assistant", "content": r.Text, "refusal": nil, "annotations": []any{}}
	if r.Refusal != "" {
		message["content"], message["refusal"] = nil, r.Refusal
	}
	if r.Trace != nil {
		message["reasoning_content"] = r.Trace.Text
	}
	var calls []any
	for _, c := range r.Calls {
		calls = append(calls, map[string]any{"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": string(c.Arguments)}})
	}
	if calls != nil {
		message["tool_calls"] = calls
		if r.Text == "" {
			message["content"] = nil
		}
	}
	doc := map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1700000000, "model": r.Model,
		"choices":            []any{map[string]any{"index": 0, "message": message, "logprobs": nil, "finish_reason": reasonOf(r)}},
		"service_tier":       "default",
		"system_fingerprint": r.Fingerprint,
	}
	if !r.NoUsage {
		doc["usage"] = usageOf(r)
	}
	return mustJSON(doc)
}

func event(v any) string { return "data: " + string(mustJSON(v)) + "\n\n" }

// writeChunks writes a response as the pieces of a stream.
func writeChunks(r modeltest.Reply) []string {
	chunk := func(choices []any, usage any) string {
		return event(map[string]any{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": r.Model, "system_fingerprint": r.Fingerprint,
			"choices": choices, "usage": usage,
		})
	}
	delta := func(d map[string]any, reason any) string {
		return chunk([]any{map[string]any{"index": 0, "delta": d, "finish_reason": reason, "logprobs": nil}}, nil)
	}
	events := []string{delta(map[string]any{"role": "assistant", "content": "", "refusal": nil}, nil)}
	if r.Trace != nil {
		for _, s := range halves(r.Trace.Text) {
			events = append(events, delta(map[string]any{"reasoning_content": s, "content": nil}, nil))
		}
	}
	for _, s := range halves(r.Text) {
		events = append(events, delta(map[string]any{"content": s}, nil))
	}
	for _, s := range halves(r.Refusal) {
		events = append(events, delta(map[string]any{"refusal": s}, nil))
	}
	for i, c := range r.Calls {
		piece := func(fields map[string]any) string {
			fields["index"] = i
			return delta(map[string]any{"tool_calls": []any{fields}}, nil)
		}
		events = append(events, piece(map[string]any{"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": ""}}))
		for _, s := range halves(string(c.Arguments)) {
			events = append(events, piece(map[string]any{"function": map[string]any{"arguments": s}}))
		}
	}
	events = append(events, delta(map[string]any{}, reasonOf(r)))
	last := "data: [DONE]\n\n"
	if !r.NoUsage {
		last = chunk([]any{}, usageOf(r)) + last
	}
	return append(events, last)
}

// halves cuts a text in two between characters; nothing has no halves.
func halves(s string) []string {
	if s == "" {
		return nil
	}
	n := len(s) / 2
	for n < len(s) && !utf8.RuneStart(s[n]) {
		n++
	}
	return []string{s[:n], s[n:]}
}

// streamFaults are errors within streams as various servers write them.
func streamFaults() []modeltest.StreamFault {
	inside := func(kind string, code any) func(string) string {
		return func(m string) string {
			return event(map[string]any{"error": map[string]any{"message": m, "type": kind, "code": code}})
		}
	}
	return []modeltest.StreamFault{
		{Name: "openai", Event: inside("server_error", nil), Want: model.Server},
		{Name: "rate limit", Event: inside("", 429), Want: model.RateLimit},
		{Name: "overloaded", Event: inside("overloaded_error", nil), Want: model.Overloaded},
		{Name: "context", Event: inside("invalid_request_error", "context_length_exceeded"), Want: model.ContextLength},
		{Name: "named event", Event: func(m string) string {
			return "event: error\ndata: " + string(mustJSON(map[string]any{"message": m, "code": 503})) + "\n\n"
		}, Want: model.Overloaded},
		{Name: "openrouter", Event: func(m string) string {
			return event(map[string]any{
				"error":   map[string]any{"message": m, "code": 502},
				"choices": []any{map[string]any{"index": 0, "delta": map[string]any{"content": ""}, "finish_reason": "error"}},
			})
		}, Want: model.Server},
	}
}

func decodeLoosely(body string, into any) error { return json.Unmarshal([]byte(body), into) }

// callReplies are seeds for fuzzing.
func callReplies() []modeltest.Reply {
	return []modeltest.Reply{
		{Text: "hello", Finish: model.FinishStop, Input: 3},
		{Refusal: "no", Finish: model.FinishRefusal},
		{
			Text: "t", Trace: &model.Reasoning{Text: "hm", Opaque: json.RawMessage(`"x"`)}, Finish: model.FinishTools,
			Calls: []model.ToolCall{{ID: "a", Name: "f", Arguments: json.RawMessage(`{"x":1}`)}, {ID: "b", Name: "g"}},
		},
	}
}
