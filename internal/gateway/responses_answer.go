package gateway

import (
	"encoding/json"
	"maps"
	"net/http"
	"strconv"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

func responsesAnswer(q question, r reply) any {
	return responsesDone(q, r.head, r.resp, responsesOutput(q, r))
}

// responsesHead is a response before it has output.
func responsesHead(q question, h head, status string) object {
	return object{
		"id": "resp_" + h.id, "object": "response", "created_at": h.at.Unix(), "model": q.asked, "status": status,
		"output": []any{}, "error": nil, "incomplete_details": nil, "instructions": nil, "metadata": object{},
		"parallel_tool_calls": true, "tool_choice": "auto", "tools": []any{}, "temperature": q.req.Temperature, "top_p": q.req.TopP,
		"store": false, "usage": nil,
	}
}

func responsesDone(q question, h head, r model.Response, output []any) object {
	o := responsesHead(q, h, "completed")
	o["output"] = output
	if u := responsesUsage(r.Usage); u != nil {
		o["usage"] = u
	}
	switch r.Finish {
	case model.FinishLength:
		o["status"], o["incomplete_details"] = "incomplete", object{"reason": "max_output_tokens"}
	case model.FinishFilter:
		o["status"], o["incomplete_details"] = "incomplete", object{"reason": "content_filter"}
	}
	return o
}

// responsesUsage is nil when nothing was counted.
func responsesUsage(u trajectory.Usage) object {
	if u == (trajectory.Usage{}) {
		return nil
	}
	return object{
		"input_tokens": u.Input, "output_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"input_tokens_details":  object{"cached_tokens": u.Cached, "cache_write_tokens": u.CacheWrite},
		"output_tokens_details": object{"reasoning_tokens": u.Reasoning},
	}
}

// responsesOutput are the items of an answer: an object each, or raw JSON of
// OpenAI's own reasoning.
func responsesOutput(q question, r reply) []any {
	output := []any{}
	for _, p := range pieces(r.resp) {
		n := strconv.Itoa(len(output))
		switch {
		case p.Reasoning != nil:
			output = append(output, responsesThought(p.Reasoning, "rs_"+r.id+"_"+n))
		case p.Call != nil:
			output = append(output, responsesCall(q, p.Call, "fc_"+r.id+"_"+n))
		default:
			output = append(output, object{
				"type": "message", "id": "msg_" + r.id + "_" + n, "role": "assistant", "status": "completed",
				"content": []object{responsesText(r.resp.Finish, p.Text)},
			})
		}
	}
	return output
}

func responsesText(f model.Finish, s string) object {
	if f == model.FinishRefusal {
		return object{"type": "refusal", "refusal": s}
	}
	return object{"type": "output_text", "text": s, "annotations": []any{}, "logprobs": []any{}}
}

func responsesThought(r *model.Reasoning, id string) any {
	if item, ok := own(r, openAI, "reasoning"); ok {
		return item
	}
	item := object{"type": "reasoning", "id": id, "summary": []object{}, "encrypted_content": pack(*r)}
	if r.Text != "" {
		item["summary"] = []object{{"type": "summary_text", "text": r.Text}}
	}
	return item
}

func responsesCall(q question, c *model.ToolCall, id string) object {
	item := object{"type": "function_call", "id": id, "call_id": c.ID, "name": c.Name, "arguments": string(c.Arguments), "status": "completed"}
	if spaced, ok := q.tools[c.Name]; ok {
		item["namespace"], item["name"] = spaced.space, spaced.name
	}
	return item
}

// responsesStream writes response.created ... response.completed.
type responsesStream struct {
	*events
	q      question
	head   head
	opened bool
	seq    int
}

func newResponsesStream(q question, h head, e *events) stream {
	return &responsesStream{events: e, q: q, head: h}
}

func (s *responsesStream) event(name string, v object) {
	v["type"], v["sequence_number"] = name, s.seq
	s.seq++
	s.send(name, v)
}

func (s *responsesStream) progress(name string) {
	s.event(name, object{"response": responsesHead(s.q, s.head, "in_progress")})
}

func (s *responsesStream) open() {
	if s.opened {
		return
	}
	s.opened = true
	s.progress("response.created")
	s.progress("response.in_progress")
}

// ping repeats an event: codex counts events, and comments are none.
func (s *responsesStream) ping() {
	if !s.opened {
		s.open()
		return
	}
	s.progress("response.in_progress")
}

func (s *responsesStream) finish(r model.Response) {
	s.open()
	output := responsesOutput(s.q, reply{head: s.head, resp: r})
	for i, item := range output {
		s.item(i, item)
	}
	o := responsesDone(s.q, s.head, r, output)
	name := "response.completed"
	if o["status"] == "incomplete" {
		name = "response.incomplete"
	}
	s.event(name, object{"response": o})
}

func (s *responsesStream) item(i int, v any) {
	item, ok := v.(object)
	if !ok {
		s.thought(i, v)
		return
	}
	begun := maps.Clone(item)
	begun["status"] = "in_progress"
	at := func(more object) object {
		more["item_id"], more["output_index"] = item["id"], i
		return more
	}
	switch item["type"] {
	case "reasoning":
		s.thought(i, item)
		return
	case "function_call":
		begun["arguments"] = ""
		s.event("response.output_item.added", object{"output_index": i, "item": begun})
		s.event("response.function_call_arguments.delta", at(object{"delta": item["arguments"]}))
		s.event("response.function_call_arguments.done", at(object{"arguments": item["arguments"], "name": item["name"]}))
	case "message":
		begun["content"] = []any{}
		s.event("response.output_item.added", object{"output_index": i, "item": begun})
		s.content(item, at)
	}
	s.event("response.output_item.done", object{"output_index": i, "item": item})
}

// content writes the one part of a message.
func (s *responsesStream) content(item object, at func(object) object) {
	list, _ := item["content"].([]object)
	part := list[0]
	field, name := "text", "response.output_text"
	if part["type"] == "refusal" {
		field, name = "refusal", "response.refusal"
	}
	empty := maps.Clone(part)
	empty[field] = ""
	in := func(more object) object {
		more["content_index"] = 0
		return at(more)
	}
	s.event("response.content_part.added", in(object{"part": empty}))
	s.event(name+".delta", in(object{"delta": part[field], "logprobs": []any{}}))
	s.event(name+".done", in(object{field: part[field], "logprobs": []any{}}))
	s.event("response.content_part.done", in(object{"part": part}))
}

// thought writes an item of reasoning, with its readable part where there is one.
func (s *responsesStream) thought(i int, item any) {
	s.event("response.output_item.added", object{"output_index": i, "item": item})
	raw, err := json.Marshal(item)
	n, perr := parseJSON(raw)
	if err == nil && perr == nil {
		for k, part := range n.get("summary").each() {
			s.summary(i, k, n.get("id").text(), part.get("text").text())
		}
	}
	s.event("response.output_item.done", object{"output_index": i, "item": item})
}

func (s *responsesStream) summary(i, k int, id, words string) {
	at := func(more object) object {
		more["item_id"], more["output_index"], more["summary_index"] = id, i, k
		return more
	}
	s.event("response.reasoning_summary_part.added", at(object{"part": object{"type": "summary_text", "text": ""}}))
	s.event("response.reasoning_summary_text.delta", at(object{"delta": words}))
	s.event("response.reasoning_summary_text.done", at(object{"text": words}))
	s.event("response.reasoning_summary_part.done", at(object{"part": object{"type": "summary_text", "text": words}}))
}

func (s *responsesStream) fail(f *fault) {
	s.open()
	o := responsesHead(s.q, s.head, "failed")
	_, code := openAIKind(f)
	o["error"] = object{"code": code, "message": f.worded("the input exceeds the context window")}
	s.event("response.failed", object{"response": o})
}

// refuseResponses is a failure in OpenAI's form. Codex asks again on 402.
func refuseResponses(f *fault) (int, any) {
	status, v := refuseChat(f)
	if status == statusStop {
		status = http.StatusBadRequest
	}
	return status, v
}
