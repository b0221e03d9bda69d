package night_test

import (
	"fmt"
	"testing"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
)

// Without a gate nobody asks selection tasks, nothing has a score, and what comes of it is a suggestion at best.
func TestTrap12WithoutAGate(t *testing.T) {
	t.Parallel()
	for _, n := range []int{4, 16} {
		for _, explore := range []bool{true, false} {
			if n == 4 && !explore {
				continue // too few to train: they are observed
			}
			h := newHome(t, small())
			p := &pupil{rules: []string{pupilRule}, parts: func(_ string, ruled bool, _ int) int { return right(ruled) }}
			var names []string
			for i := range n {
				names = append(names, fmt.Sprintf("task%02d", i))
			}
			pupilTasks(h, names...)
			stages := map[string]int{}
			r := p.explored(h, func(o *night.Options) {
				o.Explore, o.Config.Gate.Mode = explore, "off"
				o.Events = func(e event.Event) {
					if e, ok := e.(event.OutcomeDone); ok {
						stages[e.Stage]++
					}
				}
			})
			got := r.Targets[0]
			c := got.Consolidation
			if got.Outcome != night.Suggested || c.Accepted || got.Confirmed != nil || got.Test != nil || got.Baseline != nil {
				t.Errorf("%d tasks, explore %t: %s: %s, confirmed %+v, baseline %+v", n, explore, got.Outcome, got.Reason, got.Confirmed, got.Baseline)
			}
			if c.BaselineScore != nil || c.CandidateScore != nil || c.HoldoutBaseline != nil || c.HoldoutCandidate != nil {
				t.Errorf("%d tasks, explore %t: scores: %+v", n, explore, c)
			}
			if open := got.Groups.Open; len(stages) != 1 || stages["rollout"] != open || open < 4 {
				t.Errorf("%d tasks, explore %t: outcomes %v of %d clusters", n, explore, stages, open)
			}
			if d := h.diagnostics(r.ID).Tasks; len(d) > 0 {
				t.Errorf("%d tasks, explore %t: judged: %+v", n, explore, d)
			}
			if _, err := night.Open(h.dir, h.project, r.ID); err != nil {
				t.Errorf("%d tasks, explore %t: the suggestion is not staged: %v", n, explore, err)
			}
		}
	}
}
