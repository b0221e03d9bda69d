package gateway

import (
	"encoding/json"
	"slices"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

func messagesAnswer(q agentRequest, r reply) any {
	return messagesMessage(q, r.head, messagesContent(r.resp), messagesEnd(q, r.resp), r.resp.Usage)
}

// messagesMessage returns a message. end is messagesEnd of it, or messagesOpen until it has ended.
func messagesMessage(q agentRequest, h head, content []any, end object, u trajectory.Usage) object {
	o := object{
		{"id", "msg_" + h.id},
		{"type", "message"},
		{"role", "assistant"},
		{"model", q.asked},
		{"content", content},
	}
	return append(append(o, end...), member{"usage", messagesUsage(u)})
}

// messagesEnd says why an answer ended. A stop sequence is named if the agent asked
// for it, unless calls before it want their results.
func messagesEnd(q agentRequest, r model.Response) object {
	if r.StopSequence != "" && r.Finish == model.FinishStop && slices.Contains(q.stop, r.StopSequence) {
		return object{{"stop_reason", "stop_sequence"}, {"stop_sequence", r.StopSequence}}
	}
	return object{{"stop_reason", messagesStop(r.Finish)}, {"stop_sequence", nil}}
}

// messagesOpen returns the keys of messagesEnd for an answer that has no end yet.
func messagesOpen() object { return object{{"stop_reason", nil}, {"stop_sequence", nil}} }

func messagesStop(f model.Finish) string {
	switch f {
	case model.FinishLength:
		return "max_tokens"
	case model.FinishFilter, model.FinishRefusal:
		return "refusal"
	case model.FinishTools:
		return "tool_use"
	}
	return "end_turn"
}

// messagesUsage counts as Anthropic does: what was read from the cache or
// written to it is no part of input_tokens. The wire requires the counts, so
// that those which no one measured are 0 there.
func messagesUsage(u trajectory.Usage) object {
	return object{
		{"input_tokens", max(0, u.Input-u.Cached-u.CacheWrite)},
		{"cache_read_input_tokens", u.Cached},
		{"cache_creation_input_tokens", u.CacheWrite},
		{"output_tokens", u.Output},
	}
}

// messagesContent returns the blocks of an answer.
func messagesContent(r model.Response) []any {
	blocks := []any{}
	for _, p := range pieces(r) {
		switch {
		case p.Reasoning != nil:
			blocks = append(blocks, messagesThinking(p.Reasoning))
		case p.Call != nil:
			blocks = append(blocks, object{{"type", "tool_use"}, {"id", p.Call.ID}, {"name", p.Call.Name}, {"input", p.Call.Arguments}})
		case p.Text != "":
			blocks = append(blocks, object{{"type", "text"}, {"text", p.Text}})
		}
	}
	return blocks
}

// messagesThinking returns the block of Anthropic itself, unchanged, or one that carries the
// reasoning of another provider.
func messagesThinking(r *model.Reasoning) any {
	if block, ok := own(r, anthropic, "thinking", "redacted_thinking"); ok {
		return block
	}
	return object{{"type", "thinking"}, {"thinking", r.Text}, {"signature", pack(*r)}}
}

// messagesStream writes message_start ... message_stop.
type messagesStream struct {
	*events
	q      agentRequest
	head   head
	opened bool
}

func newMessagesStream(q agentRequest, h head, e *events) stream {
	return &messagesStream{events: e, q: q, head: h}
}

// open begins the message. Its counts are those that are known by then; the true
// ones come at the end in any case.
func (s *messagesStream) open(u trajectory.Usage) {
	if s.opened {
		return
	}
	s.opened = true
	s.event("message_start", object{{"message", messagesMessage(s.q, s.head, []any{}, messagesOpen(), u)}})
}

func (s *messagesStream) event(name string, v object) {
	s.send(name, append(object{{"type", name}}, v...))
}

func (s *messagesStream) ping() {
	s.open(trajectory.Usage{})
	s.event("ping", object{})
}

func (s *messagesStream) finish(r model.Response) {
	s.open(r.Usage)
	for i, b := range messagesContent(r) {
		s.block(i, b)
	}
	s.event("message_delta", object{
		{"delta", messagesEnd(s.q, r)},
		{"usage", messagesUsage(r.Usage)},
	})
	s.event("message_stop", object{})
}

// block writes one block: an empty one, what it holds, its end.
func (s *messagesStream) block(i int, b any) {
	empty, deltas := messagesDeltas(b)
	s.event("content_block_start", object{{"index", i}, {"content_block", empty}})
	for _, d := range deltas {
		s.event("content_block_delta", object{{"index", i}, {"delta", d}})
	}
	s.event("content_block_stop", object{{"index", i}})
}

func messagesDeltas(b any) (empty any, deltas []object) {
	if raw, ok := b.(json.RawMessage); ok {
		n, err := parseJSON(raw)
		if err != nil || n.get("type").text() != "thinking" {
			return b, nil // redacted thinking comes whole
		}
		b = object{{"type", "thinking"}, {"thinking", n.get("thinking").text()}, {"signature", n.get("signature").text()}}
	}
	block, _ := b.(object)
	switch block.get("type") {
	case "text":
		return object{{"type", "text"}, {"text", ""}}, []object{{{"type", "text_delta"}, {"text", block.get("text")}}}
	case "thinking":
		return object{{"type", "thinking"}, {"thinking", ""}, {"signature", ""}}, []object{
			{{"type", "thinking_delta"}, {"thinking", block.get("thinking")}}, {{"type", "signature_delta"}, {"signature", block.get("signature")}},
		}
	}
	input, _ := block.get("input").(json.RawMessage)
	return object{{"type", "tool_use"}, {"id", block.get("id")}, {"name", block.get("name")}, {"input", object{}}},
		[]object{{{"type", "input_json_delta"}, {"partial_json", string(input)}}}
}

func (s *messagesStream) fail(f *fault) {
	_, v := refuseMessages(f)
	s.send("error", v)
}

// refuseMessages returns the status and the body of a failure in Anthropic's form.
func refuseMessages(f *fault) (int, any) {
	status, kind := f.status(), "api_error"
	switch f.code {
	case model.Auth:
		kind = "authentication_error"
	case model.NotFound:
		kind = "not_found_error"
	case model.BadRequest, model.ContextLength, model.ContentFilter:
		kind = "invalid_request_error"
	case model.RateLimit:
		kind = "rate_limit_error"
	case model.Overloaded:
		status, kind = 529, "overloaded_error"
	case model.Timeout:
		kind = "timeout_error"
	}
	switch {
	case f.large:
		kind = "request_too_large"
	case status == statusStop:
		kind = "billing_error"
	}
	return status, object{{"type", "error"}, {"error", object{{"type", kind}, {"message", f.formatMessage("prompt is too long")}}}}
}
