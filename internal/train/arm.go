package train

import (
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Summarise returns the mean scores of the measured outcomes with their
// interval, whole and by task type.
func Summarise(out []trajectory.Outcome) result.Arm {
	var whole scores
	types := map[string]*scores{}
	for i := range out {
		o := &out[i]
		whole.add(o)
		if o.Type == "" {
			continue
		}
		if types[o.Type] == nil {
			types[o.Type] = &scores{}
		}
		types[o.Type].add(o)
	}
	arm := whole.arm()
	if len(types) > 1 {
		arm.ByType = map[string]result.Arm{}
		for name, of := range types {
			arm.ByType[name] = of.arm()
		}
	}
	return arm
}

// scores are what a summary takes from outcomes.
type scores struct {
	pairs   []score.Pair // of those that were measured
	missing []string     // ids of the others
	zeros   score.Unanswered
}

func (s *scores) add(o *trajectory.Outcome) {
	if o.Status.Measured() {
		s.pairs = append(s.pairs, score.Pair{Hard: o.Hard, Soft: o.Soft})
		s.zeros.Add(o.Unanswered())
	} else {
		s.missing = append(s.missing, o.ID)
	}
}

func (s *scores) arm() result.Arm {
	p, n := score.Mean(s.pairs), len(s.pairs)
	arm := result.Arm{Hard: p.Hard, Soft: p.Soft, N: n, Unmeasured: s.missing, Unanswered: s.zeros}
	if n > 0 {
		ci := score.Wilson(p.Hard, n, 1.959963984540054)
		arm.Low, arm.High = ci.Low, ci.High
	}
	return arm
}

// mean returns the mean of the measured outcomes and their number.
func mean(out []trajectory.Outcome) (score.Pair, int) {
	pairs := make([]score.Pair, 0, len(out))
	for _, o := range out {
		if o.Status.Measured() {
			pairs = append(pairs, score.Pair{Hard: o.Hard, Soft: o.Soft})
		}
	}
	return score.Mean(pairs), len(pairs)
}

// findMissing returns the indices of outcomes without a score.
func findMissing(out []trajectory.Outcome) []int {
	var missing []int
	for i, o := range out {
		if !o.Status.Measured() {
			missing = append(missing, i)
		}
	}
	return missing
}

// pick returns the elements at the given indices.
func pick[T any](list []T, at []int) []T {
	out := make([]T, len(at))
	for i, j := range at {
		out[i] = list[j]
	}
	return out
}

// taskIDs returns the ids of tasks.
func taskIDs(tasks []task.Task) []string {
	ids := make([]string, len(tasks))
	for i, tk := range tasks {
		ids[i] = tk.ID
	}
	return ids
}
