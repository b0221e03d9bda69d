package stats

import (
	"math"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/score"
)

// near compares to a relative error, and to an absolute one around 0.
func near(relative float64) cmp.Option { return cmpopts.EquateApprox(relative, 1e-300) }

func TestWilson(t *testing.T) {
	t.Parallel()
	// R. G. Newcombe, "Two-sided confidence intervals for the single proportion",
	// Statistics in Medicine 17, 1998, table I, method 3.
	tests := []struct {
		successes, n int
		want         score.Interval
	}{
		{81, 263, score.Interval{Low: 0.2553, High: 0.3662}},
		{15, 148, score.Interval{Low: 0.0624, High: 0.1605}},
		{0, 20, score.Interval{Low: 0, High: 0.1611}},
		{1, 29, score.Interval{Low: 0.0061, High: 0.1718}},
		{0, 0, score.Interval{Low: 0, High: 1}},
	}
	for _, tt := range tests {
		got, err := Wilson(tt.successes, tt.n, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got, cmpopts.EquateApprox(0, 5.1e-5)); diff != "" {
			t.Errorf("%d of %d (-want +got):\n%s", tt.successes, tt.n, diff)
		}
	}
	for _, bad := range []struct {
		successes, n int
		level        float64
	}{{-1, 3, 0.95}, {4, 3, 0.95}, {0, -1, 0.95}, {1, 3, 0}, {1, 3, 1}, {1, 3, math.NaN()}} {
		if _, err := Wilson(bad.successes, bad.n, bad.level); err == nil {
			t.Errorf("%+v is not refused", bad)
		}
	}
}

// tail is P(Bin(n, 1/2) <= k) by adding up binomial coefficients as integers.
func tail(k, n int) float64 {
	sum := new(big.Int)
	for i := 0; i <= k; i++ {
		sum.Add(sum, new(big.Int).Binomial(int64(n), int64(i)))
	}
	f, _ := new(big.Rat).SetFrac(sum, new(big.Int).Lsh(big.NewInt(1), uint(n))).Float64()
	return f
}

func TestMcNemarExact(t *testing.T) {
	t.Parallel()
	counts := [][2]int{{0, 0}, {1, 0}, {0, 1}, {3, 0}, {1, 9}, {19, 6}, {6, 19}, {10, 10}, {85, 59}, {520, 400}, {20, 980}}
	for _, c := range counts {
		w, l := c[0], c[1]
		want := PValues{Greater: tail(l, w+l), Less: tail(w, w+l)}
		want.TwoSided = min(1, 2*min(want.Greater, want.Less))
		if diff := cmp.Diff(want, McNemarExact(w, l), near(1e-11)); diff != "" {
			t.Errorf("%d wins, %d losses (-want +got):\n%s", w, l, diff)
		}
	}
	if p := McNemarExact(-1, 3); p.TwoSided <= 1 || p.Greater <= 1 || p.Less <= 1 {
		t.Errorf("a negative count gives %+v, which may pass for a p-value", p)
	}
	// A million pairs: the normal approximation with continuity correction.
	if got, want := McNemarExact(501000, 499000).Greater, 1-phi((501000-0.5-500000)/500); math.Abs(got-want) > 1e-6 {
		t.Errorf("a million pairs: %v, the normal approximation says %v", got, want)
	}
}

func TestExactTestsAreSymmetricAndMonotone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, l := rapid.IntRange(0, 3000).Draw(t, "wins"), rapid.IntRange(0, 3000).Draw(t, "losses")
		p, q, better := McNemarExact(w, l), McNemarExact(l, w), McNemarExact(w+1, l)
		if p.TwoSided != q.TwoSided || p.Greater != q.Less || p.Less != q.Greater {
			t.Fatalf("not symmetric: %+v, %+v", p, q)
		}
		if better.Greater > p.Greater*(1+1e-9) {
			t.Fatalf("one more win raises p from %v to %v", p.Greater, better.Greater)
		}
		if p.Greater < 0 || p.Greater > 1+1e-12 || p.TwoSided > 1 {
			t.Fatalf("no probabilities: %+v", p)
		}
	})
}

func TestFisherExact(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, n, b, m int
		greater    float64
	}{
		{3, 3, 0, 3, 1.0 / 20},
		{5, 5, 1, 5, 5.0 / 210},
		{6, 6, 1, 6, 6.0 / 792},
		{3, 4, 1, 4, (16.0 + 1) / 70}, // the lady tasting tea
		{0, 0, 0, 5, 1},
		{2, 4, 2, 4, (36.0 + 16 + 1) / 70},
	}
	for _, tt := range tests {
		p, mirrored := FisherExact(tt.a, tt.n, tt.b, tt.m), FisherExact(tt.b, tt.m, tt.a, tt.n)
		if math.Abs(p.Greater-tt.greater) > 1e-12 || math.Abs(p.Greater-mirrored.Less) > 1e-12 || p.TwoSided < p.Greater && p.TwoSided < p.Less {
			t.Errorf("%+v: %+v, mirrored %+v", tt, p, mirrored)
		}
	}
	if p := FisherExact(3, 2, 0, 1); !math.IsNaN(p.Greater) {
		t.Errorf("3 of 2: %+v", p)
	}
}
