package sim

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
)

const draftWorld = `name: d
seed: 1
kinds:
  - {type: sum, match: 'Add (?P<a>\d+) and (?P<b>\d+)', answer: a + b}
rules:
  - id: points
    task_types: [sum]
    states: [points]
    say: ['Write sums with the unit, as in 5 points.']
    transform: {kind: suffix, text: ' points'}
`

const draftTemplates = `draft: ['Add {{1..9}} and {{10..10}}, {{Ann|Bo}}.']
`

func draftRequest(skill, assigned string) model.Request {
	return model.Request{
		Messages: []model.Message{
			{Role: model.System, Content: "write tasks"},
			{Role: model.User, Content: "## File SKILL.md\n\n" + skill + "\n\n# What to write\n\n" + assigned},
		},
		Tags: model.Tags{Stage: model.StageDraft, Role: model.Optimizer},
	}
}

type draftedTask struct {
	Line   int
	Prompt string
	Gold   []string
}

func TestDraft(t *testing.T) {
	t.Parallel()
	w, err := Parse("w.yaml", []byte(draftWorld+draftTemplates))
	if err != nil {
		t.Fatal(err)
	}
	skill := "1| # Sums\n2| \n3| - Write sums in points.\n4| - Be brief."
	ask := func() []draftedTask {
		resp, err := New(w).Generate(t.Context(), draftRequest(skill, "- 3 tasks on lines 1-4 of SKILL.md (Sums)\n- 1 task on lines 4-4 of SKILL.md"))
		if err != nil {
			t.Fatal(err)
		}
		var reply struct{ Tasks []draftedTask }
		if err := json.Unmarshal([]byte(resp.Text), &reply); err != nil {
			t.Fatal(err)
		}
		return reply.Tasks
	}
	tasks := ask()
	if diff := cmp.Diff(tasks, ask()); diff != "" {
		t.Errorf("the same request gives other tasks:\n%s", diff)
	}
	var lines []int
	for _, task := range tasks {
		lines = append(lines, task.Line)
		if !strings.HasPrefix(task.Prompt, "Add ") || !strings.Contains(task.Prompt, "and 10, ") || strings.Contains(task.Prompt, "{{") {
			t.Errorf("prompt %q", task.Prompt)
		}
		if len(task.Gold) != 1 || !strings.HasSuffix(task.Gold[0], " points") {
			t.Errorf("the expected answer does not follow the skill: %q", task.Gold)
		}
	}
	if diff := cmp.Diff([]int{3, 4, 3, 4}, lines); diff != "" {
		t.Error(diff)
	}
}

func TestDraftCheckIsAnsweredAsATask(t *testing.T) {
	t.Parallel()
	w, err := Parse("w.yaml", []byte(draftWorld))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := New(w).Generate(t.Context(), model.Request{
		Messages: []model.Message{{Role: model.System, Content: "- Write sums in points."}, {Role: model.User, Content: "Add 2 and 3."}},
		Tags:     model.Tags{Stage: model.StageDraftCheck, Role: model.Optimizer},
	})
	if err != nil || resp.Text != "<answer>5 points</answer>" {
		t.Errorf("%q, %v", resp.Text, err)
	}
}

func TestWorldsThatCannotDraft(t *testing.T) {
	t.Parallel()
	w, err := Parse("w.yaml", []byte(draftWorld))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(w).Generate(t.Context(), draftRequest("1| x", "- 1 task on lines 1-1 of SKILL.md")); model.CodeOf(err) != model.BadRequest || !strings.Contains(err.Error(), "no templates for them (key draft)") {
		t.Errorf("a world without templates: %v", err)
	}
	if w, err = Parse("w.yaml", []byte(draftWorld+draftTemplates)); err != nil {
		t.Fatal(err)
	}
	if _, err := New(w).Generate(t.Context(), draftRequest("1| x", "write something")); err == nil {
		t.Error("a prompt that says nothing of lines is answered")
	}
	for text, want := range map[string]string{
		`draft: ['Add {{9..1}} and 2']`:   "w.yaml:11: draft[0]: found {{9..1}}",
		`draft: ['Add {{some}} and 2']`:   "found {{some}}",
		`draft: ['Subtract {{1..2}}']`:    "no kind of task recognises it",
		`draft: {a: b}`:                   "w.yaml:11:",
		"draft: ['Add 1 and 2', 'Add 1']": "draft[1]: no kind of task",
	} {
		if _, err := Parse("w.yaml", []byte(draftWorld+text+"\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
