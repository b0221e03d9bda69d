package passes

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/score"
)

func TestPooled(t *testing.T) {
	t.Parallel()
	f := func(x float64) *float64 { return &x }
	tests := []struct {
		name   string
		scores [][]float64
		want   Pool
	}{
		{"nothing", nil, Pool{High: 1}},
		{"nothing measured", [][]float64{nil, nil}, Pool{High: 1}},
		// One pass: Wilson's interval of 1 of 2.
		{"one pass", [][]float64{{1}, {0}}, Pool{Mean: 0.5, Low: 0.0945, High: 0.9055, Items: 2, Evaluations: 2}},
		// Nothing changes within: two passes are worth one.
		{"alike", [][]float64{{1, 1}, {0, 0}, nil, {1, 1}, {0, 0}}, Pool{Mean: 0.5, Low: 0.1500, High: 0.8500, Items: 4, Evaluations: 8, Between: f(math.Sqrt(1.0 / 3)), Within: f(0)}},
		// They cannot change that anybody would see.
		{"at the floor", [][]float64{{0, 0}, {0, 0}, {0, 0}}, Pool{High: 0.5615, Items: 3, Evaluations: 6, Between: f(0)}},
		{"all but one at the ceiling", [][]float64{{1, 1}, {1, 1}, {0, 0}}, Pool{Mean: 2.0 / 3, Low: 0.2077, High: 0.9385, Items: 3, Evaluations: 6, Between: f(math.Sqrt(1.0 / 3))}},
		{"a change at the floor", [][]float64{{0, 0}, {0, 0}, {0, 1}}, Pool{Mean: 1.0 / 6, Low: 0.0301, High: 0.5635, Items: 3, Evaluations: 6, Between: f(0), Within: f(math.Sqrt(0.5 / 3)), Detectable: f(0.6603), Flips: []int{2}}},
		// Everything changes within: two passes of two are worth four. The variance
		// within is 1/2, that of the difference of two means of 2 is 2 * 1/2 / 2, and
		// 2.8016 standard errors of two tasks are 2.8016 * sqrt(0.5/2).
		{"chance alone", [][]float64{{1, 0}, {0, 1}}, Pool{Mean: 0.5, Low: 0.1500, High: 0.8500, Items: 2, Evaluations: 4, Between: f(0), Within: f(math.Sqrt(0.5)), Detectable: f(1.4008), Flips: []int{0, 1}}},
	}
	for _, tt := range tests {
		got, err := Pooled(tt.scores)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got, cmpopts.EquateApprox(0, 1e-4)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	for _, bad := range []float64{-0.1, 1.1, math.NaN()} {
		if _, err := Pooled([][]float64{{0}, {bad}}); err == nil {
			t.Errorf("a score of %v is not refused", bad)
		}
	}
}

// More passes never widen the interval beyond that of one pass over as many tasks,
// and never make it narrower than that of as many tasks as there are evaluations.
func TestPooledIntervalLiesBetween(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 6).Draw(t, "passes")
		scores := rapid.SliceOfN(rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0, 0.5, 1}), k, k), 2, 25).Draw(t, "scores")
		got, err := Pooled(scores)
		if err != nil {
			t.Fatal(err)
		}
		wide, narrow := score.Wilson(got.Mean, len(scores), score.Z95), score.Wilson(got.Mean, k*len(scores), score.Z95)
		if width := got.High - got.Low; width > wide.High-wide.Low+1e-12 || width < narrow.High-narrow.Low-1e-12 {
			t.Fatalf("[%v, %v] is not between %v and %v", got.Low, got.High, narrow, wide)
		}
		for i, xs := range scores {
			if flips := slices.Max(xs) > slices.Min(xs); flips != slices.Contains(got.Flips, i) {
				t.Fatalf("task %d of %v: flips %v", i, scores, got.Flips)
			}
		}
	})
}

// One task that was asked often says little about the others: what a mean is worth
// depends on how often each was asked, not on how often all were.
func TestPooledOfUnequalPasses(t *testing.T) {
	t.Parallel()
	scores := [][]float64{{}, {1}, {0}, {1}, {0}}
	for k := range 96 {
		scores[0] = append(scores[0], float64(k%2))
	}
	got, err := Pooled(scores)
	if err != nil {
		t.Fatal(err)
	}
	// The error variance of each task's mean is within/k, that of the mean of five
	// their sum over 25: 2.8016 errors of a difference of two such means.
	within := 24.0 / 95
	want := 2.8016 * math.Sqrt(2*within*(1.0/96+4)) / 5
	if got.Detectable == nil || math.Abs(*got.Detectable-want) > 1e-3 {
		t.Errorf("detectable is %v, want %.4f: %+v", *got.Detectable, want, got)
	}
	// 100 evaluations, of which 96 are of one task, are worth 6 tasks at most.
	if wide := score.Wilson(0.5, 6, score.Z95); got.High-got.Low < wide.High-wide.Low {
		t.Errorf("[%.3f, %.3f] is narrower than that of 6 tasks", got.Low, got.High)
	}
}
