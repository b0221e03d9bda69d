package train

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/schedule"
	"github.com/seed-f4525e22/skillopt/skill"
)

// What a unit is told of the end of the run is no less than what the end takes,
// and when the end begins it is not more than what one more skill would add. Where
// answers seem to be alike it is as much as if they were not: the unit to come may
// find out.
func TestTheEndIsForeseen(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*Options)
		want   int // rollouts on the selection split at the end
	}{
		{"answers change", func(o *Options) {}, 40},
		{"answers alike", func(o *Options) { o.Deterministic = true }, 0},
		{"no fresh pass", func(o *Options) { o.Fresh = false }, 0},
		{"no gate", func(o *Options) { o.Gate = "off" }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(24, 40, 8)
			w.seed = "# Skill\nrule a\n"
			w.propose = map[int][]string{1: {"rule b"}, 2: {"rule c"}, 3: {"be nice"}}
			o := fresh()
			o.Epochs, o.Deterministic = 1, false
			tt.change(&o)
			if !o.Deterministic {
				w.forgets = func(key string) bool {
					return !strings.HasPrefix(key, "e1/s3/gate/cand/") && noisy(0.3)(key) // the last candidate is lucky
				}
			}
			closing := -1
			_, err := Run(context.Background(), o, Deps{
				Data: w.data, Skill: skill.New(w.seed), Roller: &rollout.Runner{Episode: w, Extra: 2}, Ask: w.ask, Record: w,
				Prompts: prompt.Default(), Files: w, Events: w.event, Health: func() error { return w.health },
				Pace: func(p Unit) (int, error) {
					closing = p.Closing
					return p.Tasks, nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			took := w.rolled("final/fresh/") + w.rolled("final/selection/") + w.rolled("final/gate/")
			if took != tt.want || closing < took || !o.Deterministic && closing > took+2*40 {
				t.Errorf("the end took %d rollouts and was foreseen with %d, want %d", took, closing, tt.want)
			}
		})
	}
}

// Where Pace ends the loop the final evaluation follows; another error ends the run.
func TestPaceEndsTheLoop(t *testing.T) {
	t.Parallel()
	w := newWorld(24, 40, 8)
	w.seed = "# Skill\nrule a\n"
	final := false
	r, err := Run(context.Background(), fresh(), Deps{
		Data: w.data, Skill: skill.New(w.seed), Roller: &rollout.Runner{Episode: w, Extra: 2}, Ask: w.ask, Record: w,
		Prompts: prompt.Default(), Files: w, Events: w.event, Health: func() error { return w.health },
		Pace: func(p Unit) (int, error) {
			if p.Name == UnitFinal {
				final = true
				return p.Tasks, nil
			}
			return 0, ErrEnded
		},
	})
	if err != nil || !final || len(r.History.Steps) != 1 || r.History.Final == nil || !r.History.Final.EndedEarly {
		t.Errorf("error %v, final evaluation begun %v, %d steps", err, final, len(r.History.Steps))
	}
}

// A step that there is no room for as a whole has fewer tasks, as many as there is room
// for. That is recorded: whatever room there is later, the step stays as it is.
func TestAStepIsCutToItsRoom(t *testing.T) {
	t.Parallel()
	o := standard()
	o.Epochs, o.BatchSize, o.Shrinks = 3, 24, true
	w := newWorld(24, 8, 0)
	w.propose = map[int][]string{1: {"rule a"}, 2: {"rule b"}}
	units := map[int]Unit{}
	first, err := w.paced(t, o, func(p Unit) (int, error) {
		if p.Name == UnitStep {
			units[p.Step] = p
		}
		if p.Step == 2 {
			return 11, nil
		}
		return p.Tasks, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if p := units[2]; p.Tasks != 24 || p.Least != LeastTasks {
		t.Errorf("asked for room for %+v", p)
	}
	for step, want := range map[int]int{1: 24, 2: 11, 3: 24} {
		if n := w.rolled(fmt.Sprintf("e%d/s%d/mb0/rollout/", step, step)); n != want {
			t.Errorf("step %d rolled out %d tasks, want %d", step, n, want)
		}
	}
	if !w.warned("step 2 has 11 tasks and not 24") {
		t.Errorf("nobody was told: %v", w.events)
	}
	later := newWorld(24, 8, 0)
	later.propose, later.recorded, later.overlap = w.propose, w.recorded, true
	again := later.must(t, o)
	if diff := cmp.Diff(first.History, again.History); diff != "" || len(later.rollouts) != len(w.rollouts) {
		t.Errorf("resumed with more room, after %d rollouts instead of %d: %s", len(later.rollouts), len(w.rollouts), diff)
	}
}

// Steps are cut only where the size of batches is the run's to choose.
func TestAStepThatMayNotShrinkIsWhole(t *testing.T) {
	t.Parallel()
	o := standard()
	o.BatchSize = 24
	_, err := newWorld(24, 8, 0).paced(t, o, func(p Unit) (int, error) {
		if p.Name == UnitStep && (p.Tasks != 24 || p.Least != 24) {
			return 0, fmt.Errorf("asked for room for %+v", p)
		}
		return p.Tasks, nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestBatchesAreCutBySimilarity(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var whole []schedule.Batch
		for range rapid.IntRange(1, 4).Draw(t, "microbatches") {
			whole = append(whole, schedule.Batch{Items: make([]int, rapid.IntRange(1, 40).Draw(t, "tasks"))})
		}
		all := countTasks(whole)
		n := rapid.IntRange(0, all).Draw(t, "room")
		cut := cutTo(whole, n)
		if got := countTasks(cut); got > n+len(whole) || got < n-len(whole) || countTasks(whole) != all {
			t.Errorf("%d of %d tasks became %d", n, all, got)
		}
		for i, b := range cut {
			if len(b.Items) == 0 || len(b.Items) > len(whole[i].Items) {
				t.Errorf("microbatch %d has %d tasks of %d", i, len(b.Items), len(whole[i].Items))
			}
		}
	})
}
