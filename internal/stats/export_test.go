package stats

import (
	"math"
)

// Path is [Betting.LogWealth] after each observation, for somebody who looks
// every time. It has as many values as there are observations.
func (b Betting) Path(xs []float64, m float64) ([]float64, error) {
	if err := b.checkMean("betting", xs, m); err != nil {
		return nil, err
	}
	t := b.table(m)
	out := make([]float64, len(xs))
	for i, x := range xs {
		t.read(x, 1)
		out[i] = t.log()
	}
	return out, nil
}

// Variance is that of the mean of n items with k evaluations each:
//
//	(Between + Within/k) / n
//
// n or k below 1 give NaN.
func (s Split) Variance(n, k int) float64 {
	if n < 1 || k < 1 {
		return math.NaN()
	}
	return (s.Between + s.Within/float64(k)) / float64(n)
}

// Power is the probability that n paired differences with deviation sigma show
// a true mean difference at the two-sided level alpha, in the normal
// approximation (J. Cohen, "Statistical Power Analysis", chapter 2). An effect
// of 0 is shown with probability alpha. n < 1 gives [ErrTooFew].
func Power(effect, sigma float64, n int, alpha float64) (float64, error) {
	const name = "power"
	if err := finite(name, []float64{effect}); err != nil {
		return 0, err
	}
	if err := powerInput(name, sigma, n, alpha); err != nil {
		return 0, err
	}
	shift, z := effect*math.Sqrt(float64(n))/sigma, quantile(1-alpha/2)
	return phi(shift-z) + phi(-shift-z), nil
}
