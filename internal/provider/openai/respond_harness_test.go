package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// respondWire is a request to Responses as a strict server reads it.
type respondWire struct {
	Model           string                  `json:"model"`
	Instructions    string                  `json:"instructions"`
	Input           []respondWireItem       `json:"input"`
	Temperature     *float64                `json:"temperature"`
	TopP            *float64                `json:"top_p"`
	MaxOutputTokens int                     `json:"max_output_tokens"`
	Reasoning       struct{ Effort string } `json:"reasoning"`
	Text            *struct {
		Format struct {
			Type   string          `json:"type"`
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"text"`
	Tools []struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      *bool           `json:"strict"`
	} `json:"tools"`
	ToolChoice json.RawMessage `json:"tool_choice"`
	Include    []string        `json:"include"`
	Store      *bool           `json:"store"`
	Stream     bool            `json:"stream"`
}

type respondWireItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`
	ID        string          `json:"id"`
	Encrypted json.RawMessage `json:"encrypted_content"`
	Summary   []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"summary"`
}

func readRespondWire(r *http.Request, body []byte) (modeltest.Seen, error) {
	var w respondWire
	if err := checkRequest(r, "/v1/responses"); err != nil {
		return modeltest.Seen{}, err
	}
	if err := decodeStrictly(body, &w); err != nil {
		return modeltest.Seen{}, err
	}
	s := modeltest.Seen{
		Model: w.Model, Temperature: w.Temperature, TopP: w.TopP, MaxTokens: w.MaxOutputTokens,
		Effort: w.Reasoning.Effort, Stream: w.Stream, ToolChoice: readChoice(w.ToolChoice),
	}
	if w.Store == nil || *w.Store || len(w.Include) != 1 || w.Include[0] != "reasoning.encrypted_content" {
		return s, fmt.Errorf("store %v and include %v: nothing is to be kept at the server", w.Store, w.Include)
	}
	s.Key, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if w.Text != nil {
		if w.Text.Format.Type != "json_schema" || w.Text.Format.Name == "" {
			return s, fmt.Errorf("text format %+v", w.Text.Format)
		}
		s.Schema = w.Text.Format.Schema
	}
	for _, t := range w.Tools {
		if t.Type != "function" || t.Strict == nil || *t.Strict {
			return s, fmt.Errorf("tool %+v, want a function that is not strict", t)
		}
		s.Tools = append(s.Tools, model.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	if w.Instructions != "" {
		s.Messages = append(s.Messages, model.Message{Role: model.System, Content: w.Instructions})
	}
	for _, item := range w.Input {
		if err := item.add(&s); err != nil {
			return s, err
		}
	}
	return s, nil
}

// add appends an item to the conversation; what the model said in one turn is
// one message.
func (i *respondWireItem) add(s *modeltest.Seen) error {
	answer := func(p model.Part) {
		if last := len(s.Messages) - 1; last >= 0 && s.Messages[last].Role == model.Assistant && s.Messages[last].Parts != nil {
			s.Messages[last].Parts = append(s.Messages[last].Parts, p)
			return
		}
		s.Messages = append(s.Messages, model.Message{Role: model.Assistant, Parts: []model.Part{p}})
	}
	switch i.Type {
	case "":
		msg := model.Message{Role: i.Role}
		if json.Unmarshal(i.Content, &msg.Content) == nil {
			s.Messages = append(s.Messages, msg)
			return nil
		}
		parts, err := readInput(i.Content)
		msg.Content, msg.Parts = "", parts
		s.Messages = append(s.Messages, msg)
		return err
	case "function_call":
		answer(model.Part{Call: &model.ToolCall{ID: i.CallID, Name: i.Name, Arguments: json.RawMessage(i.Arguments)}})
		return nil
	case "reasoning":
		if len(i.Summary) != 1 || i.ID == "" {
			return fmt.Errorf("reasoning %+v", i)
		}
		answer(model.Part{Reasoning: &model.Reasoning{Text: i.Summary[0].Text, Opaque: i.Encrypted}})
		return nil
	case "function_call_output":
		return i.addResult(s)
	}
	return fmt.Errorf("item of type %q", i.Type)
}

func (i *respondWireItem) addResult(s *modeltest.Seen) error {
	r := &model.ToolResult{CallID: i.CallID}
	if json.Unmarshal(i.Output, &r.Content) != nil {
		parts, err := readInput(i.Output)
		if err != nil {
			return err
		}
		for _, p := range parts {
			r.Content += p.Text
			if p.Image != nil {
				r.Images = append(r.Images, *p.Image)
			}
		}
	}
	s.Messages = append(s.Messages, model.Message{Role: model.ToolRole, Parts: []model.Part{{Result: r}}})
	return nil
}

func readInput(raw json.RawMessage) ([]model.Part, error) {
	var list []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		ImageURL string `json:"image_url"`
	}
	if err := decodeStrictly(raw, &list); err != nil {
		return nil, err
	}
	var parts []model.Part
	for _, p := range list {
		switch p.Type {
		case "input_text":
			parts = append(parts, model.Part{Text: p.Text})
		case "input_image":
			image, err := readDataURL(p.ImageURL)
			if err != nil {
				return nil, err
			}
			parts = append(parts, model.Part{Image: image})
		default:
			return nil, fmt.Errorf("input of type %q", p.Type)
		}
	}
	return parts, nil
}

// respondOutput returns the items of an answer.
func respondOutput(r modeltest.Reply) []any {
	items := []any{}
	if r.Trace != nil {
		items = append(items, map[string]any{
			"type": "reasoning", "id": "rs_1", "encrypted_content": r.Trace.Opaque,
			"summary": []any{map[string]any{"type": "summary_text", "text": r.Trace.Text}},
		})
	}
	content := []any{map[string]any{"type": "output_text", "text": r.Text, "annotations": []any{}, "logprobs": []any{}}}
	if r.Refusal != "" {
		content = []any{map[string]any{"type": "refusal", "refusal": r.Refusal}}
	}
	if r.Text != "" || r.Refusal != "" || len(r.Calls) == 0 {
		items = append(items, map[string]any{"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": content})
	}
	for i, c := range r.Calls {
		items = append(items, map[string]any{
			"type": "function_call", "id": fmt.Sprint("fc_", i), "call_id": c.ID, "status": "completed",
			"name": c.Name, "arguments": string(c.Arguments),
		})
	}
	return items
}

func respondDoc(r modeltest.Reply) map[string]any {
	doc := map[string]any{
		"id": "resp_1", "object": "response", "created_at": 1700000000, "model": r.Model, "status": "completed",
		"error": nil, "incomplete_details": nil, "output": respondOutput(r), "store": false, "text": map[string]any{"format": map[string]any{"type": "text"}},
	}
	reason := map[model.Finish]string{model.FinishLength: "max_output_tokens", model.FinishFilter: "content_filter"}[r.Finish]
	if reason != "" {
		doc["status"], doc["incomplete_details"] = "incomplete", map[string]any{"reason": reason}
	}
	if !r.NoUsage {
		doc["usage"] = map[string]any{
			"input_tokens": r.Input, "output_tokens": r.Output, "total_tokens": r.Input + r.Output,
			"input_tokens_details":  map[string]any{"cached_tokens": r.Cached, "cache_write_tokens": r.CacheWrite},
			"output_tokens_details": map[string]any{"reasoning_tokens": r.Reasoning},
		}
	}
	return doc
}

func writeRespondWire(r modeltest.Reply) []byte { return mustJSON(respondDoc(r)) }

// writeRespondEvents writes a response as the events of a stream.
func writeRespondEvents(r modeltest.Reply) []string {
	var events []string
	add := func(kind string, fields map[string]any) {
		fields["type"], fields["sequence_number"] = kind, len(events)
		events = append(events, "event: "+kind+"\n"+event(fields))
	}
	begun := respondDoc(r)
	begun["status"], begun["output"], begun["usage"] = "in_progress", []any{}, nil
	add("response.created", map[string]any{"response": begun})
	for i, item := range respondOutput(r) {
		add("response.output_item.added", map[string]any{"output_index": i})
		for _, s := range halves(r.Text) {
			add("response.output_text.delta", map[string]any{"output_index": i, "delta": s})
		}
		add("response.output_item.done", map[string]any{"output_index": i, "item": item})
	}
	last := respondDoc(r)
	add("response."+last["status"].(string), map[string]any{"response": last})
	return events
}

func respondStreamFaults() []modeltest.StreamFault {
	failed := func(code string) func(string) string {
		return func(m string) string {
			return "event: response.failed\n" + event(map[string]any{"type": "response.failed", "response": map[string]any{
				"status": "failed", "output": []any{}, "error": map[string]any{"code": code, "message": m},
			}})
		}
	}
	return []modeltest.StreamFault{
		{Name: "failed", Event: failed("server_error"), Want: model.Server},
		{Name: "rate limit", Event: failed("rate_limit_exceeded"), Want: model.RateLimit},
		{Name: "policy", Event: failed("invalid_prompt"), Want: model.ContentFilter},
		{Name: "image", Event: failed("image_too_large"), Want: model.BadRequest},
		{Name: "error event", Event: func(m string) string {
			return "event: error\n" + event(map[string]any{"type": "error", "code": "rate_limit_exceeded", "message": m, "param": nil, "sequence_number": 3})
		}, Want: model.RateLimit},
		{Name: "error within an event", Event: func(m string) string {
			return "event: error\n" + event(map[string]any{"type": "error", "error": map[string]any{"type": "server_error", "code": "context_length_exceeded", "message": m}})
		}, Want: model.ContextLength},
	}
}
