package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/seed-f4525e22/skillopt/score"
)

// Bootstrap is an interval of a mean difference.
type Bootstrap struct {
	Mean         float64        `json:"mean"`
	Interval     score.Interval `json:"interval"`
	Bias         float64        `json:"bias"`         // z0: how far the resamples lie to one side, in normal deviations
	Acceleration float64        `json:"acceleration"` // a: a sixth of the skewness of the mean
}

// MinResamples is the smallest number of resamples that is not refused. 10,000
// is usual for what is printed.
const MinResamples = 200

// PairedBootstrapBCa gives an interval of the mean of paired differences at the
// two-sided level 1 - alpha: bias-corrected and accelerated (B. Efron, "Better
// Bootstrap Confidence Intervals", JASA 82, 1987; B. Efron and R. Tibshirani,
// "An Introduction to the Bootstrap", 1993, chapter 14). Items that belong
// together are to be averaged before. The same seed and the same differences in
// the same order give the same interval; another seed moves it by the error of
// that many resamples.
//
// The differences are taken as independent draws, and the interval is
// approximate: with fewer than about 20 it is too short. Fewer than 2 give
// [ErrTooFew], equal ones [ErrNoSpread]: resamples of them would all be alike and
// the interval a point, which claims more than is known.
func PairedBootstrapBCa(diffs []float64, resamples int, alpha float64, seed int64) (Bootstrap, error) {
	const name = "paired bootstrap"
	if err := finite(name, diffs); err != nil {
		return Bootstrap{}, err
	}
	if err := probability(name, "alpha", alpha); err != nil {
		return Bootstrap{}, err
	}
	if resamples < MinResamples {
		return Bootstrap{}, fmt.Errorf("%s: %d resamples, want at least %d", name, resamples, MinResamples)
	}
	if len(diffs) < 2 {
		return Bootstrap{}, fmt.Errorf("%s: %d: %w, want at least 2", name, len(diffs), ErrTooFew)
	}
	if slices.Max(diffs) == slices.Min(diffs) {
		return Bootstrap{}, fmt.Errorf("%s: %w", name, ErrNoSpread)
	}
	mean := sumValues(diffs) / float64(len(diffs))
	means := resampledMeans(diffs, resamples, seed)
	slices.Sort(means)
	return bca(mean, means, acceleration(diffs), alpha), nil
}

// sumValues adds in the order of the slice, as the resamples are added, so that a
// resample of the same values ties with the sample.
func sumValues(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum
}

func resampledMeans(xs []float64, resamples int, seed int64) []float64 {
	r := rand.New(rand.NewPCG(uint64(seed), 0x626f6f74)) // a stream of its own for the bootstrap
	out := make([]float64, resamples)
	for b := range out {
		sum := 0.0
		for range xs {
			sum += xs[r.IntN(len(xs))]
		}
		out[b] = sum / float64(len(xs))
	}
	return out
}

// acceleration returns the acceleration of a mean by the jackknife formula, in which leaving out
// one of n moves the mean by its distance divided by n-1.
func acceleration(xs []float64) float64 {
	mean := stat.Mean(xs, nil)
	widest := 0.0
	for _, x := range xs {
		widest = max(widest, math.Abs(x-mean))
	}
	two, three := 0.0, 0.0
	for _, x := range xs {
		d := (x - mean) / max(widest, math.SmallestNonzeroFloat64) // tiny differences must not vanish when cubed
		two, three = two+d*d, three+d*d*d
	}
	if two == 0 {
		return 0
	}
	return three / (6 * math.Pow(two, 1.5))
}

// bca reads the interval off sorted resampled estimates.
func bca(estimate float64, sorted []float64, a, alpha float64) Bootstrap {
	z0 := bias(estimate, sorted)
	at := func(p float64) float64 {
		z := z0 + quantile(p)
		return stat.Quantile(acceleratedQuantile(z0, z, a), stat.LinInterp, sorted, nil)
	}
	return Bootstrap{
		Mean:         estimate,
		Interval:     score.Interval{Low: at(alpha / 2), High: at(1 - alpha/2)},
		Bias:         z0,
		Acceleration: a,
	}
}

// acceleratedQuantile returns the quantile of the resamples to look up. Where the correction has no
// solution it is the outermost.
func acceleratedQuantile(z0, z, a float64) float64 {
	d := 1 - a*z
	if d <= 0 {
		return phi(math.Copysign(math.Inf(1), z))
	}
	return phi(z0 + z/d)
}

// bias returns the normal quantile of the share of resamples below the estimate. Those equal to it,
// to rounding, count half, which matters for scores of 0 and 1. A share of 0 or 1 is moved inside
// by half a resample.
func bias(estimate float64, sorted []float64) float64 {
	slack := 1e-12 * (math.Abs(estimate) + sorted[len(sorted)-1] - sorted[0])
	below, upTo := 0, 0
	for _, x := range sorted {
		if x < estimate-slack {
			below++
		}
		if x <= estimate+slack {
			upTo++
		}
	}
	n := float64(len(sorted))
	share := float64(below+upTo) / (2 * n)
	return quantile(min(max(share, 0.5/n), 1-0.5/n))
}
