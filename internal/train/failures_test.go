package train

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
)

// Each rejected candidate of a step has its own causes, one that is accepted has none.
func TestEachRejectedCandidateHasItsCauses(t *testing.T) {
	t.Parallel()
	w := newWorld(8, 40, 8)
	w.seed = "# Skill\nrule b\nrule c\nrule d\n"
	w.propose = map[int][]string{1: {"rule a", "harm b", "harm c", "harm d"}}
	keeps(w, "0")
	s := w.must(t, again()).History.Steps[1]
	lost := result.CauseCounts{{Cause: score.OtherAnswer, Failed: 30, Lost: 30}}
	if s.Action != "accept_new_best" || s.Failures != nil || len(s.Candidates) != 2 || s.Candidates[1].Failures != nil {
		t.Errorf("what was accepted has failures: %s, %+v", s.Action, s)
	} else if diff := cmp.Diff(lost, s.Candidates[0].Failures); diff != "" {
		t.Errorf("the rejected one (-want +got):\n%s", diff)
	}
}

// Guidance that the gate rejects has them too.
func TestRejectedGuidanceHasItsCauses(t *testing.T) {
	t.Parallel()
	w := newWorld(8, 40, 0)
	w.seed = "# Skill\nrule a\nrule b\n"
	w.guidance[2] = "harm a"
	e := w.must(t, epochs(2)).History.Epochs[0]
	want := result.CauseCounts{{Cause: score.OtherAnswer, Failed: 30, Lost: 10}}
	if diff := cmp.Diff(want, e.Failures); diff != "" || e.SlowUpdate != "reject" {
		t.Errorf("%s (-want +got):\n%s", e.SlowUpdate, diff)
	}
}
