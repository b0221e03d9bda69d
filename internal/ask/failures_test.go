package ask

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Equal skills are measured once: a seed skill that stayed the best is the one on test.
func TestBestOnTest(t *testing.T) {
	t.Parallel()
	sheet := func(arm, split string) record.Sheet { return record.Sheet{Arm: arm, Split: split} }
	for _, c := range []struct {
		all  []record.Sheet
		want string
	}{
		{[]record.Sheet{sheet("seed", "selection"), sheet("seed", "test")}, "seed"},
		{[]record.Sheet{sheet("best", "test"), sheet("final", "test"), sheet("seed", "test")}, "best"},
		{[]record.Sheet{sheet("skill", "selection"), sheet("skill", "test")}, "skill"},
		{[]record.Sheet{sheet("seed", "selection"), sheet("a", "test"), sheet("b", "test")}, ""},
	} {
		got := ""
		for _, s := range OnTest(c.all) {
			got += s.Arm
			if s.Split != "test" {
				t.Errorf("%v: %v", c.all, s)
			}
		}
		if got != c.want {
			t.Errorf("%v: %q", c.all, got)
		}
	}
}

// Part of a score is no solution that could be lost, and a task counts once.
func TestFailuresOfPasses(t *testing.T) {
	t.Parallel()
	f := Failures{Asked: map[string]int{}}
	take := func(id string, status score.Status, hard float64, solved bool) {
		f.take(trajectory.Outcome{ID: id, Status: status, Hard: hard}, solved, false)
	}
	take("a", score.OK, 0.5, true)
	take("a", score.OK, 0, true)
	take("a", score.OK, 1, true)
	take("b", score.OK, 0, false)
	take("c", score.Unmeasured, 0, true)
	take("c", score.Unmeasured, 0, true)
	if diff := cmp.Diff(map[string]int{"a": 3, "b": 1}, f.Asked); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]string{{"a"}, {"c"}}, [][]string{f.Lost, f.Unmeasured}); diff != "" || len(f.Failing) != 3 {
		t.Errorf("%d failing: %s", len(f.Failing), diff)
	}
}
