package prune

import (
	"fmt"
	"math"

	"github.com/seed-f4525e22/skillopt/internal/stats"
	"github.com/seed-f4525e22/skillopt/score"
)

// Verdict says what a rule does for the score.
type Verdict string

const (
	Needed  Verdict = "needed"  // without it the score falls
	Useless Verdict = "useless" // without it the score does not fall by as much as the margin
	Harmful Verdict = "harmful" // without it the score rises
	Unclear Verdict = "unclear" // not enough was measured to say
)

// Removable reports whether a rule with this verdict may go.
func (v Verdict) Removable() bool { return v == Useless || v == Harmful }

// Settings are what decisions go by.
type Settings struct {
	Margin        float64 // largest loss of score that does not matter, more than 0 and less than 1
	Level         float64 // of the intervals, such as 0.95
	Passes        int     // evaluations of an item by an arm, on average, at most; at least 1
	Deterministic bool    // the target may be expected to give the same answer every time
	// Together: where answers change, what may go is tried together.
	Joint    bool
	Variance float64 // of a difference between texts that are alike, as other answers have shown it
}

// Validate names what is out of its range.
func (s Settings) Validate() error {
	switch {
	case !(s.Margin > 0 && s.Margin < 1):
		return fmt.Errorf("a margin of %v, allowed: more than 0 and less than 1, such as 0.05", s.Margin)
	case !(s.Level > 0 && s.Level < 1):
		return fmt.Errorf("a level of %v, allowed: more than 0 and less than 1, such as 0.95", s.Level)
	case s.Passes < 1:
		return fmt.Errorf("%d passes, allowed: 1 or more", s.Passes)
	}
	return nil
}

// Effect is how much better the shorter of two texts is, in gate-score points from
// -1 to 1. What was not measured is nil.
type Effect struct {
	Difference *float64 // mean over the pairs
	Low, High  *float64 // it is between them at the level of the settings, however often one looked

	Pairs  int // evaluations of a task by both; the tasks of a cluster count as one
	Wins   int // pairs in which the shorter text scores higher
	Losses int
	Ties   int

	Refused [2]score.Unanswered // answers of the shorter text and of the longer one that were refused or late
}

// doubt is how many standard errors a text may be behind and still count as no
// worse, however small the loss: a rule that a few tasks need is below the margin
// too. Measured in simulated worlds, see docs/config.md.
const doubt = 2.5

// newEffect sums up the differences of pairs, with the interval that bets give.
func newEffect(differences []float64, bets stats.Betting, level float64) (Effect, error) {
	e := Effect{Pairs: len(differences)}
	if e.Pairs == 0 {
		return e, nil
	}
	sum := 0.0
	for _, d := range differences {
		sum += d
		switch {
		case d > score.Negligible:
			e.Wins++
		case d < -score.Negligible:
			e.Losses++
		default:
			e.Ties++
		}
	}
	mean := sum / float64(e.Pairs)
	i, err := bets.Interval(differences, level)
	if err != nil {
		return e, fmt.Errorf("interval of a difference: %w", err)
	}
	e.Difference, e.Low, e.High = &mean, &i.Low, &i.High
	return e, nil
}

// verdict returns what an effect says of what was left out.
func (s Settings) verdict(e Effect, differences []float64) Verdict {
	switch {
	case e.Difference == nil:
		return Unclear
	case *e.High < -score.Negligible:
		return Needed
	case *e.Low > score.Negligible:
		return Harmful
	case *e.Low > -s.Margin && *e.Difference >= -doubt*standardError(differences)-score.Negligible:
		return Useless
	}
	return Unclear
}

// inferior says whether the shorter text is worse than the margin allows, or
// surely not; ok is false while neither is known.
func (s Settings) inferior(e Effect) (worse, ok bool) {
	switch {
	case e.Difference == nil:
		return false, false
	case *e.Low > -s.Margin:
		return false, true
	case *e.High < -s.Margin:
		return true, true
	}
	return false, false
}

// standardError returns the standard error of the mean of some differences, 0 for fewer than two.
func standardError(differences []float64) float64 {
	n := float64(len(differences))
	if n < 2 {
		return 0
	}
	pairs := make([]score.Pair, len(differences))
	for i, d := range differences {
		pairs[i].Hard = d
	}
	mean, squares := score.Mean(pairs).Hard, 0.0
	for _, d := range differences {
		squares += (d - mean) * (d - mean)
	}
	return math.Sqrt(squares / (n - 1) / n)
}
