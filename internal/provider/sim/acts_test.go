package sim

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
)

const actsFile = `
name: harbour
seed: 1
reply: "<answer>{{answer}}</answer>"
leaves: "printf %s {{answer}} > out.txt"
kinds:
  - type: sum
    match: 'Receipts of (?P<port>\w+)'
    acts: [{tool: grep, arguments: {pattern: "{{port}}:", path: ports.txt}, shell: "grep {{port}}: ports.txt"}]
    find: {rows: '\w+: (?P<n>\d+)'}
    answer: sum(rows.n)
rules:
  - id: crowns
    task_types: [sum]
    states: [crowns]
    say: [Give the currency in crowns.]
    transform: {kind: suffix, text: ' crowns'}
`

// TestActsComeFirst checks that a target that acts answers from what its actions gave, with tools and with a shell.
func TestActsComeFirst(t *testing.T) {
	w, err := Parse("w.yaml", []byte(actsFile))
	if err != nil {
		t.Fatal(err)
	}
	tool := func(name string) model.Tool {
		return model.Tool{Name: name, Parameters: json.RawMessage(`{"type": "object", "properties": {"command": {}, "pattern": {}}}`)}
	}
	const rules = "Give the currency in crowns."
	for _, c := range []struct {
		name, tool string
		results    []string
		call, text string // what the target calls or says
	}{
		{name: "first", tool: "grep", call: `{"path":"ports.txt","pattern":"Ostend:"}`},
		{name: "then the answer", tool: "grep", results: []string{"Ostend: 4\nOstend: 5"}, text: "<answer>9 crowns</answer>"},
		{name: "nothing found", tool: "grep", results: []string{"[no matches]"}, text: "<answer>0 crowns</answer>"},
		{name: "shell, the skill", tool: "bash", call: `{"command":"` + readSkills[:10]},
		{name: "shell, the act", tool: "bash", results: []string{rules}, call: `{"command":"grep Ostend: ports.txt"}`},
		{name: "shell, left", tool: "bash", results: []string{rules, "Ostend: 4"}, call: `{"command":"printf %s '4 crowns' \u003e out.txt"}`},
		{name: "shell, said", tool: "bash", results: []string{rules, "Ostend: 4", ""}, text: "<answer>4 crowns</answer>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			messages := []model.Message{{Role: model.System, Content: rules}, {Role: model.User, Content: "Receipts of Ostend?\n\nFiles: ports.txt"}}
			if c.tool == "bash" {
				messages[0].Content = "You are an agent."
			}
			for _, r := range c.results {
				messages = append(messages, model.Message{Role: model.ToolRole, Parts: []model.Part{{Result: &model.ToolResult{Content: r}}}})
			}
			resp, err := New(w).Generate(t.Context(), model.Request{Messages: messages, Tools: []model.Tool{tool(c.tool)}, Tags: model.Tags{Stage: model.StageRollout, Role: model.Target}})
			if err != nil {
				t.Fatal(err)
			}
			call := ""
			for _, made := range resp.Calls() {
				call = string(made.Arguments)
			}
			if c.name == "shell, the skill" {
				call = call[:len(c.call)]
			}
			if diff := cmp.Diff([]string{c.call, c.text}, []string{call, resp.Text}); diff != "" {
				t.Error(diff)
			}
		})
	}
}
