package train_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// What an arm could not measure, or took no time, is in neither mean.
func TestCompareEffort(t *testing.T) {
	t.Parallel()
	outcome := func(kind string, seconds float64, tokens int64, turns int) trajectory.Outcome {
		return trajectory.Outcome{Type: kind, Status: score.OK, Seconds: seconds, Usage: trajectory.Usage{Input: tokens, Output: 1}, Trajectory: make([]trajectory.Turn, turns)}
	}
	lost := outcome("fault", 9, 900, 90)
	lost.Status = score.Unmeasured
	before := []trajectory.Outcome{outcome("history", 10, 99, 4), outcome("history", 20, 199, 8), outcome("fault", 30, 299, 6), lost, outcome("fault", 0, 9, 9)}
	after := []trajectory.Outcome{outcome("history", 8, 99, 2), outcome("history", 12, 99, 4), outcome("fault", 30, 299, 6), outcome("fault", 1, 1, 1), outcome("fault", 1, 1, 1)}
	got := train.CompareEffort(before, after, 1)
	if len(got) != 3 {
		t.Fatalf("%d rows, want all, fault and history: %+v", len(got), got)
	}
	all := got[0]
	if all.N != 3 || all.Turns.Before != 6 || all.Turns.After != 4 || all.Turns.Difference != -2 {
		t.Errorf("all: %+v", all)
	}
	if all.Turns.Low == nil || *all.Turns.Low >= -2 || *all.Turns.High <= -2 || *all.Turns.High > 0 {
		t.Errorf("the interval of the turns is %v", all.Turns)
	}
	// One pair has no interval, and neither have equal ones.
	want := result.Effort{Type: "fault", N: 1, Turns: result.PairedMean{Before: 6, After: 6}, Tokens: result.PairedMean{Before: 300, After: 300}, Seconds: result.PairedMean{Before: 30, After: 30}}
	if diff := cmp.Diff(want, got[1]); diff != "" {
		t.Error(diff)
	}
	if got[2].Type != "history" || got[2].Seconds.Difference != -5 {
		t.Errorf("history: %+v", got[2])
	}
	if train.CompareEffort(before[4:], after[4:], 1) != nil {
		t.Error("a model without an agent has an effort")
	}
}
