package gateway

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// What codex offers to models that it knows by name: custom tools, tools in an item
// of the conversation and in namespaces, a search that it runs itself.
const codexBody = `{"model":"m","input":[
 {"type":"additional_tools","role":"developer","tools":[{"type":"namespace","name":"functions","tools":[
  {"type":"custom","name":"exec","description":"Runs code.","format":{"type":"grammar","syntax":"lark","definition":"start: x"}},
  {"type":"function","name":"wait","parameters":{"type":"object"}}]}]},
 {"type":"message","role":"user","content":"q"},
 {"type":"custom_tool_call","call_id":"1","namespace":"functions","name":"exec","input":"a \"b\"\n"},
 {"type":"custom_tool_call_output","call_id":"1","output":"done"},
 {"type":"tool_search_call","call_id":"2","execution":"client","arguments":{"query":"x"}},
 {"type":"tool_search_output","call_id":"2","tools":[{"type":"function","name":"found"}]},
 {"type":"unheard_of"}],
 "tools":[{"type":"custom","name":"apply_patch"},{"type":"tool_search","execution":"client","parameters":{"type":"object"}},{"type":"web_search"},{"type":"local_shell"}]}`

func TestToolsOfCodex(t *testing.T) {
	t.Parallel()
	q, err := decodeResponses(inbound{body: []byte(codexBody)})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range q.req.Tools {
		names = append(names, tool.Name)
		if !json.Valid(tool.Parameters) {
			t.Errorf("%s takes %s", tool.Name, tool.Parameters)
		}
	}
	if diff := cmp.Diff([]string{"apply_patch", "tool_search", "functions__exec", "functions__wait", "found"}, names); diff != "" {
		t.Error(diff)
	}
	if d := q.req.Tools[2].Description; !strings.Contains(d, "start: x") || !strings.Contains(d, "lark") {
		t.Errorf("the grammar is not told: %q", d)
	}
	want := []model.Message{
		{Role: model.User, Content: "q"},
		{Role: model.Assistant, Parts: one(call("1", "functions__exec", json.RawMessage(`{"input":"a \"b\"\n"}`)))},
		{Role: model.ToolRole, Parts: one(model.Part{Result: &model.ToolResult{CallID: "1", Name: "functions__exec", Content: "done"}})},
		{Role: model.Assistant, Parts: one(call("2", "tool_search", json.RawMessage(`{"query":"x"}`)))},
		{Role: model.ToolRole, Parts: one(model.Part{Result: &model.ToolResult{CallID: "2", Name: "tool_search", Content: `[{"type":"function","name":"found"}]`}})},
	}
	if diff := cmp.Diff(want, q.req.Messages); diff != "" {
		t.Error(diff)
	}
	left := []LeftOut{{Kind: trajectory.HostedTool, What: "tool web_search"}, {Kind: trajectory.ClientTool, What: "tool local_shell"}, {Kind: trajectory.Field, What: "item unheard_of"}}
	if diff := cmp.Diff(left, q.leftOut); diff != "" {
		t.Error(diff)
	}
}

// Calls go back as the items that the agent knows, whole and in a stream.
func TestCallsOfCodex(t *testing.T) {
	t.Parallel()
	q, err := decodeResponses(inbound{body: []byte(codexBody)})
	if err != nil {
		t.Fatal(err)
	}
	resp := model.Response{Finish: model.FinishTools, Parts: []model.Part{
		call("3", "functions__exec", json.RawMessage(`{"input":"<x>\n"}`)),
		call("4", "apply_patch", json.RawMessage(`{"patch":"p"}`)),
		call("5", "tool_search", json.RawMessage(`{"query":"y"}`)),
		call("6", "functions__wait", json.RawMessage(`{}`)),
	}}
	b, err := document(responsesOutput(q, reply{head: head{id: "i"}, resp: resp}))
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"type":"custom_tool_call","id":"ctc_i_0","call_id":"3","name":"exec","input":"<x>\n","status":"completed","namespace":"functions"},` +
		`{"type":"custom_tool_call","id":"ctc_i_1","call_id":"4","name":"apply_patch","input":"p","status":"completed"},` +
		`{"type":"tool_search_call","id":"tsc_i_2","call_id":"5","execution":"client","arguments":{"query":"y"},"status":"completed"},` +
		`{"type":"function_call","id":"fc_i_3","call_id":"6","name":"wait","arguments":"{}","status":"completed","namespace":"functions"}]`
	if diff := cmp.Diff(want, strings.TrimSpace(string(b))); diff != "" {
		t.Error(diff)
	}
	var e events
	newResponsesStream(q, head{id: "i"}, &e).finish(resp)
	for _, event := range []string{"custom_tool_call_input.delta", "custom_tool_call_input.done", `"type":"tool_search_call"`} {
		if !strings.Contains(e.buf.String(), event) {
			t.Errorf("the stream has no %s", event)
		}
	}
}
