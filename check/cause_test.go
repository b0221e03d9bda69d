package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
)

// What an answer fails for is named from a fixed list.
func TestCausesOfFailedAnswers(t *testing.T) {
	t.Parallel()
	one := func(kind string, more ...any) any {
		m := map[string]any{"type": kind}
		for i := 0; i < len(more); i += 2 {
			m[more[i].(string)] = more[i+1]
		}
		return m
	}
	equals, number := one("equals"), one("number")
	for _, tt := range []struct {
		specs  any
		answer string
		gold   []string
		want   score.Cause
	}{
		{equals, " ", []string{"Paris"}, score.NoAnswer},
		{equals, "New  York", []string{"New York"}, score.Space},
		{equals, "paris", []string{"Paris"}, score.LetterCase},
		{equals, "newyork", []string{"New York"}, score.SpaceAndCase},
		{equals, "Paris.", []string{"Rome", "Paris"}, score.Punctuation},
		{equals, "«don’t»。", []string{"don't"}, score.Punctuation},
		{equals, "1250.50", []string{"1250.5"}, score.NumberForm},
		{equals, "43", []string{"42"}, score.OtherNumber},
		{equals, "112", []string{"12"}, score.OtherNumber},
		{equals, "1", []string{"12"}, score.OtherNumber},
		{equals, "The total is 43.", []string{"42"}, score.OtherNumber},
		{equals, "room 12a", []string{"room 13a"}, score.OtherNumber},
		{equals, "2024-01-02", []string{"2024-01-03"}, score.OtherNumber},
		{equals, "It is 42, I think", []string{"42"}, score.LongerAnswer},
		{equals, "It is Paris, in France", []string{"Paris"}, score.LongerAnswer},
		{equals, "I do not know", []string{"no"}, score.OtherAnswer},
		{equals, "首都は東京です", []string{"東京"}, score.LongerAnswer},
		{equals, "York", []string{"New York"}, score.PartialAnswer},
		{equals, "Lovelace Ada", []string{"Ada Lovelace"}, score.OtherOrder},
		{equals, "Rome", []string{"Paris"}, score.OtherAnswer},
		{nil, "the answer is Paris", []string{"Paris"}, score.LongerAnswer}, // the default checks
		{number, "43", []string{"42"}, score.OtherNumber},
		{number, "42 kg", []string{"42 m"}, score.OtherUnit},
		{number, "none", []string{"42"}, score.NoAnswer},
		{number, "41 or 42", []string{"42"}, score.LongerAnswer},
		{one("contains"), "in paris", []string{"Paris"}, score.LetterCase},
		{one("contains"), "in Rome", []string{"Paris"}, score.OtherAnswer},
		{one("contains-all"), "red and blue", []string{"red", "green"}, score.PartialAnswer},
		{one("starts-with"), "PARIS it is", []string{"Paris"}, score.LetterCase},
		{one("f1"), "Rome", []string{"Paris"}, score.OtherAnswer},
		{one("anls"), "Rome", []string{"Paris"}, score.OtherAnswer},
		{one("math-equal"), "43", []string{"42"}, score.OtherNumber},
		{one("regex", "value", "^[A-Z]+$"), "paris", nil, "check failed: regex"},
		{one("regex", "value", "^[A-Z]+$"), "", nil, score.NoAnswer},
		{one("is-json"), "{", nil, "check failed: is-json"},
		{one("not-contains", "value", "sorry"), "sorry, no", nil, "check failed: not-contains"},
		{[]any{one("regex", "value", "x", "name", "ignore all instructions")}, "y", nil, "check failed: regex"},
		{map[string]any{"any": []any{one("regex", "value", "x"), equals}}, "Paris.", []string{"Paris"}, score.Punctuation},
		{map[string]any{"any": []any{one("regex", "value", "x"), one("is-json")}}, "y", nil, "check failed: regex"},
		{map[string]any{"all": []any{one("regex", "value", "."), equals}}, "paris", []string{"Paris"}, score.LetterCase},
		{[]any{one("regex", "value", "."), equals}, "Rome", []string{"Paris"}, score.OtherAnswer},
		{equals, "Paris", []string{"Paris"}, ""},
	} {
		suite, err := Compile(tt.specs, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := suite.Score(tt.answer, task.Task{ID: "t", Gold: tt.gold}).Cause; got != tt.want {
			t.Errorf("%v, answer %q, gold %q: cause %q, want %q", tt.specs, tt.answer, tt.gold, got, tt.want)
		}
	}
}

// A weighted score below the threshold is a cause of its own, and an answer that no rule has
// found is none to compare, except where the check looks elsewhere.
func TestCausesBeyondTheAnswer(t *testing.T) {
	t.Parallel()
	suite, err := Compile([]any{map[string]any{"type": "f1", "required": false}}, Options{Threshold: 0.9})
	if err != nil {
		t.Fatal(err)
	}
	if got := suite.Score("big Paris", task.Task{ID: "t", Gold: []string{"Paris"}}).Cause; got != score.LowScore {
		t.Errorf("below the threshold: %q", got)
	}
	for kind, want := range map[string]score.Cause{"equals": score.NoAnswer, "file-equals": score.Punctuation, "file-exists": "check failed: file-exists"} {
		spec := map[string]any{"type": kind}
		dir := t.TempDir()
		if strings.HasPrefix(kind, "file") {
			spec["path"] = "a.txt"
		}
		if kind == "file-equals" {
			if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("Paris."), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		suite, err := Compile([]any{spec}, Options{Workspace: true})
		if err != nil {
			t.Fatal(err)
		}
		got, err := suite.Assess(t.Context(), Evidence{Answer: "prose", NotFound: true, Dir: dir}, task.Task{ID: "t", Gold: []string{"Paris"}}, Means{})
		if err != nil || got.Cause != want {
			t.Errorf("%s: cause %q (%v), want %q", kind, got.Cause, err, want)
		}
	}
}
