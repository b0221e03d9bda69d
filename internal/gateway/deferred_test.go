package gateway

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An agent that loads tools when it needs them tells a model of another vendor which it has
// loaded, and offers it those alone.
func TestLoadedToolsAreNamed(t *testing.T) {
	t.Parallel()
	tool := func(name string, deferred bool) object {
		return object{{"name", name}, {"input_schema", object{{"type", "object"}}}, {"defer_loading", deferred}}
	}
	offered := []object{tool("ToolSearch", false), tool("WebFetch", true), tool("NotebookEdit", true), tool("Monitor", true), tool("DeferredToolPlaceholder", true)}
	found := []object{{{"type", "tool_reference"}, {"tool_name", "WebFetch"}}, {{"type", "tool_reference"}, {"tool_name", "Monitor"}}}
	messages := []object{
		{{"role", "user"}, {"content", "go"}},
		{{"role", "assistant"}, {"content", []object{{{"type", "tool_use"}, {"id", "c"}, {"name", "ToolSearch"}, {"input", object{}}}}}},
		{{"role", "user"}, {"content", []object{{{"type", "tool_result"}, {"tool_use_id", "c"}, {"content", found}}}}},
	}
	hosted := append([]object{{{"type", "tool_search_tool_regex_20251119"}, {"name", "search"}}}, offered...)
	for name, tt := range map[string]struct {
		tools, messages []object
		result          string
		want            []string
	}{
		"before":           {offered, messages[:1], "", []string{"ToolSearch"}},
		"loaded":           {offered, messages, "loaded: WebFetch, Monitor", []string{"ToolSearch", "WebFetch", "Monitor"}},
		"server's search":  {hosted, messages[:1], "", []string{"ToolSearch", "WebFetch", "NotebookEdit", "Monitor", "DeferredToolPlaceholder"}},
		"result of failed": {offered, append(messages[:2:2], object{{"role", "user"}, {"content", []object{{{"type", "tool_result"}, {"tool_use_id", "c"}, {"content", "none"}}}}}), "none", []string{"ToolSearch"}},
	} {
		body, err := document(object{{"model", "m"}, {"tools", tt.tools}, {"messages", tt.messages}})
		if err != nil {
			t.Fatal(err)
		}
		q, err := decodeMessages(inbound{body: body})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, one := range q.req.Tools {
			got = append(got, one.Name)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: tools (-want +got):\n%s", name, diff)
		}
		last := q.req.Messages[len(q.req.Messages)-1]
		if tt.result != "" && (len(last.Parts) != 1 || last.Parts[0].Result == nil || last.Parts[0].Result.Content != tt.result) {
			t.Errorf("%s: the last message is %+v, want the result %q", name, last, tt.result)
		}
	}
}
