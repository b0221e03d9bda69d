package stats

import (
	"fmt"
	"math"
)

// EmpiricalBernstein is how far the true mean may lie from the mean of n
// independent observations with a sample deviation (n-1 in the denominator),
// when each lies in a range of the given width: with probability 1 - delta not
// farther on either side than the returned radius,
//
//	deviation * sqrt(2 ln(4/delta) / n) + 7 width ln(4/delta) / (3 (n-1))
//
// (A. Maurer and M. Pontil, "Empirical Bernstein Bounds and Sample Variance
// Penalization", COLT 2009, theorem 4, once for each side). It holds for one n
// that was fixed beforehand; a race looks many times and wants [RaceRadius].
// n < 2 gives [ErrTooFew].
func EmpiricalBernstein(deviation float64, n int, width, delta float64) (float64, error) {
	const name = "empirical Bernstein bound"
	if err := bernsteinInput(name, deviation, n, width, delta); err != nil {
		return 0, err
	}
	log, size := math.Log(4/delta), float64(n)
	return deviation*math.Sqrt(2*log/size) + 7*width*log/(3*(size-1)), nil
}

// RaceRadius is [EmpiricalBernstein] for somebody who looks after every
// observation: with probability 1 - delta the mean is never farther away than
// the radius, at no n >= 2. The risk is spread over all n, with
// delta/(n (n-1)) for the n-th look, which adds up to delta (V. Mnih, C.
// Szepesvári and J.-Y. Audibert, "Empirical Bernstein Stopping", ICML 2008, use
// such a series). It is wide: with one-sided evidence [Betting] needs far fewer
// observations. It never depends on how the observations are distributed.
func RaceRadius(deviation float64, n int, width, delta float64) (float64, error) {
	if err := bernsteinInput("race bound", deviation, n, width, delta); err != nil {
		return 0, err
	}
	return EmpiricalBernstein(deviation, n, width, delta/(float64(n)*float64(n-1)))
}

func bernsteinInput(name string, sd float64, n int, width, delta float64) error {
	if err := deviation(name, "the deviation", sd); err != nil {
		return err
	}
	if err := positive(name, "the width", width); err != nil {
		return err
	}
	if err := probability(name, "delta", delta); err != nil {
		return err
	}
	if n < 2 {
		return fmt.Errorf("%s: %d: %w, want at least 2", name, n, ErrTooFew)
	}
	return nil
}

// StandardError is that of the mean of m observations with a deviation, taken
// without replacement from total; total 0 means from infinitely many. The factor
// sqrt(1 - m/total) is the finite population correction (W. G. Cochran,
// "Sampling Techniques", section 2.6): the one who has seen everything has no error
// left. m < 1 gives [ErrTooFew].
func StandardError(sd float64, m, total int) (float64, error) {
	const name = "standard error"
	if err := deviation(name, "the deviation", sd); err != nil {
		return 0, err
	}
	if m < 1 {
		return 0, fmt.Errorf("%s: %d: %w, want at least 1", name, m, ErrTooFew)
	}
	if total < 0 || total > 0 && m > total {
		return 0, fmt.Errorf("%s: %d observations of %d, want at most as many as there are", name, m, total)
	}
	rest := 1.0
	if total > 0 {
		rest = 1 - float64(m)/float64(total)
	}
	return sd / math.Sqrt(float64(m)) * math.Sqrt(rest), nil
}
