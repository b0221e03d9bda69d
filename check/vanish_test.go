package check

import (
	"testing"

	"github.com/seed-f4525e22/skillopt/task"
)

// An accepted answer of which the form of a check leaves nothing is compared as it is, unless the check lets an empty answer
// pass. It stops nothing, and it is named.
func TestVanishedGold(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		checks, gold, right, wrong string
		empty                      float64 // score of an empty answer
	}{
		{"[{type: equals, normalize: squad}]", "A", "a", "The", 0},
		{"[{type: equals, normalize: squad, empty: pass}]", "A", "the", "B", 1},
		{"[{any: [{type: equals, normalize: text}, {type: equals, normalize: squad}]}]", "The", "the", "a", 0},
		{"[{type: equals, normalize: plain}]", "?", "?", "!", 0},
		{"[{type: equals, normalize: sealqa}]", "+", "+", "*", 0},
		{"[{type: equals, normalize: mathtext}]", "$", "$", "{}", 0},
		{"[math-equal]", "$", "$", "{}", 0},
	} {
		s, one := suite(t, tt.checks, Options{}), task.Task{ID: "t", Gold: []string{tt.gold, "Oslo"}}
		gold, pass, err := s.Vanished(one)
		if err != nil || len(gold) != 1 || gold[0] != tt.gold || pass != (tt.empty == 1) {
			t.Errorf("%s: %v: %q, an empty answer passes: %v", tt.checks, err, gold, pass)
		}
		if err := s.Check(one); err != nil {
			t.Errorf("%s: %v", tt.checks, err)
		}
		for answer, want := range map[string]float64{tt.right: 1, tt.wrong: 0, "": tt.empty, "Oslo": 1} {
			if got := s.Score(answer, one).Hard; got != want {
				t.Errorf("%s: %q scores %v, gold %q", tt.checks, answer, got, tt.gold)
			}
		}
	}
}
