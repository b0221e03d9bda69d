package gateway

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

func responsesAnswer(q agentRequest, r reply) any {
	return responsesDone(q, r.head, r.resp, responsesOutput(q, r))
}

// responsesHead returns a response before it has output.
func responsesHead(q agentRequest, h head, status string) object {
	return object{
		{"id", "resp_" + h.id},
		{"object", "response"},
		{"created_at", h.at.Unix()},
		{"model", q.asked},
		{"status", status},
		{"output", []any{}},
		{"error", nil},
		{"incomplete_details", nil},
		{"instructions", nil},
		{"metadata", object{}},
		{"parallel_tool_calls", true},
		{"tool_choice", "auto"},
		{"tools", []any{}},
		{"temperature", q.req.Temperature},
		{"top_p", q.req.TopP},
		{"store", false},
		{"usage", nil},
	}
}

func responsesDone(q agentRequest, h head, r model.Response, output []any) object {
	o := responsesHead(q, h, "completed").with("output", output)
	if u := responsesUsage(r.Usage); u != nil {
		o = o.with("usage", u)
	}
	switch r.Finish {
	case model.FinishLength:
		return o.with("status", "incomplete").with("incomplete_details", object{{"reason", "max_output_tokens"}})
	case model.FinishFilter:
		return o.with("status", "incomplete").with("incomplete_details", object{{"reason", "content_filter"}})
	}
	return o
}

// responsesUsage returns the usage as the wire has it, nil when nothing was counted.
func responsesUsage(u trajectory.Usage) object {
	if u == (trajectory.Usage{}) {
		return nil
	}
	return object{
		{"input_tokens", u.Input},
		{"output_tokens", u.Output},
		{"total_tokens", u.Input + u.Output},
		{"input_tokens_details", object{{"cached_tokens", u.Cached}, {"cache_write_tokens", u.CacheWrite}}},
		{"output_tokens_details", object{{"reasoning_tokens", u.Reasoning}}},
	}
}

// responsesOutput returns the items of an answer: an object each, or raw JSON of OpenAI's own
// reasoning.
func responsesOutput(q agentRequest, r reply) []any {
	output := []any{}
	for _, p := range pieces(r.resp) {
		n := strconv.Itoa(len(output))
		switch {
		case p.Reasoning != nil:
			output = append(output, responsesThought(p.Reasoning, "rs_"+r.id+"_"+n))
		case p.Call != nil:
			output = append(output, responsesCall(q, p.Call, r.id+"_"+n))
		default:
			output = append(output, object{
				{"type", "message"},
				{"id", "msg_" + r.id + "_" + n},
				{"role", "assistant"},
				{"status", "completed"},
				{"content", []object{responsesText(r.resp.Finish, p.Text)}},
			})
		}
	}
	return output
}

func responsesText(f model.Finish, s string) object {
	if f == model.FinishRefusal {
		return object{{"type", "refusal"}, {"refusal", s}}
	}
	return object{{"type", "output_text"}, {"text", s}, {"annotations", []any{}}, {"logprobs", []any{}}}
}

func responsesThought(r *model.Reasoning, id string) any {
	if item, ok := own(r, openAI, "reasoning"); ok {
		return item
	}
	summary := []object{}
	if r.Text != "" {
		summary = append(summary, object{{"type", "summary_text"}, {"text", r.Text}})
	}
	return object{{"type", "reasoning"}, {"id", id}, {"summary", summary}, {"encrypted_content", pack(*r)}}
}

func responsesCall(q agentRequest, c *model.ToolCall, id string) object {
	own, ok := q.tools[c.Name]
	if !ok {
		own.name = c.Name
	}
	item := object{{"type", "function_call"}, {"id", "fc_" + id}, {"call_id", c.ID}, {"name", own.name}, {"arguments", string(c.Arguments)}, {"status", "completed"}}
	switch own.kind {
	case customTool:
		item = object{{"type", "custom_tool_call"}, {"id", "ctc_" + id}, {"call_id", c.ID}, {"name", own.name}, {"input", unwrapInput(c.Arguments)}, {"status", "completed"}}
	case toolSearch:
		item = object{{"type", "tool_search_call"}, {"id", "tsc_" + id}, {"call_id", c.ID}, {"execution", "client"}, {"arguments", c.Arguments}, {"status", "completed"}}
	}
	if own.space != "" {
		return item.with("namespace", own.space)
	}
	return item
}

// responsesStream writes response.created ... response.completed.
type responsesStream struct {
	*events
	q      agentRequest
	head   head
	opened bool
	seq    int
}

func newResponsesStream(q agentRequest, h head, e *events) stream {
	return &responsesStream{events: e, q: q, head: h}
}

func (s *responsesStream) event(name string, v object) {
	s.send(name, append(object{{"type", name}, {"sequence_number", s.seq}}, v...))
	s.seq++
}

