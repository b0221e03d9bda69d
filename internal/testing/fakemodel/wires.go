package fakemodel

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

type obj = map[string]any

func encoded(args obj) string {
	data, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// wire is one protocol: how a request says that a tool came back, and how it is answered.
type wire interface {
	result() string // what a request with the result of a call holds
	write(w http.ResponseWriter, r *http.Request, a Reply)
}

func wireOf(path string) wire {
	switch {
	case strings.HasSuffix(path, "/v1/chat/completions"):
		return chatWire{}
	case strings.HasSuffix(path, "/v1/responses"):
		return responsesWire{}
	case strings.HasSuffix(path, "/v1/messages"):
		return messagesWire{}
	case strings.Contains(path, "/models/") && strings.Contains(path, "enerateContent"):
		return geminiWire{}
	}
	return nil
}

func refuse(w http.ResponseWriter, status int, text string, by wire) {
	e := obj{"message": text, "type": "invalid_request_error", "code": "invalid_api_key"}
	if status == http.StatusTooManyRequests {
		e["code"] = "rate_limit_exceeded"
	}
	if status == http.StatusBadRequest {
		e["code"] = "context_length_exceeded"
	}
	if status == http.StatusInternalServerError {
		e["type"], e["code"] = "server_error", "server_error"
	}
	body := obj{"error": e}
	switch by.(type) {
	case messagesWire:
		e["type"] = map[int]string{401: "authentication_error", 429: "rate_limit_error", 500: "api_error", 400: "invalid_request_error"}[status]
		body["type"] = "error"
	case geminiWire:
		e["code"] = status
		e["status"] = map[int]string{401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 400: "INVALID_ARGUMENT"}[status]
	}
	send(w, status, body)
}

func send(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have gone
}

// offered are the names of the tools in a request of any protocol.
func offered(body obj) []string {
	names := map[string]bool{}
	list, _ := body["tools"].([]any)
	for _, item := range list {
		tool, _ := item.(obj)
		if inner, ok := tool["function"].(obj); ok {
			tool = inner
		}
		declared, _ := tool["functionDeclarations"].([]any)
		for _, d := range append(declared, tool) {
			if d, ok := d.(obj); ok && d["name"] != nil {
				names[fmt.Sprint(d["name"])] = true
			} else if ok && d["type"] != nil {
				names[fmt.Sprint(d["type"])] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// sse writes server-sent events.
type sse struct {
	w http.ResponseWriter
	n int
}

func newSSE(w http.ResponseWriter) *sse {
	w.Header().Set("Content-Type", "text/event-stream")
	return &sse{w: w}
}

func (s *sse) event(name string, v obj) {
	if name != "" {
		v["type"] = name
		fmt.Fprintf(s.w, "event: %s\n", name)
	}
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(s.w, "data: %s\n\n", data)
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

type chatWire struct{}

func (chatWire) result() string { return `"role":"tool"` }

func (chatWire) write(w http.ResponseWriter, _ *http.Request, a Reply) {
	usage := obj{
		"prompt_tokens": a.usage.Input, "completion_tokens": a.usage.Output, "total_tokens": a.usage.Input + a.usage.Output,
		"prompt_tokens_details": obj{"cached_tokens": a.usage.Cached}, "completion_tokens_details": obj{"reasoning_tokens": a.usage.Reasoning},
	}
	finish := "stop"
	message := obj{"role": "assistant", "content": a.Text}
	if len(a.Calls) > 0 {
		finish = "tool_calls"
		var calls []obj
		for i, c := range a.Calls {
			calls = append(calls, obj{"index": i, "id": fmt.Sprintf("call_%d_%d", a.n, i), "type": "function", "function": obj{"name": c.Tool, "arguments": encoded(c.Args)}})
		}
		message["tool_calls"] = calls
	}
	if a.Think != "" {
		message["reasoning_content"] = a.Think
	}
	base := obj{"id": fmt.Sprintf("chatcmpl-%d", a.n), "created": 1, "model": a.model, "object": "chat.completion"}
	if !a.stream {
		base["choices"], base["usage"] = []obj{{"index": 0, "message": message, "finish_reason": finish}}, usage
		send(w, http.StatusOK, base)
		return
	}
	s := newSSE(w)
	base["object"] = "chat.completion.chunk"
	base["choices"] = []obj{{"index": 0, "delta": message, "finish_reason": nil}}
	s.event("", base)
	base["choices"] = []obj{{"index": 0, "delta": obj{}, "finish_reason": finish}}
	s.event("", base)
	base["choices"], base["usage"] = []obj{}, usage
	s.event("", base)
	fmt.Fprint(w, "data: [DONE]\n\n")
}

type responsesWire struct{}

func (responsesWire) result() string { return `_call_output"` }

func (responsesWire) write(w http.ResponseWriter, _ *http.Request, a Reply) {
	usage := obj{
		"input_tokens": a.usage.Input, "output_tokens": a.usage.Output, "total_tokens": a.usage.Input + a.usage.Output,
		"input_tokens_details": obj{"cached_tokens": a.usage.Cached}, "output_tokens_details": obj{"reasoning_tokens": a.usage.Reasoning},
	}
	text := obj{"type": "output_text", "text": a.Text, "annotations": []any{}}
	output := []obj{{"type": "message", "id": fmt.Sprintf("msg_%d", a.n), "role": "assistant", "status": "completed", "content": []obj{text}}}
	if a.Think != "" {
		output = []obj{{"type": "reasoning", "id": fmt.Sprintf("rs_%d", a.n), "summary": []obj{{"type": "summary_text", "text": a.Think}}}}
	}
	for i, c := range a.Calls {
		output = append(output, obj{"type": "function_call", "id": fmt.Sprintf("fc_%d_%d", a.n, i), "call_id": fmt.Sprintf("call_%d_%d", a.n, i), "name": c.Tool, "arguments": encoded(c.Args), "status": "completed"})
	}
	resp := obj{"id": fmt.Sprintf("resp_%d", a.n), "object": "response", "created_at": 1, "model": a.model, "status": "in_progress", "output": []obj{}}
	done := maps.Clone(resp)
	done["status"], done["output"], done["usage"] = "completed", output, usage
	if !a.stream {
		send(w, http.StatusOK, done)
		return
	}
	s := newSSE(w)
	event := func(name string, v obj) {
		v["sequence_number"] = s.n
		s.n++
		s.event(name, v)
	}
	event("response.created", obj{"response": resp})
	for i, item := range output {
		event("response.output_item.added", obj{"output_index": i, "item": item})
		event("response.output_item.done", obj{"output_index": i, "item": item})
	}
	event("response.completed", obj{"response": done})
}

type messagesWire struct{}

func (messagesWire) result() string { return `"type":"tool_result"` }

func (messagesWire) write(w http.ResponseWriter, _ *http.Request, a Reply) {
	usage := obj{
		"input_tokens": a.usage.Input - a.usage.Cached, "cache_read_input_tokens": a.usage.Cached, "cache_creation_input_tokens": 0,
		"output_tokens": a.usage.Output,
	}
	blocks, stop := []obj{{"type": "text", "text": a.Text}}, "end_turn"
	if a.Think != "" {
		blocks = []obj{{"type": "thinking", "thinking": a.Think, "signature": "c2lnbmVk"}}
	}
	for i, c := range a.Calls {
		stop = "tool_use"
		blocks = append(blocks, obj{"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", a.n, i), "name": c.Tool, "input": c.Args})
	}
	message := obj{"id": fmt.Sprintf("msg_%d", a.n), "type": "message", "role": "assistant", "model": a.model, "content": blocks, "stop_reason": stop, "stop_sequence": nil, "usage": usage}
	if !a.stream {
		send(w, http.StatusOK, message)
		return
	}
	s := newSSE(w)
	message["content"], message["stop_reason"] = []any{}, nil
	s.event("message_start", obj{"message": message})
	for i, b := range blocks {
		start, delta := obj{"type": "text", "text": ""}, obj{"type": "text_delta", "text": a.Text}
		if b["type"] == "tool_use" {
			start = obj{"type": "tool_use", "id": b["id"], "name": b["name"], "input": obj{}}
			input, _ := b["input"].(obj)
			delta = obj{"type": "input_json_delta", "partial_json": encoded(input)}
		}
		if b["type"] == "thinking" {
			start, delta = obj{"type": "thinking", "thinking": "", "signature": ""}, obj{"type": "thinking_delta", "thinking": a.Think}
		}
		s.event("content_block_start", obj{"index": i, "content_block": start})
		s.event("content_block_delta", obj{"index": i, "delta": delta})
		if b["type"] == "thinking" {
			s.event("content_block_delta", obj{"index": i, "delta": obj{"type": "signature_delta", "signature": b["signature"]}})
		}
		s.event("content_block_stop", obj{"index": i})
	}
	s.event("message_delta", obj{"delta": obj{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
	s.event("message_stop", obj{})
}

type geminiWire struct{}

func (geminiWire) result() string { return `"functionResponse"` }

func (geminiWire) write(w http.ResponseWriter, r *http.Request, a Reply) {
	parts := []obj{{"text": a.Text}}
	if a.Think != "" {
		parts = []obj{{"text": a.Think, "thought": true}}
	}
	for _, c := range a.Calls {
		parts = append(parts, obj{"functionCall": obj{"name": c.Tool, "args": c.Args}})
	}
	answer := obj{
		"candidates": []obj{{"index": 0, "content": obj{"role": "model", "parts": parts}, "finishReason": "STOP"}},
		"usageMetadata": obj{
			"promptTokenCount": a.usage.Input, "cachedContentTokenCount": a.usage.Cached, "candidatesTokenCount": a.usage.Output - a.usage.Reasoning,
			"thoughtsTokenCount": a.usage.Reasoning, "totalTokenCount": a.usage.Input + a.usage.Output,
		},
		"modelVersion": "fake", "responseId": fmt.Sprintf("resp_%d", a.n),
	}
	if !strings.Contains(r.URL.Path, "stream") {
		send(w, http.StatusOK, answer)
		return
	}
	newSSE(w).event("", answer)
}
