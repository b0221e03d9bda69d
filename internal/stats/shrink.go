package stats

import (
	"fmt"
)

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
