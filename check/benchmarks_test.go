package check

import (
	"context"
	"testing"

	"github.com/seed-f4525e22/skillopt/task"
)

// scoring is how a benchmark is scored: where the answer is, and the checks.
type scoring struct{ extract, checks string }

// scorings are the reference's way and ours, by benchmark, without a judge: where one is asked
// the answer has not passed.
var scorings = map[string]struct{ reference, robust scoring }{
	"livemath": {
		scoring{"{tag: answer, form: reference, fallback: {last_line: true, form: reference}}", "[{type: mcq, form: reference}]"},
		scoring{"[{tag: answer}, choice, all]", "[mcq]"},
	},
	"mathverse": {
		scoring{"[{tag: answer}, {boxed: true, form: mathverse}, last_line]", "[{type: mcq, form: mathverse, when: choices}, {any: [{type: math-equal, form: reference}, llm-equivalent], first: true, unless: choices}]"},
		scoring{"[{tag: answer}, boxed, choice, last_line]", "[{type: mcq, when: choices}, {any: [math-equal, llm-equivalent], first: true, unless: choices}]"},
	},
	"mmrb": {
		scoring{"[{tag: answer}, {choice: true, form: mmrb}]", "[{type: mcq, form: mmrb, when: choices}, {type: equals, normalize: plain, inside: either, unless: choices}]"},
		scoring{"[{tag: answer}, choice]", "[{type: mcq, when: choices}, {type: equals, normalize: plain, inside: words, unless: choices}]"},
	},
	"sealqa": {
		scoring{"{tag: answer, which: first, fallback: none}", "[{type: equals, normalize: sealqa, inside: either}]"},
		scoring{"{tag: answer, fallback: none}", "[{any: [{type: equals, normalize: sealqa}, math-equal, llm-equivalent], first: true}]"},
	},
	"docvqa": {
		scoring{"{tag: answer, form: docvqa, fallback: {last_line: true, form: reference}}", "[anls]"},
		scoring{"[{tag: answer}, last_line]", "[anls]"},
	},
	"babyvision": {
		scoring{"{boxed: true, form: babyvision, fallback: none}", "[llm-equivalent]"},
		scoring{"[boxed, {tag: answer}, choice, last_line]", "[{type: mcq, when: choices}, {any: [math-equal, {type: equals, normalize: plain}, llm-equivalent], first: true, unless: choices}]"},
	},
}

