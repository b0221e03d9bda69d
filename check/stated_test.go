package check

import (
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/task"
)

func TestExtractOfBenchmarks(t *testing.T) {
	t.Parallel()
	tests := []struct{ rule, reply, want, by string }{
		{"boxed", `so \boxed{1} or \boxed{\frac{1}{2}}`, `\frac{1}{2}`, "boxed"},
		{"{boxed: true, which: first}", `so \boxed{1} or \boxed{\frac{1}{2}}`, "1", "boxed"},
		{"{boxed: true, form: mathverse}", `so \boxed{\frac{1}{2}}`, `\frac{1`, "boxed"},
		{"{boxed: true, form: mathverse}", "so \\Boxed{a\nb}", "a\nb", "boxed"},
		{"{boxed: true, form: babyvision}", `\boxed{a{b{c}}} \boxed{never`, "a{b{c}}", "boxed"},
		{"{boxed: true, form: babyvision}", "<|begin_of_box|> B <|end_of_box|>", "B", "boxed"},
		{"boxed", "<|begin_of_box|>A<|end_of_box|> <|begin_of_box|>B\n<|end_of_box|>", "B", "boxed"},
		{"{boxed: true, fallback: none}", "no box", "", NothingFound},
		{"boxed", "no box", "no box", NothingFound},
		{"choice", "A is not it. Answer[ B ]", "B", "choice"},
		{"choice", "The answer is A. No: the answer is (B).", "(B).", "choice"},
		{"choice", "**Final answer:** **B**", "B", "choice"},
		{"choice", "thinking\n\n(B)", "(B)", "choice"},
		{"choice", "Answer: x\nFinal answer: y", "y", "choice"},
		{"{choice: true, fallback: none}", "nothing is said", "", NothingFound},
		{"{choice: true, form: mmrb}", "Answer[ B ]", "B", "choice"},
		{"{choice: true, form: mmrb}", "The answer is B.", "B.", "choice"},
		{"{choice: true, form: mmrb}", "final answer: (B) a dog", "(B) a dog", "choice"},
		{"{choice: true, form: mmrb}", "b).", "b", "choice"},
		{"{choice: true, form: mmrb}", `\boxed{x} and the answer is y`, "x", "choice"},
		{"{choice: true, form: mmrb}", "The answer is A\nThe answer is B", "A", "choice"},
		{"{tag: answer, form: docvqa, fallback: last_line}", "<answer>a</answer><answer>b</answer>", "b", "tag:answer"},
		{"{tag: answer, form: docvqa, fallback: last_line}", "<answer>a</answer><answer>b", "<answer>a</answer><answer>b", "last_line"},
		{"{tag: answer, form: docvqa, fallback: last_line}", "<answer>a<answer>b</answer></answer>", "b</answer>", "tag:answer"},
		{"{tag: answer, form: docvqa, fallback: last_line}", "ß <ANSWER> c </Answer> bye", "c", "tag:answer"},
		{"{tag: answer, which: first, fallback: none}", "<answer>a</answer><answer>b</answer>", "a", "tag:answer"},
		{"[{tag: answer}, boxed, choice, last_line]", `\boxed{x}`, "x", "boxed"},
		{"[{tag: answer}, boxed, choice, last_line]", "a\nno", "no", "last_line"},
		{"[{tag: answer}, none]", "a", "", NothingFound},
		{"[{tag: answer}, {tag: b, fallback: none}]", "<b>x</b>", "x", "tag:b"},
	}
	for _, tt := range tests {
		e, err := ParseExtract(fromYAML(t, tt.rule))
		if err != nil {
			t.Errorf("%s: %v", tt.rule, err)
			continue
		}
		answer, by, err := e.Extract(tt.reply)
		if err != nil || answer != tt.want || by != tt.by && !strings.HasPrefix(by, tt.by) {
			t.Errorf("%s of %q: got %q by %s (%v), want %q by %s", tt.rule, tt.reply, answer, by, err, tt.want, tt.by)
		}
	}
	for _, bad := range []string{"[]", "[all, boxed]", "[{tag: a, fallback: none}, boxed]", "{boxed: deep}", "{boxed: true, form: mmrb}", "{choice: true, which: first}", "{tag: a, form: docvqa, which: first}", "[5]", "none"} {
		if _, err := ParseExtract(fromYAML(t, bad)); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

// TestGoldIsPlacedInBoxes: lint puts gold where the extraction finds it.
func TestGoldIsPlacedInBoxes(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"boxed", "{boxed: true, form: babyvision}", "choice", "{choice: true, form: mmrb}", "[boxed, last_line]"} {
		e, err := ParseExtract(fromYAML(t, rule))
		if err != nil {
			t.Fatal(err)
		}
		s := suite(t, "[math-equal]", Options{Extract: e})
		if err := s.Doubts(task.Task{ID: "t", Gold: []string{`\frac{1}{2}`}}); err != nil {
			t.Errorf("%s: %v", rule, err)
		}
	}
}
