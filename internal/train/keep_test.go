package train

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
)

// losing is a world whose first candidate wins the tasks of two types and loses those of a
// third, and whose second wins one more.
func losing() (*world, Options) {
	w := newWorld(24, 16, 4)
	w.seed = "# Skill\nrule a\n"
	w.propose = map[int][]string{1: {"rule b", "rule c", "harm a"}, 2: {"rule d"}}
	o := standard()
	o.Keep = true
	return w, o
}

func TestKeepRejectsACandidateThatLosesWhatWasWon(t *testing.T) {
	t.Parallel()
	for _, mode := range []gate.Mode{"strict"} {
		for _, deterministic := range []bool{false, true} {
			t.Run(fmt.Sprint(mode, deterministic), func(t *testing.T) {
				t.Parallel()
				w, o := losing()
				o.Gate, o.Deterministic = mode, deterministic
				r := w.must(t, o)
				if got := actions(r)[1:]; got[0] != "reject" || !strings.HasPrefix(got[1], "accept") {
					t.Fatalf("actions %v", actions(r))
				}
				s := r.History.Steps[1]
				want := gate.Passed{Passed: 0, Of: 7}
				if mode == "race" && deterministic {
					want.Of = 1
				}
				if len(s.Losses) != 4 || s.Losses[0] != (gate.Loss{ID: "s00", State: gate.LossConfirmed, Candidate: want, Current: gate.Passed{Passed: want.Of, Of: want.Of}}) {
					t.Errorf("losses: %+v", s.Losses)
				}
				if s.Phase != "keep" || !strings.Contains(s.Reason, "s00 (passes 0 of") || !strings.Contains(s.Reason, "s04") {
					t.Errorf("phase %q, reason %q", s.Phase, s.Reason)
				}
				if j := w.candidates(t)["step 1"].Judged[0]; !cmp.Equal(j.Losses, s.Losses) || j.Action != "reject" {
					t.Errorf("candidates.json: %+v", j)
				}
				var told []event.GateRead
				for _, e := range w.events {
					if g, ok := e.(event.GateRead); ok && g.Step == 1 && g.Phase == "keep" {
						told = append(told, g)
					}
				}
				if last := told[len(told)-1]; !slices.Equal(last.Lost, []string{"s00", "s04", "s08", "s12"}) || last.Action != "reject" || last.Units != 4 || last.Of != 4 || last.Losses != 4 {
					t.Errorf("event: %+v", last)
				}

				o.Keep = false
				w, _ = losing()
				if r := w.must(t, o); !strings.HasPrefix(actions(r)[1], "accept") || r.History.Steps[1].Losses != nil {
					t.Errorf("without keep: %v", actions(r))
				}
			})
		}
	}
}

// TestKeepAsksAfresh: of no skill a sample of a task is asked for twice, whatever was
// confirmed before, and what one candidate was asked says nothing of the next.
func TestKeepAsksAfresh(t *testing.T) {
	t.Parallel()
	for _, mode := range []gate.Mode{"strict"} {
		w, o := losing()
		w.propose = map[int][]string{1: {"rule b", "rule c", "harm a"}, 2: {"rule b", "rule d", "harm a"}, 3: {"rule b", "rule c", "rule d", "harm a"}}
		o.Gate = mode
		r := w.must(t, o)
		if got := actions(r)[1:]; !slices.Equal(got, []string{"reject", "reject", "reject"}) {
			t.Fatalf("%s: actions %v", mode, got)
		}
		seen := map[string]string{}
		for _, key := range w.rollouts {
			at := strings.LastIndex(key[:strings.LastIndex(key, "/")], "/") // "/s00/sample1"
			if what := w.skills[key] + key[at:]; strings.HasPrefix(key[at:], "/s") && seen[what] != "" {
				t.Errorf("%s: %s asks what %s has asked", mode, key, seen[what])
			} else {
				seen[what] = key
			}
		}
	}
}

// TestKeepWithoutAnswers: a loss that cannot be confirmed rejects nobody, is said, and is
// recorded.
func TestKeepWithoutAnswers(t *testing.T) {
	t.Parallel()
	for _, mode := range []gate.Mode{"strict"} {
		w, o := losing()
		o.Gate = mode
		w.fails = func(key string) bool {
			return strings.HasPrefix(key, "e1/s1/gate/inc/") && !strings.HasSuffix(key, "sample0")
		}
		r := w.must(t, o)
		s := r.History.Steps[1]
		if !gate.Action(s.Action).Accepted() || len(s.Losses) != 4 || s.Losses[0].State != gate.LossUnknown || !strings.Contains(s.Reason, "is not known") {
			t.Errorf("%s: %s, %s, %+v", mode, s.Action, s.Reason, s.Losses)
		}
		if !slices.Equal(s.Unmeasured, []string{"s00", "s04", "s08", "s12"}) {
			t.Errorf("%s: without %v", mode, s.Unmeasured)
		}
		if keys := w.decisions["e1/s1/gate/without"]; len(keys) != 4*6 || !strings.HasPrefix(keys[0], "e1/s1/gate/inc/s00/sample") {
			t.Errorf("%s: recorded as missing: %v", mode, keys)
		}
	}
}

// TestKeepHoldsForGuidance as for candidates.
func TestKeepHoldsForGuidance(t *testing.T) {
	t.Parallel()
	w, o := losing()
	o.Epochs, o.SlowUpdate = 2, true
	w.propose, w.guidance[2] = nil, "rule b rule c harm a"
	r := w.must(t, o)
	if e := r.History.Epochs[0]; e.SlowUpdate != "reject" || len(e.Losses) != 4 {
		t.Errorf("guidance: %+v", e)
	}
}
