package stats

import (
	"fmt"
	"math"
)

func powerInput(name string, sigma float64, n int, alpha float64) error {
	if err := positive(name, "the deviation", sigma); err != nil {
		return err
	}
	if err := probability(name, "alpha", alpha); err != nil {
		return err
	}
	if n < 1 {
		return fmt.Errorf("%s: %d: %w, want at least 1", name, n, ErrTooFew)
	}
	return nil
}

// MinimumDetectable returns the smallest true mean difference that n paired differences with
// deviation sigma show at the two-sided level alpha with the given power:
//
//	(z(1-alpha/2) + z(power)) * sigma / sqrt(n)
//
// At alpha = 0.05 and power = 0.8 this is 2.80 standard errors of the mean difference. n < 1 gives
// [ErrTooFew].
func MinimumDetectable(sigma float64, n int, alpha, power float64) (float64, error) {
	const name = "minimum detectable effect"
	if err := powerInput(name, sigma, n, alpha); err != nil {
		return 0, err
	}
	z, err := standardErrors(name, alpha, power)
	return z * sigma / math.Sqrt(float64(n)), err
}

// standardErrors returns how many standard errors the minimum detectable effect has.
func standardErrors(name string, alpha, power float64) (float64, error) {
	if err := probability(name, "the power", power); err != nil {
		return 0, err
	}
	if power <= alpha {
		return 0, fmt.Errorf("%s: the power is %v, want more than alpha, %v", name, power, alpha)
	}
	return quantile(1-alpha/2) + quantile(power), nil
}

// SampleSize returns the number of paired differences at which [MinimumDetectable] falls to the
// effect, rounded up. The sign of the effect does not matter; an effect of 0 is refused.
func SampleSize(effect, sigma, alpha, power float64) (int, error) {
	const name = "sample size"
	if err := powerInput(name, sigma, 1, alpha); err != nil {
		return 0, err
	}
	if err := positive(name, "the effect", math.Abs(effect)); err != nil {
		return 0, err
	}
	z, err := standardErrors(name, alpha, power)
	if err != nil {
		return 0, err
	}
	root := z * sigma / math.Abs(effect)
	if n := math.Ceil(root * root); n < 1<<53 {
		return max(1, int(n)), nil
	}
	return 0, fmt.Errorf("%s: an effect of %v is too small to be shown by any number of observations", name, effect)
}
