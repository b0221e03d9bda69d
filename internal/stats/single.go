package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Single tests the mean of a sample whose size was fixed beforehand, once: is it above
// m, though each observation may be any number between -1 and 1? It is to
// [Betting] what McNemar's test is to [DiscordantE]: nothing is paid for looks that
// no one takes.
//
// Somebody bets on each observation x in turn against a mean of at most m. The wealth
// begins at 1 and is multiplied by 1 + lambda * (x-m)/(1+m), with a stake lambda
// from 0 to 1 that depends on earlier observations alone. If the mean is at most m
// no one can expect to gain, so the wealth reaches 1/Level with a probability of at
// most Level (Markov), at any sample size and for any distribution of independent
// observations. The stake aims at just 1/Level and not beyond,
//
//	lambda = sqrt(2 * log(what the wealth must still be multiplied by) / (v * observations to come))
//
// with v the mean square of the observations so far: a wealth that either ends at
// its aim or is lost leaves nothing of the bound unused (V. Voráček and F. Orabona,
// "STaR-Bets", NeurIPS 2025).
//
// The order is drawn from the size of the sample alone. Sorting a sample by the observed
// values breaks the promise.
type Single struct {
	// Level is the probability of a wrong success, between 0 and 1.
	Level float64
}

// v begins with this number of observations, which have this mean square.
const (
	singlePrior  = 10
	singleSquare = 0.2
)

// Wealth returns the wealth against "the mean is at most m". It is at most 1/Level: it ends where
// that is reached. m is more than -1 and less than 1.
func (s Single) Wealth(xs []float64, m float64) (float64, error) {
	const name = "single look"
	if err := probability(name, "the level", s.Level); err != nil {
		return 0, err
	}
	if !(m > -1 && m < 1) {
		return 0, fmt.Errorf("%s: the mean to bet against is %v, want more than -1 and less than 1", name, m)
	}
	if err := (Betting{}).check(name, xs); err != nil {
		return 0, err
	}
	return s.wealth(inOrder(xs), m), nil
}

// Lower returns a lower bound of the mean that holds with probability 1-Level. It finds the bound
// in steps: the mean is above from, from+step and so on, as long as the test of each succeeds. The
// first that fails ends the search, so all that is claimed is wrong no more often than one test.
// Where "above from" is claimed by another test at the same level, this one begins with from+step.
// It returns from if already that fails.
func (s Single) Lower(xs []float64, from, step float64) (float64, error) {
	if err := positive("single look", "the step", step); err != nil {
		return 0, err
	}
	if _, err := s.Wealth(xs, from); err != nil {
		return 0, err
	}
	ordered, bound := inOrder(xs), from
	for i := 1; from+float64(i)*step < 1; i++ {
		m := from + float64(i)*step
		if s.wealth(ordered, m) < 1/s.Level {
			break
		}
		bound = m
	}
	return bound, nil
}

func (s Single) wealth(xs []float64, m float64) float64 {
	aim, wealth, squares := 1/s.Level, 1.0, 0.0
	for i, x := range xs {
		gain := (x - m) / (1 + m)
		v := (singlePrior*singleSquare + squares) / float64(singlePrior+i)
		stake := min(1, math.Sqrt(2*math.Log(aim/wealth)/(v*float64(len(xs)-i))))
		wealth *= 1 + stake*max(-1, gain)
		switch {
		case wealth >= aim:
			return aim
		case wealth <= 0:
			return 0
		}
		squares += gain * gain
	}
	return wealth
}

// inOrder shuffles a copy, in the same way for each size.
func inOrder(xs []float64) []float64 {
	out := make([]float64, len(xs))
	for i, j := range rand.New(rand.NewPCG(1, uint64(len(xs)))).Perm(len(xs)) {
		out[i] = xs[j]
	}
	return out
}
