package passes

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed-f4525e22/skillopt/internal/stats"
	"github.com/seed-f4525e22/skillopt/score"
)

// Pool is what all evaluations of some tasks by one skill say.
type Pool struct {
	Mean        float64 // of the tasks' means: 0 without any evaluation
	Low, High   float64 // its 95 % interval over tasks like these
	Items       int     // tasks with an evaluation
	Evaluations int

	// The following are nil when no task, or only one, was evaluated twice, Within also where
	// these scores cannot show what chance changes ([Room]).
	Between *float64 // deviation of the tasks' true means
	Within  *float64 // deviation of one evaluation around its task's mean

	// Detectable is the smallest difference between two skills that a comparison
	// with as many evaluations of each shows four times in five, at a level of
	// 0.05, when the two differ alike on every task. It is nil if Within is nil or
	// 0: then nothing but the choice of tasks is left to chance.
	Detectable *float64

	Flips []int // tasks whose evaluations differ, by their number
}

// Pooled sums up evaluations: scores[i] holds those of task i, between 0 and 1.
//
// The interval is Wilson's, for as many independent evaluations as the mean is
// worth: n tasks with k evaluations each count as
// n * (between + within) / (between + within/k), from n (only the choice of tasks
// matters) to n*k (only chance does). Where tasks were evaluated more or less often
// 1/k is the mean of theirs. The split is that of [stats.VarianceSplit].
func Pooled(scores [][]float64) (Pool, error) {
	var p Pool
	sum, inverse := 0.0, 0.0
	var means []float64 // of those that were evaluated more than once
	for i, xs := range scores {
		if len(xs) == 0 {
			continue
		}
		total, flips := 0.0, false
		for _, x := range xs {
			if !(x >= 0 && x <= 1) {
				return Pool{}, fmt.Errorf("pool: task %d has the score %v, want 0 to 1", i+1, x)
			}
			total += x
			flips = flips || math.Abs(x-xs[0]) > score.Negligible
		}
		if flips {
			p.Flips = append(p.Flips, i)
		}
		p.Items++
		p.Evaluations += len(xs)
		inverse += 1 / float64(len(xs))
		sum += total / float64(len(xs))
		if len(xs) > 1 {
			means = append(means, total/float64(len(xs)))
		}
	}
	if p.Items > 0 {
		p.Mean = sum / float64(p.Items)
	}
	if err := p.spread(scores, inverse/float64(max(1, p.Items))); err != nil {
		return p, err
	}
	if len(p.Flips) == 0 && !Room(means) {
		p.Within = nil
	}
	return p, nil
}

// spread fills in what rests on the variance within tasks and between them.
// inverse is the mean of 1/k, k being the number of a task's evaluations.
func (p *Pool) spread(scores [][]float64, inverse float64) error {
	worth := float64(p.Items)
	split, err := stats.VarianceSplit(scores)
	switch {
	case errors.Is(err, stats.ErrTooFew):
	case err != nil:
		return fmt.Errorf("pool: %w", err)
	default:
		between, within := math.Sqrt(split.Between), math.Sqrt(split.Within)
		p.Between, p.Within = &between, &within
		if all := split.Between + split.Within; all > 0 {
			worth *= all / (split.Between + split.Within*inverse)
		}
		if within > 0 {
			d, err := stats.MinimumDetectable(within*math.Sqrt(2*inverse), p.Items, 0.05, 0.8)
			if err != nil {
				return fmt.Errorf("pool: %w", err)
			}
			p.Detectable = &d
		}
	}
	i := score.Wilson(p.Mean, int(worth+1e-9), score.Z95)
	p.Low, p.High = i.Low, i.High
	return nil
}
