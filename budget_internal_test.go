package skillopt

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/caller"
)

// What a step takes follows the number of its tasks, also where earlier steps were larger
// (a warm start), or have rolled out nothing (in folds, what gates had measured).
func TestStepCostFollowsItsTasks(t *testing.T) {
	t.Parallel()
	calls := func(n int64) map[string]caller.Amount { return map[string]caller.Amount{"target": {Calls: n}} }
	for _, tt := range []struct {
		name  string
		cost  stepCost
		judge float64
		tasks int
		want  int64
	}{
		{"as before", stepCost{whole: calls(100), batch: calls(60), gate: calls(30), tasks: 60, reads: 30}, 30, 60, 100},
		{"smaller than before", stepCost{whole: calls(100), batch: calls(60), gate: calls(30), tasks: 60, reads: 30}, 30, 20, 60},
		{"judged to the end", stepCost{whole: calls(80), batch: calls(60), gate: calls(10), tasks: 60, reads: 10}, 30, 60, 100},
		{"without rollouts before", stepCost{whole: calls(20), batch: calls(0), gate: calls(12), reads: 12}, 16, 24, 48},
		{"nothing is known", stepCost{whole: calls(5)}, 16, 24, 5},
	} {
		tt.cost.judged(tt.judge)
		if diff := cmp.Diff(calls(tt.want), tt.cost.of(tt.tasks)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
