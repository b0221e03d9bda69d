package gate

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed-f4525e22/skillopt/score"
)

// Pooled sums up all evaluations of one item by one arm, as gate scores without
// the bonus for density.
type Pooled struct {
	Sum float64 `json:"sum"`
	N   int     `json:"n"` // evaluations; 0: never measured
}

// Mean returns the mean of the evaluations. There is none without any: ask N first.
func (p Pooled) Mean() float64 { return p.Sum / float64(p.N) }

// pairs adds up hard and soft scores.
type pairs struct {
	sum score.Pair
	n   int
}

func (p *pairs) add(pair score.Pair) {
	p.sum.Hard += pair.Hard
	p.sum.Soft += pair.Soft
	p.n++
}

func (p *pairs) mean() score.Pair {
	return score.Pair{Hard: p.sum.Hard / float64(p.n), Soft: p.sum.Soft / float64(p.n)}
}

// checkPast refuses lists that belong to other items, and sums that are none.
func checkPast(t Trial) error {
	n := len(t.Items)
	var errs []error
	length := func(what string, got int) {
		if got != n {
			errs = append(errs, fmt.Errorf("%d %s for %d items", got, what, n))
		}
	}
	if t.Types != nil {
		length("task types", len(t.Types))
	}
	if t.Clusters != nil {
		length("group names", len(t.Clusters))
	}
	if t.PastScores != nil {
		length("sums of the candidate's scores", len(t.PastScores))
		length("pooled evaluations behind them", len(t.Past[Candidate]))
	}
	for _, arm := range []Arm{Candidate, Incumbent} {
		if past, ok := t.Past[arm]; ok {
			length(fmt.Sprintf("pooled evaluations of arm %q", arm), len(past))
			errs = append(errs, checkPooled(arm, past))
		}
		if passed, ok := t.Passed[arm]; ok {
			length(fmt.Sprintf("counts of what passed of arm %q", arm), len(passed))
			length(fmt.Sprintf("pooled evaluations behind them of arm %q", arm), len(t.Past[arm]))
		}
		if next, ok := t.Next[arm]; ok {
			length(fmt.Sprintf("sample numbers of arm %q", arm), len(next))
		}
	}
	return errors.Join(errs...)
}

func checkPooled(arm Arm, past []Pooled) error {
	for i, p := range past {
		if p.N < 0 || p.N == 0 && p.Sum != 0 || math.IsNaN(p.Sum) || math.IsInf(p.Sum, 0) {
			return fmt.Errorf("pooled evaluations of arm %q, item %d: a sum of %v over %d", arm, i+1, p.Sum, p.N)
		}
	}
	return nil
}
