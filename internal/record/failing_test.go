package record

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// A failure is a rate over all draws of a task. A draw without a score is counted apart, and
// one that was never asked is not counted.
func TestFailuresAreRates(t *testing.T) {
	t.Parallel()
	draw := func(status score.Status, hard float64, why string) trajectory.Outcome {
		return trajectory.Outcome{ID: "a", Status: status, Hard: hard, FailReason: why}
	}
	var task FailingTask
	for _, o := range []trajectory.Outcome{
		draw(score.OK, 1, ""), draw(score.Unmeasured, 0, "rate_limit: busy"), draw(score.OK, 0.5, "half"), draw(score.Unmeasured, 0, ""), draw(score.OK, 0, "all"),
	} {
		task.count(o)
	}
	if diff := cmp.Diff([]any{2, 3, 1, "half"}, []any{task.Failures, task.Draws, task.Unscored, task.FailReason}); diff != "" {
		t.Error(diff)
	}
	var f Failing
	f.take(task)
	f.take(FailingTask{Outcome: trajectory.Outcome{ID: "b"}, Unscored: 2})
	if diff := cmp.Diff([]any{1, 3, 3, []string{"b"}, ", over 3 answers, without 3 draws that came without a score"}, []any{f.Tasks, f.Answers, f.Unscored, f.Unmeasured, f.Over()}); diff != "" {
		t.Error(diff)
	}
}

// A file of a run may be damaged, or made to deceive: "fails in 11 of 2 answers" is not shown.
func TestCountsThatContradictAreRefused(t *testing.T) {
	t.Parallel()
	twice := []gate.Pooled{{Sum: 1, N: 2}}
	for name, tt := range map[string]struct {
		result.Candidate
		holds bool
	}{
		"right":                     {result.Candidate{Pooled: twice, Solved: []int{1}, Unscored: []int{3}}, true},
		"none":                      {result.Candidate{Pooled: twice}, true},
		"solved too often":          {result.Candidate{Pooled: twice, Solved: []int{3}}, false},
		"solved less than never":    {result.Candidate{Pooled: twice, Solved: []int{-1}}, false},
		"drawn less than never":     {result.Candidate{Pooled: []gate.Pooled{{N: -2}}, Solved: []int{0}}, false},
		"without a score, negative": {result.Candidate{Pooled: twice, Solved: []int{1}, Unscored: []int{-1}}, false},
		"of other items":            {result.Candidate{Pooled: twice, Solved: []int{1, 1}}, false},
	} {
		if err := checkCounts(tt.Candidate, 1); (err == nil) != tt.holds {
			t.Errorf("%s: %v", name, err)
		}
	}
}
