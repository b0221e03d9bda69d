package mcq

import (
	"strings"
	"testing"
	"time"
)

func four() []Choice {
	return []Choice{{"A", "a cat"}, {"B", "a dog"}, {"C", "7"}, {"D", "17"}}
}

// TestRobustDiffersFromReference lists answers that the reference takes for another choice,
// or for none, than a person would. Not all differ from every reference form.
func TestRobustDiffersFromReference(t *testing.T) {
	t.Parallel()
	tests := []struct{ answer, want, reference string }{
		{"(B)", "B", "(B"},
		{"[B]", "B", "[B]"},
		{"{B}", "B", "{B}"},
		{"(b).", "B", "(B"},
		{"**B**", "B", "**B**"},
		{"__B__", "B", "__B__"},
		{"`B`", "B", "`B`"},
		{"$B$", "B", "$B$"},
		{`\(B\)`, "B", `\(B\`},
		{`\boxed{B}`, "B", `\BOXED{B}`},
		{`\text{B}`, "B", `\TEXT{B}`},
		{`$\boxed{\text{(B)}}$`, "B", ""},
		{"ANSWER: B", "B", ""},
		{"Answer: (B)", "B", ""},
		{"answer is b", "B", ""},
		{"The answer is B.", "B", ""},
		{"The answer is (B), because dogs bark.", "B", ""},
		{"The correct answer is **B**", "B", ""},
		{"The correct option is B", "B", ""},
		{"The answer to the question is B.", "B", ""},
		{"option B", "B", ""},
		{"Option (B)", "B", ""},
		{"choice b.", "B", ""},
		{"I choose B because it barks", "B", ""},
		{"I would go with option (B).", "B", ""},
		{"(B) a dog", "B", ""},
		{"(B) is correct", "B", ""},
		{"B is the correct answer", "B", ""},
		{"**Answer: B**", "B", ""},
		{"**B. a dog**", "B", ""},
		{"Final answer: B) a dog", "B", ""},
		{"\uff22", "B", "\uff22"},
		{"\uff08\uff22\uff09", "B", ""},
		{"答案：B", "B", ""},
		{"Ⓑ", "B", ""},
		{"\u201cB\u201d", "B", ""},
		{"B\u3002", "B", ""},
		{"A dog.", "B", "A"}, // the reference takes the article for the label
		{"A careful view shows nothing", "", "A"},
		{"A Hilbert space has this property", "", "A"},
		{"Answer: A careful view shows nothing", "", ""},
		{"It is a dog", "B", ""},
		{"the animal is a dog", "B", ""},
		{"A or B", "", "A"},
		{"A, B", "", "A, B"},
		{"B and C", "", "B"},
		{"The answer is A or B", "", ""},
		{"B. a cat", "", "B"},
		{"Answer: A. Wait, the answer is B", "", ""},
		{"C is the number of cats", "", "C"},
		{"B = 2", "", "B"},
		{"The value is 17", "D", ""},
		{"it is 7.", "C", ""},
		{"17.", "D", ""},
		{"$17$", "D", ""},
		{"It is not a dog", "", ""},
		{"7 or 17", "", ""},
		{"7.5", "", ""},
		{"\u22127", "", ""},
		{"Since dogs bark:\n\nB", "B", ""},
		{"Therefore the result.\n\n(B)", "B", ""},
		{"Reasoning...\n\\boxed{B}", "B", ""},
		{"B\nbecause dogs bark", "B", ""},
		{"A. no, cats do not bark.\nB. yes.\nThe answer is B.", "B", ""},
		{"so it must be B.", "B", ""},
		{"The answer is not B", "", ""},
		{"We cannot choose B", "", ""},
		{"Option A is wrong; option B remains", "B", ""},
		{"<answer>B</answer>", "B", ""},
		{"<b>B</b>", "B", ""},
		{`The answer is \(B\)`, "B", ""},
		{"It's B", "B", ""},
		{`Answer: \text{B}`, "B", ""},
		{`The answer is $\mathbf{B}$.`, "B", ""},
		{`the answer is \alpha`, "", ""},
		{"(A) is false, (C) is wrong, so (B).", "B", ""},
		{"Let A be a set. The answer is B.", "B", ""},
		{"I think the answer is B, not D.", "B", ""},
		{"Statement B is true", "B", ""},
		{"In case A we have C = 2", "", ""},
		{"", "", ""},
		{"E", "", ""},
		{"none", "", ""},
		{"I'm not sure", "", ""},
	}
	differ := 0
	for _, tt := range tests {
		got, why := Parse("robust", tt.answer, "B", four())
		if got != tt.want || (why == "") != (got != "") {
			t.Errorf("%q: got %q (%s), want %q", tt.answer, got, why, tt.want)
		}
		reference, _ := Parse("reference", tt.answer, "B", four())
		if tt.reference != "" && reference != tt.reference {
			t.Errorf("%q: the reference gives %q, want %q", tt.answer, reference, tt.reference)
		}
		if (got == "B") != (reference == "B") {
			differ++
		}
	}
	if differ < 30 {
		t.Errorf("only %d differ in the score", differ)
	}
	t.Logf("%d of %d differ in the score of gold B", differ, len(tests))
}

func TestRobustAgrees(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{"B": "B", "b": "B", " b. ": "B", "B)": "B", "B:": "B", "B) because": "B", "A": "A", "a dog": "B", "C because": "C", "a": "A", "A.": "A", "A because it purrs": "A", "A is correct": "A"} {
		got, why := Parse("robust", answer, "", four())
		if got != want {
			t.Errorf("%q: got %q (%s), want %q", answer, got, why, want)
		}
	}
}

// TestLongAnswersAreBounded: what a hostile answer costs does not grow with its length.
func TestLongAnswersAreBounded(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"answer: B ", "\\boxed{", "A, ", "a dog ", "\\text{"} {
		begin := time.Now()
		Parse("robust", strings.Repeat(unit, 1<<20/len(unit)), "", four())
		took := time.Since(begin)
		if took > 10*time.Second {
			t.Errorf("%q: %v", unit, took)
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	want := []Choice{{"A", "yes"}, {"B", "no"}}
	for _, v := range []any{
		[]any{"yes", "no"},
		[]any{"(A) yes", "(B) no"},
		[]any{"A. yes", "B. no"},
		[]any{map[string]any{"label": "A", "text": "yes"}, map[string]any{"label": "B", "content": " no "}},
		map[string]any{"B": "no", "A": "yes"},
		`["yes", "no"]`,
		`{"A": "yes", "B": "no"}`,
		"A. yes\nB) no\n",
	} {
		got, err := Read(v)
		if err != nil || len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
			t.Errorf("%v: got %v, %v", v, got, err)
		}
	}
	for _, v := range []any{nil, 5, []any{}, "yes, no", map[string]any{}, []any{map[string]any{"x": "y"}}, []any{map[string]any{"label": "A", "text": "x"}, map[string]any{"label": "a.", "text": "y"}}, `[`} {
		if got, err := Read(v); err == nil {
			t.Errorf("%v: got %v", v, got)
		}
	}
}

func TestGold(t *testing.T) {
	t.Parallel()
	for _, form := range Forms() {
		for _, gold := range []string{"B", "b", " B. ", "a dog"} {
			if label, ok := Gold(form, gold, four()); !ok || label != "B" {
				t.Errorf("%s, %q: got %q, %v", form, gold, label, ok)
			}
		}
		if label, ok := Gold(form, "E", four()); ok {
			t.Errorf("%s: E is taken for %q", form, label)
		}
	}
}

// TestReferenceForms has the worked examples of each.
func TestReferenceForms(t *testing.T) {
	t.Parallel()
	prime := []Choice{{"A", "x is prime"}, {"B", "y"}, {"C", "z"}}
	dog := []Choice{{"A", "a cat"}, {"B", "a dog"}}
	tests := []struct {
		form, answer string
		choices      []Choice
		want         string
	}{
		{"reference", "b.", prime, "B"},
		{"reference", "(B)", prime, "(B"},
		{"reference", "X is Prime", prime, "A"},
		{"reference", "C because", prime, "C"},
		{"reference", "A careful view shows C", prime, "A"},
		{"reference", "Answer: A", prime, "ANSWER: A"},
		{"mathverse", "b)", dog, "B"},
		{"mathverse", "B:x", dog, "B:X"},
		{"mathverse", "a dog", dog, "A DOG"},
		{"mmrb", "(B)", dog, "(B"},
		{"mmrb", "A dog!", dog, "B"},
		{"mmrb", "B.", dog, "B"},
		{"mmrb", "(B) a dog", dog, "(B) A DOG"},
	}
	for _, tt := range tests {
		if got, _ := Parse(tt.form, tt.answer, "B", tt.choices); got != tt.want {
			t.Errorf("%s of %q: got %q, want %q", tt.form, tt.answer, got, tt.want)
		}
	}
	within := []Choice{{"A", "(B) cat"}, {"B", "x"}}
	if got, _ := Parse("mmrb", "b cat", "A", within); got != "A" {
		t.Errorf("the mark of another choice is text: %q", got)
	}
	swapped := []Choice{{"A", "b"}, {"B", "a"}}
	if got, _ := Parse("mmrb", "a", "B", swapped); got != "B" {
		t.Errorf("a text comes after the label of gold alone: %q", got)
	}
}

func FuzzRobust(f *testing.F) {
	for _, s := range []string{"(B)", "A dog", `\boxed{\text{B}}`, "The answer is B, C", "答案：B", "option B is wrong", "B. a cat", "\xff(B)"} {
		f.Add(s, "a cat", "17")
	}
	f.Fuzz(func(t *testing.T, answer, x, y string) {
		choices := []Choice{{"A", x}, {"B", y}, {"C", "c"}}
		label, why := Parse("robust", answer, "", choices)
		if (label == "") == (why == "") {
			t.Fatalf("%q: %q and %q", answer, label, why)
		}
		for _, form := range Forms() {
			Parse(form, answer, "B", choices)
		}
	})
}
