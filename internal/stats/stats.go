// Package stats holds the statistics behind the figures that the product prints:
// intervals, tests, evidence that may be looked at as often as one likes, and
// what a sample of a given size can show at all.
//
// All functions are pure, may be called concurrently, and depend on no clock and
// no hidden source of randomness: where numbers are drawn the seed is an
// argument. Input that is no number or lies outside its range is refused with an
// error that names it, and a sample too small for a method with [ErrTooFew]; a
// figure is never made up. The package knows nothing about skills, tasks, arms
// or gates, and nothing about how a score was made.
package stats

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// ErrTooFew says that there are too few observations for the method. The figure
// is absent then, not zero.
var ErrTooFew = errors.New("too few observations")

// ErrNoSpread says that all observations are equal, from which a resampling
// method would conclude that nothing else can happen. [Betting.Interval] gives
// an honest interval for such a sample.
var ErrNoSpread = errors.New("all observations are equal")

// finite refuses values that are no numbers. The name is that of the method.
func finite(name string, xs []float64) error {
	for i, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%s: observation %d is %v, want a finite number", name, i, x)
		}
	}
	return nil
}

// probability refuses what is not strictly between 0 and 1.
func probability(name, what string, p float64) error {
	if !(p > 0 && p < 1) {
		return fmt.Errorf("%s: %s is %v, want more than 0 and less than 1", name, what, p)
	}
	return nil
}

// positive refuses what is not a finite number above 0.
func positive(name, what string, x float64) error {
	if !(x > 0) || math.IsInf(x, 1) {
		return fmt.Errorf("%s: %s is %v, want a finite number above 0", name, what, x)
	}
	return nil
}

// deviation refuses what is not a finite number of at least 0.
func deviation(name, what string, x float64) error {
	if !(x >= 0) || math.IsInf(x, 1) {
		return fmt.Errorf("%s: %s is %v, want a finite number of at least 0", name, what, x)
	}
	return nil
}

// quantile returns a quantile of the standard normal distribution.
func quantile(p float64) float64 { return distuv.UnitNormal.Quantile(p) }

// phi returns the distribution function of the standard normal distribution at z.
func phi(z float64) float64 { return distuv.UnitNormal.CDF(z) }

// Evidence turns the logarithm of an e-value or of a wealth into the number
// itself. What is larger than a float64 can hold becomes the largest float64,
// because a record in JSON knows no infinity.
func Evidence(log float64) float64 { return min(math.Exp(log), math.MaxFloat64) }
