package evaluate

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Passes over a task count as one; what was not measured counts nowhere, and a kind of
// which nothing was measured has no rate.
func TestLoadRates(t *testing.T) {
	t.Parallel()
	const yes, no = trajectory.Loaded, trajectory.NotLoaded
	was := func(load trajectory.Load) trajectory.Outcome { return trajectory.Outcome{Status: score.OK, Load: load} }
	lost := trajectory.Outcome{ID: "c", Status: score.Unmeasured}
	tasks := []task.Task{{ID: "a", Trigger: task.TriggerShould}, {ID: "b", Trigger: task.TriggerShould}, {ID: "c", Trigger: task.TriggerShouldNot}}
	got := loadRates(tasks, [][]trajectory.Outcome{{was(yes), was(no), lost}, {was(yes), was(yes), lost}})
	if r := got.Should; r == nil || r.Rate != 0.75 || r.Tasks != 2 || r.Loaded != 3 || r.Evaluations != 4 || r.SE == nil || math.Abs(*r.SE-0.25) > 1e-9 {
		t.Errorf("should: %+v", r)
	}
	if diff := cmp.Diff([]string{"c"}, got.Unmeasured); diff != "" || got.ShouldNot != nil {
		t.Errorf("%s, should not: %+v", diff, got.ShouldNot)
	}
	got = loadRates(tasks, [][]trajectory.Outcome{{was(yes), lost, was(no)}})
	if got.Should.Rate != 1 || got.Should.SE != nil || got.ShouldNot.Rate != 0 || got.ShouldNot.Evaluations != 1 {
		t.Errorf("%+v %+v", got.Should, got.ShouldNot)
	}
}
