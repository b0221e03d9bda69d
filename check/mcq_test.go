package check

import (
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/task"
)

func animals(gold ...string) task.Task {
	return task.Task{ID: "t", Prompt: "Which?", Gold: gold, Data: map[string]any{
		"choices": []any{"a cat", "a dog", "7", "17"}, "other": map[string]any{"options": map[string]any{"1": "x", "2": "y"}}, "empty": []any{},
	}}
}

func TestCheckMCQ(t *testing.T) {
	t.Parallel()
	tests := []struct {
		checks, answer string
		gold           string
		hard           float64
		reason         string
	}{
		{"[mcq]", "(B)", "B", 1, ""},
		{"[mcq]", "the answer is B", "a dog", 1, ""},
		{"[mcq]", "A dog", "A", 0, `chose B, expected "A"`},
		{"[mcq]", "A or B", "B", 0, `two choices are named, A and B; got "A or B"; expected "B"`},
		{"[mcq]", "no idea", "B", 0, "no choice is named; the labels are A, B, C, D"},
		{"[mcq]", "", "B", 0, "the answer is empty"},
		{"[{type: mcq, form: reference}]", "(B)", "B", 0, "expected"},
		{"[{type: mcq, form: reference}]", "A dog", "B", 1, ""},
		{"[{type: mcq, form: reference}]", "A bird", "A", 1, ""},
		{"[{type: mcq, form: mathverse}]", "b)", "B", 1, ""},
		{"[{type: mcq, form: mmrb}]", "a dog!", "B", 1, ""},
		{"[{type: mcq, choices: other.options}]", "2", "2", 1, ""},
		{"[{type: mcq, choices: other.options, value: 1}]", "x", "2", 1, ""},
		{"[{type: not-mcq}]", "A", "B", 1, ""},
		{"[{type: mcq, choices: empty}]", "A", "A", 0, "has no field empty"},
	}
	for _, tt := range tests {
		got := suite(t, tt.checks, Options{}).Score(tt.answer, animals(tt.gold))
		if got.Hard != tt.hard || !strings.Contains(got.Reason, tt.reason) {
			t.Errorf("%s of %q, gold %s: %+v", tt.checks, tt.answer, tt.gold, got)
		}
	}
}

func TestMCQLint(t *testing.T) {
	t.Parallel()
	s := suite(t, "[{any: [mcq]}]", Options{})
	if err := s.Check(animals("B")); err != nil {
		t.Error(err)
	}
	tests := []struct {
		task task.Task
		want string
	}{
		{animals("E"), "allowed are the labels A, B, C, D"},
		{task.Task{ID: "t", Gold: []string{"A"}}, "has no field choices"},
		{task.Task{ID: "t", Gold: []string{"A"}, Data: map[string]any{"choices": "x, y"}}, "choices are a list of texts"},
		{animals(), "no gold answer"},
	}
	for _, tt := range tests {
		if err := s.Check(tt.task); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt.task, err)
		}
	}
	if _, err := Compile(fromYAML(t, "[{type: mcq, form: ref}]"), Options{}); err == nil || !strings.Contains(err.Error(), "mathverse") {
		t.Errorf("an unknown form: %v", err)
	}
	if err := s.Doubts(animals("B")); err != nil {
		t.Errorf("gold does not pass: %v", err)
	}
}
