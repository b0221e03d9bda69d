package check

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/task"
)

// mixed checks choices by label, everything else by value and then by a judge.
const mixed = `
- {type: mcq, when: choices}
- any:
    - {type: math-equal, unless: choices}
    - {type: llm-equivalent, unless: choices}
  first: true
- {type: word-count, max: 9, weight: 0, required: true}
`

func choice(gold string) task.Task {
	return task.Task{ID: "c", Gold: []string{gold}, Data: map[string]any{"choices": []any{"x", "y"}}}
}

func open(gold string) task.Task {
	return task.Task{ID: "o", Gold: []string{gold}, Data: map[string]any{"choices": []any{}}}
}

// judged assesses an answer and returns the score and the ids of what the judge was asked.
func judged(t *testing.T, s *Suite, tk task.Task, answer, says string) (hard, soft float64, asked []string, parts []string) {
	t.Helper()
	got, err := s.Assess(t.Context(), Evidence{Answer: answer}, tk, Means{Judge: func(_ context.Context, id string, _ JudgeRequest) (string, error) {
		asked = append(asked, id)
		return says, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range got.Components {
		parts = append(parts, c.Type)
	}
	return got.Hard, got.Soft, asked, parts
}

func TestConditions(t *testing.T) {
	t.Parallel()
	const yes, no = `{"equivalent": true}`, `{"equivalent": false, "reason": "other"}`
	s := suite(t, mixed, Options{Judge: true})
	tests := []struct {
		name, answer, says string
		task               task.Task
		hard               float64
		asked              int
		parts              []string
	}{
		{"a choice, right", "(B)", no, choice("B"), 1, 0, []string{"mcq", "word-count"}},
		{"a choice, wrong", "A", yes, choice("B"), 0, 0, []string{"mcq", "word-count"}},
		{"a value, equal", "0.5", no, open("1/2"), 1, 0, []string{"any", "word-count"}},
		{"a value, the judge says yes", "half of it", yes, open("1/2"), 1, 1, []string{"any", "word-count"}},
		{"a value, the judge says no", "a third", no, open("1/2"), 0, 1, []string{"any", "word-count"}},
	}
	for _, tt := range tests {
		hard, soft, asked, parts := judged(t, s, tt.task, tt.answer, tt.says)
		if hard != tt.hard || soft != tt.hard || len(asked) != tt.asked {
			t.Errorf("%s: hard %v, soft %v, asked %q", tt.name, hard, soft, asked)
		}
		if diff := cmp.Diff(tt.parts, parts); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if tt.asked > 0 && asked[0] != "check2/2" {
			t.Errorf("%s: the judge is asked as %s, the place in the whole list is check2/2", tt.name, asked[0])
		}
	}
	if s.Needs(choice("A")) != (Needs{}) || s.JudgeCalls(choice("A")) != 0 {
		t.Error("a task with choices needs the judge, though no check of it asks one")
	}
	if !s.Needs(open("1")).Judge || s.JudgeCalls(open("1")) != 1 {
		t.Error("a task without choices needs no judge")
	}
	if got := s.Score("B", choice("B")); got.Hard != 1 {
		t.Errorf("a task with choices cannot be scored alone: %+v", got)
	}
}

// TestNotRunAfterTheFirst: without first every member runs, as ever; with it none after one
// that passes.
func TestNotRunAfterTheFirst(t *testing.T) {
	t.Parallel()
	for first, want := range map[string]int{"": 1, ", first: false": 1, ", first: true": 0} {
		s := suite(t, "[{any: [{type: equals}, {type: llm-equivalent}]"+first+"}]", Options{Judge: true})
		if _, _, asked, _ := judged(t, s, open("x"), "x", `{"equivalent": true}`); len(asked) != want {
			t.Errorf("with %q the judge is asked %d times, want %d", first, len(asked), want)
		}
	}
	s := suite(t, "[{any: [{type: f1, threshold: 0.1}, {type: llm-equivalent}], first: true, threshold: 0.9}]", Options{Judge: true})
	if hard, _, asked, _ := judged(t, s, open("a b c d"), "x b", `{"equivalent": true}`); len(asked) != 1 || hard != 1 {
		t.Errorf("a member below the threshold of the group ends it: asked %q, hard %v", asked, hard)
	}
}

func TestConditionFaults(t *testing.T) {
	t.Parallel()
	for bad, want := range map[string]string{
		"[{type: equals, when: 5}]":                             "the name of a field",
		`[{type: equals, unless: " "}]`:                         "the name of a field",
		"[{type: equals, when: gold}]":                          "no field of this kind",
		"[{all: [{type: equals}], first: true}]":                "unknown key \"first\"",
		"[{any: [{type: equals}], first: 1}]":                   "true or false expected",
		"[{any: [{type: equals, whne: x}]}]":                    "unknown key \"whne\"",
		"[{type: equals, weight: 0, when: choices}]":            "every weight is 0",
		"[{any: [{type: equals, when: [a]}], unless: choices}]": "the name of a field",
	} {
		if _, err := Compile(fromYAML(t, bad), Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	s := suite(t, "[{type: equals, when: choices}, {all: [{type: f1, when: choices}]}, {type: word-count, max: 3, weight: 0}]", Options{})
	if err := s.Check(choice("B")); err != nil {
		t.Error(err)
	}
	if err := s.Check(open("B")); err == nil || !strings.Contains(err.Error(), "no check that counts applies") {
		t.Errorf("a task that no check is for: %v", err)
	}
	if _, err := s.Assess(t.Context(), Evidence{Answer: "B"}, open("B"), Means{}); !errors.Is(err, errNoneApplies) {
		t.Errorf("it is scored: %v", err)
	}
	typo := suite(t, "[{type: equals, unless: chioces}]", Options{})
	if err := typo.Doubts(choice("B")); err == nil || !strings.Contains(err.Error(), `did you mean "choices"`) {
		t.Errorf("a field that is nearly there: %v", err)
	}
}

// TestGoldOfConditionalChecks: what does not apply is not held against gold either.
func TestGoldOfConditionalChecks(t *testing.T) {
	t.Parallel()
	s := suite(t, "[{type: mcq, when: choices}, {type: number, unless: choices}]", Options{})
	for _, tk := range []task.Task{choice("B"), open("12")} {
		if err := errors.Join(s.Check(tk), s.Doubts(tk)); err != nil {
			t.Errorf("%+v: %v", tk, err)
		}
	}
	if err := s.Check(open("twelve")); err == nil {
		t.Error("gold that is no number is taken")
	}
}
