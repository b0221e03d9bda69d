package stats

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/score"
)

// spatial is the example of B. Efron and R. Tibshirani, "An Introduction to the
// Bootstrap", 1993, table 14.1: spatial test, first column, 26 children.
var spatial = []float64{48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6, 0, 33, 28, 34, 4, 32, 24, 47, 41, 24, 26, 30, 41}

// Chapter 14 of the book gives for the interval of the plug-in variance at level
// 90 %: z0 = 0.146, a = 0.061 and the quantiles 0.110 and 0.985 of the resamples
// in place of 0.05 and 0.95.
func TestAcceleratedAsPublished(t *testing.T) {
	t.Parallel()
	for p, want := range map[float64]float64{0.05: 0.110, 0.95: 0.985} {
		if got := acceleratedQuantile(0.146, 0.146+quantile(p), 0.061); math.Abs(got-want) > 6e-4 {
			t.Errorf("quantile %v: %v, want %v", p, got, want)
		}
	}
}

// For a mean the jackknife of the book's formula (14.15), done by leaving out one
// after the other, must give the short formula.
func TestAccelerationIsTheJackknife(t *testing.T) {
	t.Parallel()
	n := float64(len(spatial))
	var left []float64
	for i := range spatial {
		rest := slices.Delete(slices.Clone(spatial), i, i+1)
		left = append(left, stat.Mean(rest, nil))
	}
	centre := stat.Mean(left, nil)
	two, three := 0.0, 0.0
	for _, x := range left {
		two += (centre - x) * (centre - x)
		three += (centre - x) * (centre - x) * (centre - x)
	}
	want := three / (6 * math.Pow(two, 1.5))
	if got := acceleration(spatial); math.Abs(got-want) > 1e-12 {
		t.Errorf("acceleration of %v children: %v, want %v", n, got, want)
	}
}

// With six differences all 6^6 resamples can be visited, so the interval has an
// exact value; 200,000 drawn ones must come near it.
func TestBootstrapAgainstAllResamples(t *testing.T) {
	t.Parallel()
	diffs := []float64{0.9, -0.3, 0.2, 0.1, 0.45, 0}
	var all []float64
	var visit func(depth int, sum float64)
	visit = func(depth int, sum float64) {
		if depth == len(diffs) {
			all = append(all, sum/float64(len(diffs)))
			return
		}
		for _, d := range diffs {
			visit(depth+1, sum+d)
		}
	}
	visit(0, 0)
	slices.Sort(all)
	want := bca(stat.Mean(diffs, nil), all, acceleration(diffs), 0.1)
	got, err := PairedBootstrapBCa(diffs, 200_000, 0.1, 7)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 0.006)); diff != "" {
		t.Errorf("all resamples against drawn ones (-want +got):\n%s", diff)
	}
}

// Without skew and bias the interval is that of the percentiles, which for many
// differences is the normal one.
func TestBootstrapOfManyIsNormal(t *testing.T) {
	t.Parallel()
	diffs := make([]float64, 2000)
	for i := range diffs {
		diffs[i] = float64(i%3 - 1)
	}
	got, err := PairedBootstrapBCa(diffs, 20_000, 0.05, 1)
	if err != nil {
		t.Fatal(err)
	}
	half := score.Z95 * math.Sqrt(2.0/3/2000)
	if diff := cmp.Diff(score.Interval{Low: got.Mean - half, High: got.Mean + half}, got.Interval, cmpopts.EquateApprox(0, 0.002)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBootstrapRefuses(t *testing.T) {
	t.Parallel()
	some := []float64{0, 1, 0.5}
	tests := map[string]struct {
		diffs     []float64
		resamples int
		alpha     float64
		want      error
	}{
		"nothing":         {nil, 1000, 0.05, ErrTooFew},
		"one item":        {[]float64{1}, 1000, 0.05, ErrTooFew},
		"all ties":        {[]float64{0, 0, 0}, 1000, 0.05, ErrNoSpread},
		"NaN":             {[]float64{0, math.NaN()}, 1000, 0.05, nil},
		"infinite":        {[]float64{0, math.Inf(-1)}, 1000, 0.05, nil},
		"few resamples":   {some, MinResamples - 1, 0.05, nil},
		"alpha 0":         {some, 1000, 0, nil},
		"alpha 1":         {some, 1000, 1, nil},
		"alpha no number": {some, 1000, math.NaN(), nil},
	}
	for name, tt := range tests {
		_, err := PairedBootstrapBCa(tt.diffs, tt.resamples, tt.alpha, 1)
		if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: error %v, want %v", name, err, tt.want)
		}
	}
}

func TestBootstrapLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		diffs := rapid.SliceOfN(rapid.Float64Range(-1, 1), 2, 40).Draw(t, "differences")
		seed := rapid.Int64().Draw(t, "seed")
		got, err := PairedBootstrapBCa(diffs, 400, 0.1, seed)
		if errors.Is(err, ErrNoSpread) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		again, err := PairedBootstrapBCa(diffs, 400, 0.1, seed)
		if diff := cmp.Diff(got, again); diff != "" || err != nil {
			t.Fatalf("the same seed: %v %s", err, diff)
		}
		low, high := slices.Min(diffs), slices.Max(diffs)
		if !(got.Interval.Low <= got.Interval.High) || got.Interval.Low < low-1e-9 || got.Interval.High > high+1e-9 {
			t.Fatalf("interval %v of differences from %v to %v", got.Interval, low, high)
		}
		mirror := make([]float64, len(diffs))
		for i, d := range diffs {
			mirror[i] = -d
		}
		other, err := PairedBootstrapBCa(mirror, 400, 0.1, seed)
		if err != nil || math.Abs(other.Bias+got.Bias) > 1e-9 || math.Abs(other.Acceleration+got.Acceleration) > 1e-9 {
			t.Fatalf("not symmetric: %+v, %+v, %v", got, other, err)
		}
	})
}
