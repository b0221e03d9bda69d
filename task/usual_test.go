package task_test

import (
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/task"
)

// A prompt and an answer are found by the names that they have elsewhere, where each has one
// name, and what was found is said once a file.
func TestUsualNames(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		file, text, template string
		prompt, gold         string // of the first task
		warning, err         string
	}{
		"a table":               {file: "t.csv", text: "question,answer\nq1,a1\n", prompt: "q1", gold: "a1", warning: `t.csv: "question" is read as prompt`},
		"as people write":       {file: "t.csv", text: "Input;Expected Output;Notes\nq1;a1;n\n", prompt: "q1", gold: "a1", warning: `t.csv: "Input" is read as prompt, "Expected Output" is read as gold; not read: "Notes"`},
		"lines":                 {file: "t.jsonl", text: `{"instruction": "q1", "output": "a1"}`, prompt: "q1", gold: "a1", warning: `"instruction" is read as prompt, "output" is read as gold`},
		"an answer and a reply": {file: "t.jsonl", text: `{"input": "q1", "output": "said", "expected": "a1"}`, prompt: "q1", gold: "a1", warning: `not read: "output"`},
		"YAML":                  {file: "t.yaml", text: "- {query: q1, label: a1}", prompt: "q1", gold: "a1", warning: "label"},
		"own names win":         {file: "t.jsonl", text: `{"prompt": "p", "question": "q1", "gold": "g", "label": "l"}`, prompt: "p", gold: "g"},
		"a template":            {file: "t.jsonl", text: `{"question": "q1", "answer": "a1"}`, template: "Say: {{question}}", gold: "a1"},
		"a field in use":        {file: "t.csv", text: "question,answer\nq1,a1\n", template: "{{question}}?", gold: "a1"},
		"gold in a prompt":      {file: "t.jsonl", text: `{"question": "q1", "label": "a1"}`, template: "{{question}} {{label}}", err: "neither gold nor checks"},
		"two that may be":       {file: "t.jsonl", text: `{"instruction": "i", "input": "q", "output": "a"}`, err: `no prompt: give the task one, or the set a template of its fields (tasks.prompt): it may be in "input", "instruction"`},
		"two in one table":      {file: "t.csv", text: "question,input,answer\nq,i,a\n", err: "no column for prompt"},
		"two names in turn":     {file: "t.jsonl", text: `{"question": "q1", "answer": "a1"}` + "\n" + `{"prompt": "q2", "answer": "a2"}`, err: `prompt of the tasks is called "prompt", "question" here: give it one name`},
		"a list of turns":       {file: "t.jsonl", text: `{"input": ["a", "b"], "answer": "a1"}`, err: "no prompt"},
		"trigger tasks":         {file: "t.jsonl", text: `{"query": "q1", "should_trigger": true}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules := task.Rules{Prompt: tc.template}
			set, msg := load(t, tc.file, tc.text, rules)
			if (msg == "") != (tc.err == "") || !strings.Contains(msg, tc.err) {
				t.Fatalf("error %q, want %q", msg, tc.err)
			}
			if tc.err != "" || len(set.Tasks()) == 0 {
				return
			}
			first := set.Tasks()[0]
			if first.Prompt != tc.prompt || strings.Join(first.Gold, "") != tc.gold {
				t.Errorf("prompt %q, gold %q", first.Prompt, first.Gold)
			}
			warned := strings.Join(set.Warnings(), "\n")
			if read := strings.Contains(warned, "is read as"); read != (tc.warning != "") || !strings.Contains(warned, tc.warning) {
				t.Errorf("warnings: %s", warned)
			}
		})
	}
}

// TestQuestionsAboutAContext: items {question, answers, context}, as skillrl's SimpleQAEnv has them, are
// tasks without a template: what a question is about is before it, and makes it another question.
func TestQuestionsAboutAContext(t *testing.T) {
	t.Parallel()
	items := `{"id": "1", "question": "When is it due?", "answers": ["1 March", "March 1"], "context": "Invoice 1: 1 March.", "task_type": "due"}
{"id": "2", "question": "When is it due?", "answers": ["2 March"], "context": "Invoice 2: 2 March.", "task_type": "due"}
{"id": "3", "question": "What is due?", "answers": "a sum", "context": ""}
`
	set, msg := load(t, "t.jsonl", items, task.Rules{})
	if msg != "" {
		t.Fatal(msg)
	}
	got := set.Tasks()
	if len(got) != 3 || got[0].Prompt != "Invoice 1: 1 March.\n\nWhen is it due?" || got[2].Prompt != "What is due?" || len(got[0].Gold) != 2 {
		t.Errorf("got %+v", got)
	}
	if warned := strings.Join(set.Warnings(), "\n"); !strings.Contains(warned, `"question" is read as prompt, with "context" before it`) || strings.Contains(warned, "not read") {
		t.Errorf("warnings: %s", warned)
	}
	set, msg = load(t, "t.jsonl", items, task.Rules{Prompt: "{{context}} {{question}}"})
	if msg != "" || set.Tasks()[0].Prompt != "" {
		t.Errorf("with a template: %q, %s", set.Tasks()[0].Prompt, msg)
	}
}
