package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
)

// Shrink pulls values that were measured with the same error variance toward
// their common mean, as far as their spread is explained by that error:
//
//	mean + max(0, 1 - (k-3) variance / S) * (x - mean),  S = sum of (x - mean)^2
//
// This is the estimator of James and Stein in its positive part, toward the
// grand mean (B. Efron and C. Morris, JASA 70, 1975). The best of several is
// best partly by luck; its shrunken value is what to expect of it the next time.
// Fewer than four values come back as they are: nothing is known then about
// their spread. variance 0 changes nothing. The order is kept, no value passes
// the mean, and the input is not changed.
func Shrink(values []float64, variance float64) ([]float64, error) {
	const name = "shrinkage"
	if err := finite(name, values); err != nil {
		return nil, err
	}
	if err := deviation(name, "the variance", variance); err != nil {
		return nil, err
	}
	out := append([]float64(nil), values...)
	keep := shrinkFactor(values, variance)
	if keep == 1 {
		return out, nil
	}
	mean := stat.Mean(values, nil)
	for i, x := range values {
		out[i] = mean + keep*(x-mean)
	}
	return out, nil
}

// shrinkFactor is how much of the distance to the mean stays.
func shrinkFactor(values []float64, variance float64) float64 {
	k := len(values)
	if k < 4 || variance == 0 {
		return 1
	}
	spread := stat.Variance(values, nil) * float64(k-1)
	if spread == 0 {
		return 0
	}
	return math.Max(0, 1-float64(k-3)*variance/spread)
}

// ShrinkToward pulls one value toward a centre that was known before, by the
// ratio of the variance of true values around the centre to that plus the error
// variance of the measurement: the posterior mean of a normal model. Both
// variances 0 leave the value.
func ShrinkToward(value, centre, between, variance float64) (float64, error) {
	const name = "shrinkage"
	if err := finite(name, []float64{value, centre}); err != nil {
		return 0, err
	}
	if err := deviation(name, "the variance between", between); err != nil {
		return 0, err
	}
	if err := deviation(name, "the error variance", variance); err != nil {
		return 0, fmt.Errorf("%w", err)
	}
	if between+variance == 0 {
		return value, nil
	}
	return centre + between/(between+variance)*(value-centre), nil
}