// scored is the hard score of a reply with a judge that never agrees, and how often it was asked.
func scored(t *testing.T, s scoring, tk task.Task, reply string) (hard float64, asked int) {
	t.Helper()
	e, err := ParseExtract(fromYAML(t, s.extract))
	if err != nil {
		t.Fatalf("%s: %v", s.extract, err)
	}
	answer, err := e.Answer(reply)
	if err != nil {
		t.Fatal(err)
	}
	checks := suite(t, s.checks, Options{Judge: true, Extract: e})
	if err := checks.Check(tk); err != nil {
		t.Errorf("%s, gold %q: %v", s.checks, tk.Gold, err)
	}
	got, err := checks.Assess(t.Context(), Evidence{Answer: answer}, tk, Means{Judge: func(context.Context, string, JudgeRequest) (string, error) {
		asked++
		return `{"equivalent": false}`, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return got.Hard, asked
}

// TestRobustScoringDiffersFromReference: replies that the reference scores otherwise than a
// person would. right is what it is.
func TestRobustScoringDiffersFromReference(t *testing.T) {
	t.Parallel()
	tests := []struct {
		benchmark, reply, gold string
		choices                bool
		right                  float64
	}{
		{"livemath", "<answer>(B)</answer>", "B", true, 1},
		{"livemath", "<answer>**B**</answer>", "B", true, 1},
		{"livemath", "<answer>$B$</answer>", "B", true, 1},
		{"livemath", `<answer>\boxed{B}</answer>`, "B", true, 1},
		{"livemath", `<answer>\text{B}</answer>`, "B", true, 1},
		{"livemath", "ANSWER: B", "B", true, 1},
		{"livemath", "The answer is (B).", "B", true, 1},
		{"livemath", "<answer>option B</answer>", "B", true, 1},
		{"livemath", "<answer>\uff22</answer>", "B", true, 1},
		{"livemath", "<answer>Answer: b</answer>", "B", true, 1},
		{"livemath", "A careful view shows nothing", "A", true, 0},
		{"livemath", "<answer>A or B</answer>", "A", true, 0},
		{"livemath", "<answer>B. a cat</answer>", "B", true, 0},
		{"livemath", "<answer>I would choose B</answer>", "B", true, 1},
		{"mathverse", "<answer>(B)</answer>", "B", true, 1},
		{"mathverse", "<answer>B: a dog</answer>", "B", true, 1},
		{"mathverse", "<answer>a dog</answer>", "B", true, 1},
		{"mathverse", "The answer is B", "B", true, 1},
		{"mathverse", `\boxed{\frac{1}{2}}`, `\frac{1}{2}`, false, 1},
		{"mathverse", "<answer>x = 3</answer>", "x=3", false, 1},
		{"mathverse", "<answer>0.5</answer>", `\frac{1}{2}`, false, 1},
		{"mathverse", "<answer>\u22125</answer>", "-5", false, 1},
		{"mathverse", "<answer>30°</answer>", `30^\circ`, false, 1},
		{"mathverse", `<answer>\frac{12}{x}</answer>`, `\frac{1}{2x}`, false, 0},
		{"mathverse", "<answer>5√3 cm</answer>", `5\sqrt{3}~\mathrm{cm}`, false, 1},
		{"mmrb", "<answer>(B)</answer>", "B", true, 1},
		{"mmrb", "final answer: (B) a dog", "B", true, 1},
		{"mmrb", "The answer is A. No: the answer is B", "B", true, 1},
		{"mmrb", "<answer>17</answer>", "7", false, 0},
		{"mmrb", "<answer>a</answer>", "cat", false, 0},
		{"mmrb", "<answer>concatenate</answer>", "cat", false, 0},
		{"sealqa", "<answer>19</answer>", "9", false, 0},
		{"sealqa", "<answer>1</answer>", "1,234", false, 0},
		{"sealqa", "<answer>5</answer>", "5 million", false, 0},
		{"sealqa", "<answer>not Paris</answer>", "Paris", false, 0},
		{"sealqa", "<answer>first guess</answer> no: <answer>Paris</answer>", "Paris", false, 1},
		{"docvqa", "<answer>ITC</answer>, that is, an <answer>", "ITC", false, 1},
		{"babyvision", "<answer>B</answer>", "B", true, 1},
		{"babyvision", `\boxed{B}`, "B", true, 1},
		{"babyvision", `\boxed{12}`, "12", false, 1},
	}
	for _, tt := range tests {
		tk := task.Task{ID: "t", Prompt: "?", Gold: []string{tt.gold}}
		if tt.choices {
			tk.Data = map[string]any{"choices": []any{"a cat", "a dog", "7", "17"}}
		}
		ways := scorings[tt.benchmark]
		reference, _ := scored(t, ways.reference, tk, tt.reply)
		robust, asked := scored(t, ways.robust, tk, tt.reply)
		if robust != tt.right || reference == robust {
			t.Errorf("%s, %q, gold %q: robust %v, reference %v, right is %v", tt.benchmark, tt.reply, tt.gold, robust, reference, tt.right)
		}
		if tt.right == 1 && asked > 0 {
			t.Errorf("%s, %q: the judge was asked %d times", tt.benchmark, tt.reply, asked)
		}
	}
	if len(tests) < 30 {
		t.Errorf("only %d cases", len(tests))
	}
}

// TestDefectsOfTheReference has those of its scoring that must not come back.
func TestDefectsOfTheReference(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, benchmark, reply, gold string
		choices                      bool
		right                        float64
	}{
		{"a part of a word is right (MMRB)", "mmrb", "<answer>cat</answer>", "concatenation", false, 0},
		{"a part of a number is right (SealQA)", "sealqa", "<answer>19</answer>", "9", false, 0},
		{"another power of ten is right", "sealqa", "<answer>5 million</answer>", "5 billion", false, 0},
		{"another power of ten is right (mathematics)", "mathverse", "<answer>5 million</answer>", "5 billion", false, 0},
		{"a label in parentheses is wrong", "livemath", "<answer>(B)</answer>", "B", true, 1},
		{"the article is a label", "livemath", "<answer>A dog is the answer</answer>", "A", true, 0},
		{"a nested box is cut", "mathverse", `\boxed{\frac{1}{2}}`, "0.5", false, 1},
		{"a minus of Unicode is another number", "mathverse", "<answer>\u22122</answer>", "-2", false, 1},
		{"an exact match is put to a judge", "babyvision", `\boxed{(B)}`, "B", true, 1},
	}
	for _, tt := range tests {
		tk := task.Task{ID: "t", Prompt: "?", Gold: []string{tt.gold}}
		if tt.choices {
			tk.Data = map[string]any{"choices": []any{"a cat", "a dog"}}
		}
		if got, asked := scored(t, scorings[tt.benchmark].robust, tk, tt.reply); got != tt.right || tt.right == 1 && asked > 0 {
			t.Errorf("%s: scored %v, the judge was asked %d times", tt.name, got, asked)
		}
	}
}

// TestJudgesAreReadStrictly: the reference takes "true" anywhere, or an A at the beginning, for
// a yes, and anything else for a no. A reply that is no verdict measures nothing.
func TestJudgesAreReadStrictly(t *testing.T) {
	t.Parallel()
	s := suite(t, "[llm-equivalent]", Options{Judge: true})
	for _, reply := range []string{"ANSWER: B", "A", "It is not true", "true", "False", "", `{"verdict": true}`, `{"equivalent": "true"}`} {
		_, err := s.Assess(t.Context(), Evidence{Answer: "x"}, task.Task{Prompt: "?", Gold: []string{"y"}}, Means{Judge: func(context.Context, string, JudgeRequest) (string, error) { return reply, nil }})
		if err == nil {
			t.Errorf("%q is read as a verdict", reply)
		}
	}
}
