package rescore

import (
	"math"

	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// scoreOutcomes returns the score of outcomes as an evaluation computes it: of one pass as they
// are, of several by the means of their tasks. Nil: there are none.
func scoreOutcomes(outcomes []trajectory.Outcome) (*result.RescoredScore, error) {
	if len(outcomes) == 0 {
		return nil, nil
	}
	var byTask [][]trajectory.Outcome
	at := map[string]int{}
	for _, o := range outcomes {
		i, ok := at[o.ID]
		if !ok {
			i, byTask = len(byTask), append(byTask, nil)
			at[o.ID] = i
		}
		byTask[i] = append(byTask[i], o)
	}
	arm := train.Summarise(outcomes)
	s := arm.Score()
	if len(byTask) < len(outcomes) {
		var err error
		if s, _, err = session.PooledScore(byTask); err != nil {
			return nil, err
		}
	}
	if s == nil {
		return nil, nil
	}
	out := &result.RescoredScore{Score: *s}
	out.HardSE = standardError(byTask, func(o trajectory.Outcome) float64 { return o.Hard })
	out.SoftSE = standardError(byTask, func(o trajectory.Outcome) float64 { return o.Soft })
	return out, nil
}

// standardError returns the standard error of the mean over tasks of their means, nil if there is only one task.
func standardError(byTask [][]trajectory.Outcome, of func(trajectory.Outcome) float64) *float64 {
	n := float64(len(byTask))
	if n < 2 {
		return nil
	}
	means, mean := make([]float64, len(byTask)), 0.0
	for i, outcomes := range byTask {
		for _, o := range outcomes {
			means[i] += of(o) / float64(len(outcomes))
		}
		mean += means[i] / n
	}
	sum := 0.0
	for _, m := range means {
		sum += (m - mean) * (m - mean)
	}
	se := math.Sqrt(sum / (n - 1) / n)
	return &se
}
