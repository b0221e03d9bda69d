package train

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/schedule"
)

// warmed are options of two epochs of four steps over 32 tasks, of which the first is warm.
func warmed(tasks int) Options {
	o := fresh()
	o.Epochs, o.BatchSize, o.Minibatch = 2, 8, 4
	o.Warm = tasks
	return o
}

// rolledOut are the train tasks of a step, in no order.
func (w *world) rolledOut(step string) []string {
	var out []string
	for _, key := range w.rollouts {
		if rest, ok := strings.CutPrefix(key, step+"/mb0/rollout/"); ok {
			out = append(out, strings.Split(rest, "/")[0])
		}
	}
	slices.Sort(out)
	return out
}

func TestAWarmStartSeesTheWholeTrainSplit(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ tasks, want int }{{32, 32}, {20, 20}, {1000, 32}, {3, 8}} {
		w := newWorld(32, 20, 0)
		w.propose = map[int][]string{1: {"rule a", "rule b", "rule c", "rule d", "nothing 1", "nothing 2"}}
		o := warmed(tc.tasks)
		o.Budget = 1
		r := w.must(t, o)
		first := w.rolledOut("e1/s1")
		if len(first) != tc.want || len(slices.Compact(first)) != tc.want {
			t.Errorf("%d tasks: the first step has %d: %v", tc.tasks, len(first), first)
		}
		if n := len(w.rolledOut("e1/s2")); n != 8 {
			t.Errorf("%d tasks: the second step has %d, want 8", tc.tasks, n)
		}
		s := r.History.Steps[1]
		if s.Budget != nil || s.Ranked != 6 || s.Action != "accept_new_best" {
			t.Errorf("%d tasks: %s with %d edits, budget %v; want all six, and no budget", tc.tasks, s.Action, s.Ranked, s.Budget)
		}
	}
}

// A warm start that makes things worse is refused as any candidate is.
func TestAWarmStartIsJudged(t *testing.T) {
	t.Parallel()
	w := newWorld(32, 40, 0)
	w.seed = "# Skill\nrule a\nrule b\n"
	w.propose = map[int][]string{1: {"harm a"}}
	r := w.must(t, warmed(32))
	if s := r.History.Steps[1]; s.Action != "reject_early" && s.Action != "reject" {
		t.Errorf("%s: %s", s.Action, s.Reason)
	}
}

// A warm start takes its tasks in the order in which the epoch draws them, each once.
func TestAWarmStartIsDrawnByTheEpoch(t *testing.T) {
	t.Parallel()
	s := &sampler{opts: warmed(15), data: newWorld(32, 20, 0).data}
	all := []schedule.Batch{{Items: []int{3, 1, 2, 0, 4, 5, 6, 7}}, {Items: []int{8, 9, 1, 10, 11, 12, 13, 14}}}
	got := s.step(1, 0, all)
	if len(got) != 1 || !slices.Equal(got[0].Items, []int{3, 1, 2, 0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}) {
		t.Errorf("%v", got)
	}
	if got := s.step(2, 0, all); !slices.Equal(got[0].Items, all[0].Items) {
		t.Errorf("second epoch: %v", got)
	}
}
