package gateway

import (
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

func chatAnswer(q question, r reply) any {
	o := chatHead(q, r.head, "chat.completion")
	message := chatMessage(r.resp)
	message["role"] = "assistant"
	if _, ok := message["content"]; !ok {
		message["content"] = nil
	}
	if _, ok := message["refusal"]; !ok {
		message["refusal"] = nil
	}
	o["choices"] = []object{{"index": 0, "message": message, "finish_reason": chatFinish(r.resp.Finish), "logprobs": nil}}
	chatRest(o, r.resp)
	if u := chatUsage(r.resp.Usage); u != nil {
		o["usage"] = u
	}
	return o
}

func chatHead(q question, h head, kind string) object {
	return object{"id": "chatcmpl-" + h.id, "object": kind, "created": h.at.Unix(), "model": q.asked}
}

func chatRest(o object, r model.Response) {
	if r.Fingerprint != "" {
		o["system_fingerprint"] = r.Fingerprint
	}
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

// chatUsage is nil when nothing was counted.
func chatUsage(u trajectory.Usage) object {
	if u == (trajectory.Usage{}) {
		return nil
	}
	return object{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details":     object{"cached_tokens": u.Cached, "cache_write_tokens": u.CacheWrite},
		"completion_tokens_details": object{"reasoning_tokens": u.Reasoning},
	}
}

// chatMessage holds what an answer says, without what is absent. Calls have an
// index, which streams need and others pass over.
func chatMessage(r model.Response) object {
	m := object{}
	var said, thought string
	var calls []object
	for _, p := range pieces(r) {
		switch {
		case p.Reasoning != nil:
			thought += p.Reasoning.Text
			if raw := p.Reasoning.Opaque; p.Reasoning.Provider == openAI && len(raw) > 0 && raw[0] == '[' {
				m["reasoning_details"] = raw // as OpenRouter names it, for the way back
			}
		case p.Call != nil:
			calls = append(calls, object{
				"index": len(calls), "id": p.Call.ID, "type": "function",
				"function": object{"name": p.Call.Name, "arguments": string(p.Call.Arguments)},
			})
		default:
			said += p.Text
		}
	}
	if thought != "" {
		m["reasoning_content"] = thought // as DeepSeek, vLLM and others name it
	}
	switch {
	case r.Finish == model.FinishRefusal:
		m["refusal"] = said
	case said != "" || calls == nil:
		m["content"] = said
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	return m
}

// chatStream writes chat.completion.chunk events.
type chatStream struct {
	*events
	q      question
	head   head
	opened bool
}

func newChatStream(q question, h head, e *events) stream {
	return &chatStream{events: e, q: q, head: h}
}

func (s *chatStream) open() {
	if s.opened {
		return
	}
	s.opened = true
	s.chunk(object{"role": "assistant", "content": ""}, nil)
}

func (s *chatStream) chunk(delta object, finish any) {
	o := chatHead(s.q, s.head, "chat.completion.chunk")
	o["choices"] = []object{{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": nil}}
	s.send("", o)
}

// ping is a comment, which readers of events pass over.
func (s *chatStream) ping() {
	s.open()
	s.raw(": waiting\n\n")
}

func (s *chatStream) finish(r model.Response) {
	s.open()
	m := chatMessage(r)
	for _, name := range []string{"reasoning_content", "reasoning_details", "content", "refusal", "tool_calls"} {
		if v, ok := m[name]; ok && v != "" {
			s.chunk(object{name: v}, nil)
		}
	}
	s.chunk(object{}, chatFinish(r.Finish))
	if u := chatUsage(r.Usage); u != nil && s.q.usage {
		o := chatHead(s.q, s.head, "chat.completion.chunk")
		o["choices"], o["usage"] = []object{}, u
		chatRest(o, r)
		s.send("", o)
	}
	s.raw("data: [DONE]\n\n")
}

func (s *chatStream) fail(f *fault) {
	_, v := refuseChat(f)
	s.send("", v)
}

// refuseChat is a failure in OpenAI's form.
func refuseChat(f *fault) (int, any) {
	kind, code := openAIKind(f)
	return f.status(), object{"error": object{"message": f.worded("maximum context length exceeded"), "type": kind, "code": code, "param": nil}}
}

// openAIKind returns the type and the code of a failure.
func openAIKind(f *fault) (kind, code string) {
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
