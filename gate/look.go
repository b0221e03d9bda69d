package gate

import (
	"fmt"
	"math"

	"github.com/seed-f4525e22/skillopt/internal/stats"
	"github.com/seed-f4525e22/skillopt/score"
)

// LookTest names the test of a [Look].
type LookTest string

const (
	// LookExact is McNemar's test in its exact form, one-sided: of the items that only
	// one of the two has right, are there too many of the candidate's? It is for scores
	// that are 0 or 1. What the items of a cluster do not agree in counts for the reference.
	LookExact LookTest = "exact"
	// LookBound is a bound of the mean difference that holds at any sample size, whatever
	// the scores between 0 and 1 are ([stats.Single]).
	LookBound LookTest = "bound"
)

// pointStep is the step, in gate-score points, in which a lower bound is looked for.
const pointStep = 0.001

// LevelOf returns the level of the kth reading of the same items, k from 1: 0.8 of alpha, then 0.1,
// 0.05 and so on of it. All readings together are wrong with a probability of at most alpha.
func LevelOf(alpha float64, k int) float64 {
	if k <= 1 {
		return alpha * 8 / 10
	}
	level := alpha * 2 / 10
	for range k - 1 {
		level /= 2
	}
	return level
}

// Look is a test of the claim that a candidate is better than a reference, by a sample
// of fixed size that is looked at once. Evidence that is looked at again, or carried
// on, is a [Certificate].
type Look struct {
	Test  LookTest
	Level float64 // the probability that Certified or Low is wrong

	N      int // a cluster counts once
	Wins   int
	Losses int
	Ties   int

	P         *float64 // of LookExact: the probability of this number of wins or more, were the candidate no better
	Wealth    *float64 // of LookBound: certified at 1/Level, which it does not pass
	Certified bool
	// Low is a lower bound of the mean difference, nil unless certified. It may be 0.
	Low *float64

	Differences []float64 // a cluster as one
}

// LookOnce tests pairs at a level. Which test it is must be settled before a score is known.
// LookExact counts a difference that is no whole number as the whole number below,
// which makes it stricter and never wrong. It fails for a level outside (0, 1), and for
// scores as [Certify] does.
func LookOnce(pairs []Pair, test LookTest, level float64) (Look, error) {
	if !(level > 0 && level < 1) {
		return Look{}, fmt.Errorf("look once: a level of %v: use one between 0 and 1, such as 0.05", level)
	}
	diffs, err := differences(pairs)
	if err != nil {
		return Look{}, fmt.Errorf("look once: %w", err)
	}
	out := Look{Test: test, Level: level, N: len(diffs), Differences: diffs}
	switch {
	case test == LookBound:
		err = out.bound()
	case test == LookExact:
		out.exact()
	default:
		err = fmt.Errorf("test %q is unknown: use %s or %s", test, LookExact, LookBound)
	}
	if err == nil {
		err = out.low()
	}
	if err != nil {
		return Look{}, fmt.Errorf("look once: %w", err)
	}
	return out, nil
}

// exact tests the whole numbers below the differences: their mean is not above that of the
// differences.
func (l *Look) exact() {
	for _, d := range l.Differences {
		switch {
		case d >= 1-score.Negligible:
			l.Wins++
		case d < -score.Negligible:
			l.Losses++
		default:
			l.Ties++
		}
	}
	p := stats.McNemarExact(l.Wins, l.Losses).Greater
	l.P, l.Certified = &p, p <= l.Level
}

func (l *Look) bound() error {
	for _, d := range l.Differences {
		switch {
		case d > score.Negligible:
			l.Wins++
		case d < -score.Negligible:
			l.Losses++
		default:
			l.Ties++
		}
	}
	wealth, err := stats.Single{Level: l.Level}.Wealth(l.Differences, 0)
	l.Wealth, l.Certified = &wealth, wealth >= 1/l.Level
	return err
}

// low sets Low. "Above 0" has been tested; the bound continues from there at the same level.
func (l *Look) low() error {
	if !l.Certified {
		return nil
	}
	low, err := stats.Single{Level: l.Level}.Lower(l.Differences, 0, pointStep)
	low = math.Round(low/pointStep) / (1 / pointStep) // 0.344 and not 0.34400000000000003
	l.Low = &low
	return err
}
