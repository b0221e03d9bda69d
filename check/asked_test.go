package check

import (
	"context"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/task"
)

// TestWhatJudgesAreShown: the question as the target had it, with its choices.
func TestWhatJudgesAreShown(t *testing.T) {
	t.Parallel()
	choices := []any{"a cat", "a dog"}
	tests := []struct {
		name   string
		task   task.Task
		checks string
		want   []string
		not    string
	}{
		{"a prompt", task.Task{Prompt: "Which?", Gold: []string{"B"}}, "[llm-equivalent]", []string{"question\nWhich?\n", "reference\nB\n"}, "Choices"},
		{
			"choices beside the prompt",
			task.Task{Prompt: "Which?", Gold: []string{"B"}, Data: map[string]any{"choices": choices}},
			"[llm-equivalent]",
			[]string{"Which?\n\nChoices:\nA. a cat\nB. a dog\n", "reference\nB. a dog\n"},
			"",
		},
		{
			"choices in the prompt",
			task.Task{Prompt: "Which? A) a cat, B) a dog", Gold: []string{"B"}, Data: map[string]any{"choices": choices}},
			"[llm-equivalent]",
			[]string{"Which? A) a cat, B) a dog\n"},
			"Choices:",
		},
		{
			"choices of another field",
			task.Task{Prompt: "Which?", Gold: []string{"B"}, Data: map[string]any{"options": choices}},
			"[{type: llm-equivalent, choices: options}]",
			[]string{"A. a cat\nB. a dog\n"},
			"",
		},
		{"a question of a template", task.Task{Gold: []string{"B"}, Data: map[string]any{"question": "Which?", "context": "long"}}, "[llm-equivalent]", []string{"question\nWhich?\n"}, "long"},
		{"fields of a template", task.Task{Gold: []string{"B"}, Data: map[string]any{"stem": "Which?", "n": 1}}, "[llm-equivalent]", []string{"stem: Which?\n"}, ""},
		{"a rubric", task.Task{Gold: []string{"B"}, Data: map[string]any{"question": "Which?", "choices": choices}}, "[{type: llm-rubric, criteria: good}]", []string{"Which?\n\nChoices:\nA. a cat\n"}, ""},
	}
	for _, tt := range tests {
		var user string
		_, err := suite(t, tt.checks, Options{Judge: true}).Assess(t.Context(), Evidence{Answer: "it"}, tt.task, Means{Judge: func(_ context.Context, _ string, q JudgeRequest) (string, error) {
			user = q.User
			return `{"equivalent": true, "score": 1}`, nil
		}})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		for _, want := range tt.want {
			if !strings.Contains(user, want) {
				t.Errorf("%s: %q is not shown:\n%s", tt.name, want, user)
			}
		}
		if tt.not != "" && strings.Contains(user, tt.not) {
			t.Errorf("%s: %q is shown:\n%s", tt.name, tt.not, user)
		}
	}
}
