package train

import (
	"context"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/skill"
)

// What a part is told of the end of the run is no less than what the end takes,
// and when the end begins it is not more than what one more skill would add. Where
// answers seem to be alike it is as much as if they were not: the part to come may
// find out.
func TestTheEndIsForeseen(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*Options)
		want   int // rollouts on the selection split at the end
	}{
		{"a race where answers change", func(o *Options) { o.Reselect = 0 }, 40},
		{"with a re-selection", func(o *Options) { o.Reselect = 3 }, 3*40 + 2*40 + 40},
		{"answers alike", func(o *Options) { o.Steady, o.Reselect = true, 3 }, 0},
		{"strict", func(o *Options) { o.Gate = "strict" }, 0},
		{"no gate", func(o *Options) { o.Gate = "off" }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(24, 40, 8)
			w.seed = "# Skill\nrule a\n"
			w.propose = map[int][]string{1: {"rule b"}, 2: {"rule c"}, 3: {"be nice"}}
			o := raced()
			o.Epochs, o.Risk, o.Steady = 1, 0, false
			tt.change(&o)
			if !o.Steady {
				w.forgets = func(key string) bool {
					return !strings.HasPrefix(key, "e1/s3/gate/cand/") && noisy(0.3)(key) // the last candidate is lucky
				}
			}
			closing := -1
			_, err := Run(context.Background(), o, Deps{
				Data: w.data, Skill: skill.New(w.seed), Roller: &rollout.Runner{Episode: w, Extra: 2}, Ask: w.ask, Record: w,
				Prompts: prompt.Default(), Files: w, Events: w.event, Health: func() error { return w.health },
				Pace: func(p Part) error {
					closing = p.Closing
					return nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			took := w.rolled("final/fresh/") + w.rolled("final/reselect/") + w.rolled("final/selection/") + w.rolled("final/gate/")
			if took != tt.want || closing < took || !o.Steady && closing > took+2*40 {
				t.Errorf("the end took %d rollouts and was foreseen with %d, want %d", took, closing, tt.want)
			}
		})
	}
}