func (s *responsesStream) open() {
	if s.opened {
		return
	}
	s.opened = true
	head := encodeOnce(responsesHead(s.q, s.head, "in_progress"))
	s.event("response.created", object{{"response", head}})
	s.event("response.in_progress", object{{"response", head}})
}

// ping repeats an event: codex counts events, and comments are none.
func (s *responsesStream) ping() {
	if !s.opened {
		s.open()
		return
	}
	s.event("response.in_progress", object{{"response", responsesHead(s.q, s.head, "in_progress")}})
}

func (s *responsesStream) finish(r model.Response) {
	s.open()
	output := responsesOutput(s.q, reply{head: s.head, resp: r})
	for i, item := range output {
		output[i] = encodeOnce(item)
		s.item(i, item, output[i])
	}
	o := responsesDone(s.q, s.head, r, output)
	name := "response.completed"
	if o.get("status") == "incomplete" {
		name = "response.incomplete"
	}
	s.event(name, object{{"response", o}})
}

// item writes the events of an item, which is v at their beginning and whole at their end.
func (s *responsesStream) item(i int, v, whole any) {
	item, ok := v.(object)
	if !ok {
		s.thought(i, v)
		return
	}
	begun := item.with("status", "in_progress")
	at := func(more ...member) object {
		return append(object{{"item_id", item.get("id")}, {"output_index", i}}, more...)
	}
	switch item.get("type") {
	case "reasoning":
		s.thought(i, item)
		return
	case "function_call":
		arguments := item.get("arguments")
		s.event("response.output_item.added", object{{"output_index", i}, {"item", begun.with("arguments", "")}})
		s.event("response.function_call_arguments.delta", at(member{"delta", arguments}))
		s.event("response.function_call_arguments.done", at(member{"arguments", arguments}, member{"name", item.get("name")}))
	case "custom_tool_call":
		input := item.get("input")
		s.event("response.output_item.added", object{{"output_index", i}, {"item", begun.with("input", "")}})
		s.event("response.custom_tool_call_input.delta", at(member{"delta", input}))
		s.event("response.custom_tool_call_input.done", at(member{"input", input}))
	case "tool_search_call":
		s.event("response.output_item.added", object{{"output_index", i}, {"item", begun}})
	case "message":
		s.event("response.output_item.added", object{{"output_index", i}, {"item", begun.with("content", []any{})}})
		s.content(item, at)
	}
	s.event("response.output_item.done", object{{"output_index", i}, {"item", whole}})
}

// content writes the one part of a message.
func (s *responsesStream) content(item object, at func(...member) object) {
	list, _ := item.get("content").([]object)
	part := list[0]
	field, name := "text", "response.output_text"
	if part.get("type") == "refusal" {
		field, name = "refusal", "response.refusal"
	}
	index, none := member{"content_index", 0}, member{"logprobs", []any{}}
	s.event("response.content_part.added", at(index, member{"part", part.with(field, "")}))
	s.event(name+".delta", at(index, member{"delta", part.get(field)}, none))
	s.event(name+".done", at(index, member{field, part.get(field)}, none))
	s.event("response.content_part.done", at(index, member{"part", part}))
}

// thought writes an item of reasoning, with its readable part where there is one.
func (s *responsesStream) thought(i int, item any) {
	s.event("response.output_item.added", object{{"output_index", i}, {"item", item}})
	raw, err := json.Marshal(item)
	n, perr := parseJSON(raw)
	if err == nil && perr == nil {
		for k, part := range n.get("summary").each() {
			s.summary(i, k, n.get("id").text(), part.get("text").text())
		}
	}
	s.event("response.output_item.done", object{{"output_index", i}, {"item", item}})
}

func (s *responsesStream) summary(i, k int, id, words string) {
	at := func(name string, value any) object {
		return object{{"item_id", id}, {"output_index", i}, {"summary_index", k}, {name, value}}
	}
	s.event("response.reasoning_summary_part.added", at("part", object{{"type", "summary_text"}, {"text", ""}}))
	s.event("response.reasoning_summary_text.delta", at("delta", words))
	s.event("response.reasoning_summary_text.done", at("text", words))
	s.event("response.reasoning_summary_part.done", at("part", object{{"type", "summary_text"}, {"text", words}}))
}

func (s *responsesStream) fail(f *fault) {
	s.open()
	_, code := openAIKind(f)
	o := responsesHead(s.q, s.head, "failed").with("error", object{{"code", code}, {"message", f.formatMessage("the input exceeds the context window")}})
	s.event("response.failed", object{{"response", o}})
}

// refuseResponses returns the status and the body of a failure in OpenAI's form. Codex asks again on 402.
func refuseResponses(f *fault) (int, any) {
	status, v := refuseChat(f)
	if status == statusStop {
		status = http.StatusBadRequest
	}
	return status, v
}
