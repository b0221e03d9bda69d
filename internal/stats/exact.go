package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/seed-f4525e22/skillopt/score"
)

// Wilson returns the score interval of a proportion at a two-sided level such as
// 0.95. The formula is [score.Wilson]; this takes counts and a level instead of
// a proportion and a quantile. n = 0 gives [0, 1].
func Wilson(successes, n int, level float64) (score.Interval, error) {
	if err := probability("Wilson interval", "level", level); err != nil {
		return score.Interval{}, err
	}
	if n < 0 || successes < 0 || successes > n {
		return score.Interval{}, fmt.Errorf("Wilson interval: %d successes of %d, want 0 <= successes <= trials", successes, n)
	}
	p := 0.5
	if n > 0 {
		p = float64(successes) / float64(n)
	}
	return score.Wilson(p, n, quantile((1+level)/2)), nil
}

// PValues are those of a test of "no difference". Small values of Greater speak
// for the candidate, of Less for the reference, of TwoSided for a difference in
// whichever direction.
type PValues struct {
	TwoSided float64 `json:"two_sided"`
	Greater  float64 `json:"greater"`
	Less     float64 `json:"less"`
}

// McNemarExact compares two arms by their results on the same items, right or
// wrong: wins are the items that only the candidate has right, losses those that
// only the reference has right; items on which they agree carry no information.
// Under the null hypothesis wins are binomial with probability 1/2 (Q. McNemar,
// Psychometrika 12, 1947, in the exact form). Each p-value is exact, the
// two-sided one twice the smaller tail and at most 1. Without a discordant pair
// all are 1. A negative count gives NaN, which is below no level.
//
// The p-values hold for a sample whose size was fixed beforehand. Somebody who looks
// and then decides whether to continue wants [DiscordantE].
func McNemarExact(wins, losses int) PValues {
	if wins < 0 || losses < 0 {
		return PValues{math.NaN(), math.NaN(), math.NaN()}
	}
	p := PValues{Greater: halfTail(losses, wins), Less: halfTail(wins, losses)}
	p.TwoSided = min(1, 2*min(p.Greater, p.Less))
	return p
}

// halfTail returns P(Bin(a+b, 1/2) <= a).
func halfTail(a, b int) float64 {
	if b == 0 {
		return 1
	}
	return mathext.RegIncBeta(float64(b), float64(a+1), 0.5)
}

// FisherExact compares two proportions, a of n of the candidate and b of m of the reference:
// given how many there are together, a is hypergeometric if both have the same chance,
// whatever that is (R. A. Fisher, JRSS 98, 1935). Each p-value is exact, the two-sided one
// twice the smaller tail and at most 1. Counts that cannot be give NaN, which is below no
// level.
func FisherExact(a, n, b, m int) PValues {
	if a < 0 || b < 0 || a > n || b > m {
		return PValues{math.NaN(), math.NaN(), math.NaN()}
	}
	var p PValues
	for i := max(0, a+b-m); i <= min(n, a+b); i++ {
		chance := math.Exp(logChoose(n, i) + logChoose(m, a+b-i) - logChoose(n+m, a+b))
		if i >= a {
			p.Greater += chance
		}
		if i <= a {
			p.Less += chance
		}
	}
	p.Greater, p.Less = min(1, p.Greater), min(1, p.Less)
	p.TwoSided = min(1, 2*min(p.Greater, p.Less))
	return p
}

// logChoose returns the logarithm of n over k.
func logChoose(n, k int) float64 {
	of := func(n int) float64 {
		v, _ := math.Lgamma(float64(n + 1))
		return v
	}
	return of(n) - of(k) - of(n-k)
}
