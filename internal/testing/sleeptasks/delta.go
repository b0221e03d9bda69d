package sleeptasks

import (
	"math"

	"github.com/seed-f4525e22/skillopt/score"
)

// How a task went with a candidate.
const (
	Improved  = "improved"
	Regressed = "regressed"
	Unchanged = "unchanged"
)

// Delta compares a candidate with the baseline on one task.
type Delta struct {
	TaskID    string
	Baseline  *float64 // nil: unmeasured, or no finite number
	Candidate *float64
	Status    string // Regressed too where one of them is not there
	Finite    bool   // both are numbers
}

// Deltas compares a candidate with the baseline on tasks, by their ids, by a score. What is
// not measured counts as lost.
func Deltas(ids []string, baseline, candidate map[string]score.Pair, by score.Projection) ([]Delta, error) {
	if err := by.Validate(); err != nil && by.Metric != score.Mixed { // its weight is brought within 0 and 1
		return nil, err
	}
	out := []Delta{}
	for _, id := range ids {
		before, measured := baseline[id]
		after, again := candidate[id]
		d := Delta{TaskID: id, Status: Regressed}
		was, is := by.Of(before, 0), by.Of(after, 0)
		if measured {
			d.Baseline = number(was)
		}
		if again {
			d.Candidate = number(is)
		}
		if d.Finite = measured && again && finite(was) && finite(is); d.Finite {
			switch {
			case is > was:
				d.Status = Improved
			case is == was:
				d.Status = Unchanged
			}
		}
		out = append(out, d)
	}
	return out, nil
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// number is a number, nil if it is not finite.
func number(f float64) *float64 {
	if !finite(f) {
		return nil
	}
	return &f
}
