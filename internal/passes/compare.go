// Package passes says what scores show that were measured by asking a set of
// tasks once or several times: whether one skill is better than another, when
// that is certain enough to stop, how much more it would take, and how much a
// single skill's score owes to chance.
//
// Everything in it is pure: scores in, figures out, in the order of the tasks.
// It knows nothing about skills, models, records or how a score was made.
package passes

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/seed-f4525e22/skillopt/internal/stats"
	"github.com/seed-f4525e22/skillopt/score"
)

// Verdict is the result of a comparison of B with A.
type Verdict string

const (
	Better        Verdict = "better"          // B scores higher
	Worse         Verdict = "worse"           // B scores lower
	NoDifference  Verdict = "no_difference"   // what there is is smaller than the margin
	NotEnoughData Verdict = "not_enough_data" // none of these is certain yet
)

// Rule says when a comparison is decided.
type Rule struct {
	// Level is the probability, below 1, with which the interval of the mean
	// difference holds at all looks together: 0.95.
	Level float64
	// Margin is the largest difference that does not matter, above 0, in points of
	// the score (0.05).
	Margin float64
}

// Validate reports values that no comparison can be decided by.
func (r Rule) Validate() error {
	if !(r.Level > 0 && r.Level < 1) {
		return fmt.Errorf("a level of %v: use one between 0 and 1, such as 0.95", r.Level)
	}
	if !(r.Margin > 0 && r.Margin < 1) {
		return fmt.Errorf("a margin of %v: use one between 0 and 1, such as 0.05 for 5 points", r.Margin)
	}
	return nil
}

// Judgement is what paired differences say. The figures are nil without any.
type Judgement struct {
	Verdict Verdict
	Mean    *float64 // mean of B - A
	Low     *float64 // bounds of the mean difference, of a confidence sequence at the level of the rule
	High    *float64
	Wins    int // pairs in which B scored higher
	Losses  int
	Ties    int
}

// Judge decides on the differences B - A of pairs, each between -1 and 1, by a
// confidence sequence of their mean ([stats.Betting]): it may be asked after every
// look, and those who stop as soon as it decides are wrong no more often than the
// level allows. Pairs of one pass are one draw each from tasks like these; over
// several complete passes the mean is that over the very tasks that were asked.
func (r Rule) Judge(differences []float64) (Judgement, error) {
	if err := r.Validate(); err != nil {
		return Judgement{}, fmt.Errorf("judge: %w", err)
	}
	verdict, err := r.verdict(differences)
	if err != nil {
		return Judgement{}, fmt.Errorf("judge: %w", err)
	}
	j := Judgement{Verdict: verdict}
	if len(differences) == 0 {
		return j, nil
	}
	sum := 0.0
	for _, d := range differences {
		sum += d
		switch {
		case d > score.Negligible:
			j.Wins++
		case d < -score.Negligible:
			j.Losses++
		default:
			j.Ties++
		}
	}
	i, err := stats.Betting{}.Interval(differences, r.Level)
	if err != nil {
		return Judgement{}, fmt.Errorf("judge: %w", err)
	}
	mean := sum / float64(len(differences))
	j.Mean, j.Low, j.High = &mean, &i.Low, &i.High
	return j, nil
}

// verdict asks whether those who bet against a difference of 0, or against one as
// large as the margin, have won enough: just when the interval leaves it out.
func (r Rule) verdict(differences []float64) (Verdict, error) {
	mirror := make([]float64, len(differences))
	for i, d := range differences {
		mirror[i] = -d
	}
	limit := math.Log(2 / (1 - r.Level))
	above := func(xs []float64, m float64) (bool, error) {
		log, err := stats.Betting{}.LogWealth(xs, m)
		return log >= limit, err
	}
	for _, q := range []struct {
		verdict Verdict
		xs      []float64
	}{{Better, differences}, {Worse, mirror}} {
		if yes, err := above(q.xs, 0); yes || err != nil {
			return q.verdict, err
		}
	}
	low, err := above(differences, -r.Margin)
	if !low || err != nil {
		return NotEnoughData, err
	}
	high, err := above(mirror, -r.Margin)
	if !high || err != nil {
		return NotEnoughData, err
	}
	return NoDifference, nil
}

// mostPairs bounds the forecast of Needs.
const mostPairs = 50_000

// Needs forecasts how many times as much data would decide, if the differences
// continued as those so far: the smallest whole number of times, at least 2. ok is
// false when no number up to about 50,000 pairs would, and when the rule is
// decided already.
func (r Rule) Needs(differences []float64) (times int, ok bool, err error) {
	if len(differences) == 0 {
		return 0, false, nil
	}
	decided := func(k int) bool {
		all := make([]float64, 0, k*len(differences))
		for range k {
			all = append(all, differences...)
		}
		v, verr := r.verdict(all)
		if verr != nil {
			err = verr
		}
		return v != NotEnoughData
	}
	if decided(1) || err != nil {
		return 0, false, err
	}
	low, high := 1, 2                          // low does not suffice
	most := max(2, mostPairs/len(differences)) // the search does not go beyond this
	for !decided(high) {
		if err != nil || high >= most {
			return 0, false, err
		}
		low, high = high, min(2*high, most)
	}
	for high-low > 1 {
		if mid := (low + high) / 2; decided(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high, true, err
}

// Order returns the numbers 0 to n-1 in the random order of a seed.
func Order(n int, seed int64) []int {
	rng := rand.New(rand.NewPCG(uint64(seed), 0x636f6d7061)) // a stream of its own for comparisons
	return rng.Perm(n)
}

// smallestBlock is the fewest pairs between two looks within a pass.
const smallestBlock = 8

// Blocks returns where the looks within a first pass over n tasks are: after so
// many tasks each, about four of them, the last after n.
func Blocks(n int) []int {
	size := max(smallestBlock, (n+3)/4)
	var out []int
	for at := size; at < n; at += size {
		out = append(out, at)
	}
	if n > 0 {
		out = append(out, n)
	}
	return out
}
