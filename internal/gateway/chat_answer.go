package gateway

import (
	"encoding/json"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

func chatAnswer(q agentRequest, r reply) any {
	o := chatHead(q, r.head, "chat.completion")
	message := object{{"role", "assistant"}, {"content", nil}, {"refusal", nil}}
	for _, m := range chatMessage(r.resp) {
		message = message.with(m.name, m.value)
	}
	choice := object{{"index", 0}, {"message", message}, {"finish_reason", chatFinish(r.resp.Finish)}, {"logprobs", nil}}
	o = append(o, member{"choices", []object{choice}})
	return append(o, chatRest(r.resp)...)
}

func chatHead(q agentRequest, h head, kind string) object {
	return object{{"id", "chatcmpl-" + h.id}, {"object", kind}, {"created", h.at.Unix()}, {"model", q.asked}}
}

// chatRest returns what is at the end of an answer.
func chatRest(r model.Response) object {
	var o object
	if r.Fingerprint != "" {
		o = append(o, member{"system_fingerprint", r.Fingerprint})
	}
	if u := chatUsage(r.Usage); u != nil {
		o = append(o, member{"usage", u})
	}
	return o
}

func chatFinish(f model.Finish) string {
	switch f {
	case model.FinishLength:
		return "length"
	case model.FinishFilter:
		return "content_filter"
	case model.FinishTools:
		return "tool_calls"
	}
	return "stop"
}

// chatUsage returns the usage as the wire has it, nil when nothing was counted.
func chatUsage(u trajectory.Usage) object {
	if u == (trajectory.Usage{}) {
		return nil
	}
	return object{
		{"prompt_tokens", u.Input},
		{"completion_tokens", u.Output},
		{"total_tokens", u.Input + u.Output},
		{"prompt_tokens_details", object{{"cached_tokens", u.Cached}, {"cache_write_tokens", u.CacheWrite}}},
		{"completion_tokens_details", object{{"reasoning_tokens", u.Reasoning}}},
	}
}

// chatMessage holds what an answer says, without what is absent, in the order in
// which it is streamed. Calls have an index, which streams need and others pass
// over.
func chatMessage(r model.Response) object {
	var m object
	var said, thought string
	var details json.RawMessage
	var calls []object
	for _, p := range pieces(r) {
		switch {
		case p.Reasoning != nil:
			thought += p.Reasoning.Text
			if raw := p.Reasoning.Opaque; p.Reasoning.Provider == openAI && len(raw) > 0 && raw[0] == '[' {
				details = raw
			}
		case p.Call != nil:
			calls = append(calls, object{
				{"index", len(calls)},
				{"id", p.Call.ID},
				{"type", "function"},
				{"function", object{{"name", p.Call.Name}, {"arguments", string(p.Call.Arguments)}}},
			})
		default:
			said += p.Text
		}
	}
	if thought != "" {
		m = append(m, member{"reasoning_content", thought}) // as DeepSeek, vLLM and others name it
	}
	if details != nil {
		m = append(m, member{"reasoning_details", details}) // as OpenRouter names it, for the way back
	}
	switch {
	case r.Finish == model.FinishRefusal:
		m = append(m, member{"refusal", said})
	case said != "" || calls == nil:
		m = append(m, member{"content", said})
	}
	if calls != nil {
		m = append(m, member{"tool_calls", calls})
	}
	return m
}

// chatStream writes chat.completion.chunk events.
type chatStream struct {
	*events
	q      agentRequest
	head   head
	opened bool
}

func newChatStream(q agentRequest, h head, e *events) stream {
	return &chatStream{events: e, q: q, head: h}
}

func (s *chatStream) open() {
	if s.opened {
		return
	}
	s.opened = true
	s.chunk(object{{"role", "assistant"}, {"content", ""}}, nil)
}

func (s *chatStream) chunk(delta object, finish any) {
	o := chatHead(s.q, s.head, "chat.completion.chunk")
	choice := object{{"index", 0}, {"delta", delta}, {"finish_reason", finish}, {"logprobs", nil}}
	s.send("", append(o, member{"choices", []object{choice}}))
}

// ping writes a comment, which readers of events pass over.
func (s *chatStream) ping() {
	s.open()
	s.raw(": waiting\n\n")
}

func (s *chatStream) finish(r model.Response) {
	s.open()
	for _, m := range chatMessage(r) {
		if m.value != "" {
			s.chunk(object{m}, nil)
		}
	}
	s.chunk(object{}, chatFinish(r.Finish))
	if s.q.usage && r.Usage != (trajectory.Usage{}) {
		o := append(chatHead(s.q, s.head, "chat.completion.chunk"), member{"choices", []object{}})
		s.send("", append(o, chatRest(r)...))
	}
	s.raw("data: [DONE]\n\n")
}

func (s *chatStream) fail(f *fault) {
	_, v := refuseChat(f)
	s.send("", v)
}

// refuseChat returns the status and the body of a failure in OpenAI's form.
func refuseChat(f *fault) (int, any) {
	kind, code := openAIKind(f)
	return f.status(), object{{"error", object{{"message", f.formatMessage("maximum context length exceeded")}, {"type", kind}, {"code", code}, {"param", nil}}}}
}

// openAIKind returns the type and the code of a failure.
func openAIKind(f *fault) (kind, code string) {
	if f.large {
		return "invalid_request_error", "request_too_large"
	}
	switch f.code {
	case model.Auth:
		return "authentication_error", "invalid_api_key"
	case model.NotFound:
		return "invalid_request_error", "model_not_found"
	case model.BadRequest:
		return "invalid_request_error", "invalid_request"
	case model.ContextLength:
		return "invalid_request_error", "context_length_exceeded"
	case model.ContentFilter:
		return "invalid_request_error", "content_filter"
	case model.RateLimit:
		return "rate_limit_error", "rate_limit_exceeded"
	case model.Overloaded:
		return "server_error", "server_is_overloaded"
	case model.Timeout:
		return "server_error", "timeout"
	}
	if f.status() == statusStop {
		return "insufficient_quota", "insufficient_quota"
	}
	return "server_error", "server_error"
}
