package train

import (
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/score"
)

// floors are what told of the noise of a run.
func floors(w *world) []event.NoiseFloor {
	var out []event.NoiseFloor
	for _, e := range w.events {
		if n, ok := e.(event.NoiseFloor); ok {
			out = append(out, n)
		}
	}
	return out
}

// A seed skill at the floor or the ceiling cannot show what chance changes: it is measured
// with the first accepted skill that can, and what rests on it follows.
func TestNoiseIsNotBelievedWhereItCannotBeSeen(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		seed, metric string
		propose      map[int][]string
		selection    int
		flip         float64 // of the answers of skills that solve something
		at           string
		certain      bool
	}{
		"floor":                  {"", "hard", map[int][]string{1: {"rule a", "rule b"}}, 32, 0, "e1/s1", true},
		"floor, eight tasks":     {"", "hard", map[int][]string{1: {"rule a", "rule b"}}, 8, 0, "e1/s1", true},
		"floor, soft":            {"", "soft", map[int][]string{1: {"half a", "half b"}}, 32, 0, "e1/s1", true},
		"floor, a noisy server":  {"", "hard", map[int][]string{1: {"rule a", "rule b"}}, 32, 0.3, "e1/s1", false},
		"the first at the top":   {"", "hard", map[int][]string{1: {"rule a", "rule b", "rule c", "rule d"}}, 32, 0, "", false},
		"one task shows nothing": {"", "hard", map[int][]string{1: {"rule a"}, 2: {"rule b"}}, 4, 0, "e1/s2", true},
		"nothing accepted":       {"", "hard", nil, 32, 0, "", false},
		"ceiling":                {"rule a\nrule b\nrule c\nrule d\n", "hard", nil, 32, 0, "", false},
		"mid-range":              {"rule a\n", "hard", map[int][]string{1: {"rule b"}}, 32, 0, "seed", true},
		"halfway":                {"half a\nhalf b\nhalf c\nhalf d\n", "soft", map[int][]string{1: {"rule b"}}, 32, 0, "seed", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(24, tc.selection, 0)
			w.seed, w.propose = "# Skill\n"+tc.seed, tc.propose
			flips := noisy(tc.flip)
			w.forgets = func(key string) bool { return strings.HasPrefix(key, "e1/s1/noise/") && flips(key) }
			o := fresh()
			o.Projection.Metric = score.Metric(tc.metric)
			r := w.must(t, o)
			n := r.History.Noise
			seed := tc.at == "seed"
			if measured := n.Within != nil && n.Detectable != nil; measured != (tc.at != "") || !seed && n.At != tc.at {
				t.Fatalf("%+v, want it measured at %q", n, tc.at)
			}
			if n.Deterministic != tc.certain || tc.flip > 0 && *n.Within == 0 {
				t.Errorf("%+v, want deterministic %v", n, tc.certain)
			}
			told := floors(w)
			if first := told[0]; seed != (first.Detectable != nil) || !seed && first.Deterministic {
				t.Errorf("with the seed skill: %+v", first)
			}
			if want := map[bool]int{true: 2, false: 1}[n.At != ""]; len(told) != want || n.At != "" && w.rolled(n.At+"/noise/") != told[1].Twice {
				t.Errorf("measured %d times, want %d; %v", len(told), want, told)
			}
			if got := w.rolled("final/fresh/") > 0; got == tc.certain {
				t.Errorf("a fresh pass: %v; deterministic: %v", got, tc.certain)
			}
			rollouts := 0
			for _, s := range o.Plan(w.data.Sizes()) {
				if s.Stage == "rollout" {
					rollouts = s.Calls
				}
			}
			if len(w.rollouts) > rollouts {
				t.Errorf("%d rollouts, the bound is %d", len(w.rollouts), rollouts)
			}
		})
	}
}

// Until the noise is measured losses are asked afresh as if answers changed, also where a
// ceiling has no room to measure it again. An answer of the seed skill that changed, though no
// score did, is not forgotten.
func TestTheGateTakesItThatAnswersChange(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		room   int
		served bool // the seed skill's second answers come out otherwise
		asked  int  // fresh answers about a loss
	}{"measured": {1, false, 1}, "no room": {0, false, 7}, "an answer changed": {1, true, 7}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(24, 16, 0)
			w.propose = map[int][]string{1: {"rule a", "rule b"}, 2: {"rule c", "rule d", "harm a"}}
			w.pace = func(u Unit) (int, error) {
				if u.Name == UnitMore {
					return tc.room * u.Tasks, nil
				}
				return u.Tasks, nil
			}
			w.words = func(key string) string {
				if tc.served && strings.HasPrefix(key, againKey) {
					return "something else"
				}
				return "?"
			}
			o := fresh()
			o.Keep = true
			r := w.must(t, o)
			if s := r.History.Steps[2]; len(s.Losses) != 4 || s.Losses[0].Current.Of != tc.asked || s.Action != "reject" {
				t.Errorf("%s, losses %+v; noise %+v", s.Action, s.Losses, r.History.Noise)
			}
			if n := r.History.Noise; (n.Within != nil) != (tc.room > 0) || n.Deterministic != (tc.asked == 1) {
				t.Errorf("noise %+v", n)
			}
		})
	}
}

// In folds the noise is measured with what the fold of the accepting step has measured.
func TestNoiseInFoldsIsNotBelievedWhereItCannotBeSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(48, 0, 0)
	w.data = w.data.CrossFit(4, 1)
	w.propose = map[int][]string{1: {"rule a", "rule b"}}
	o := fresh()
	o.Epochs = 2
	n := w.must(t, o).History.Noise
	if n.At != "e1/s1" || n.Within == nil || n.Twice > n.Items || n.Items > 14 {
		t.Errorf("%+v", n)
	}
}

// The rule of evidence knows no gain that the tasks show as long as none of them could show
// a change.
func TestEvidenceOfUnknownNoise(t *testing.T) {
	t.Parallel()
	for seed, stops := range map[string]bool{"": false, "rule a\nrule b\nrule c\nrule d\n": true} {
		w := newWorld(24, 16, 0)
		w.seed = "# Skill\n" + seed
		o := fresh()
		o.Stop.Evidence = true
		r := w.must(t, o)
		if (r.History.Stop != nil) != stops || stops && r.History.Stop.Shown != nil {
			t.Errorf("%q: %+v", seed, r.History.Stop)
		}
	}
}
