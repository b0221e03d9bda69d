package stats

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// Calcium in turnip greens, four leaves with four determinations each (G. W.
// Snedecor and W. G. Cochran, "Statistical Methods", 1967, table 10.13.1): mean
// squares 0.2961 between and 0.0066 within leaves, so that the variance between
// leaves is 0.0724.
func TestVarianceSplitAsPublished(t *testing.T) {
	t.Parallel()
	got, err := VarianceSplit([][]float64{
		{3.28, 3.09, 3.03, 3.03},
		{3.52, 3.48, 3.38, 3.38},
		{2.88, 2.80, 2.81, 2.76},
		{3.34, 3.38, 3.23, 3.26},
	})
	want := Split{Between: 0.0724, Within: 0.0066, Items: 4, Total: 16}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 5.1e-5)); diff != "" || err != nil {
		t.Errorf("(-want +got): %v\n%s", err, diff)
	}
}

func TestVarianceSplit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		scores [][]float64
		want   Split
	}{
		// By hand: means 1, 4, grand mean 2.2; squares within 2, between
		// 3*1.44+2*3.24 = 10.8; n0 = 5 - 13/5 = 2.4.
		{"unequal repeats", [][]float64{{0, 1, 2}, nil, {4, 4}}, Split{Between: (10.8 - 2.0/3) / 2.4, Within: 2.0 / 3, Items: 2, Total: 5}},
		{"one item repeated", [][]float64{{1, 1}, {0}}, Split{Between: 0.5, Within: 0, Items: 2, Total: 3}},
		{"noise only", [][]float64{{0, 1}, {1, 0}, {0, 1}}, Split{Between: 0, Within: 0.5, Items: 3, Total: 6}},
		{"all equal", [][]float64{{1, 1}, {1, 1}}, Split{Items: 2, Total: 4}},
	}
	for _, tt := range tests {
		got, err := VarianceSplit(tt.scores)
		if diff := cmp.Diff(tt.want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" || err != nil {
			t.Errorf("%s (-want +got): %v\n%s", tt.name, err, diff)
		}
	}
	for name, scores := range map[string][][]float64{
		"nothing": nil, "one item": {{1, 0, 1}}, "no repeats": {{1}, {0}, {1}}, "one item and empty ones": {{1, 0}, nil, nil},
	} {
		if _, err := VarianceSplit(scores); !errors.Is(err, ErrTooFew) {
			t.Errorf("%s: %v, want %v", name, err, ErrTooFew)
		}
	}
	if _, err := VarianceSplit([][]float64{{1, 0}, {math.NaN(), 1}}); err == nil || errors.Is(err, ErrTooFew) {
		t.Errorf("NaN: %v", err)
	}
}

func TestAdvise(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		s      Split
		effect float64
		n      int
		want   Advice
	}{
		// (z + z)^2 = 7.848880 at alpha 0.05 and power 0.8. With 40 items the effect
		// 0.1 needs a variance of 0.01*40/7.84888 = 0.050963 an item.
		{"repeats help", Split{Between: 0.04, Within: 0.06}, 0.1, 40, Advice{Repeats: 6, Items: 79, Floor: 0.088594, Now: 0.140079, Worthless: 14}},
		{"only items help", Split{Between: 0.1, Within: 0.06}, 0.1, 40, Advice{Repeats: 0, Items: 126, Floor: 0.140079, Now: 0.177187, Worthless: 6}},
		{"no need", Split{Between: 0.01, Within: 0.01}, 0.1, 40, Advice{Repeats: 1, Items: 16, Floor: 0.044297, Now: 0.062645, Worthless: 9}},
		{"deterministic", Split{Between: 0.04}, 0.1, 40, Advice{Repeats: 1, Items: 32, Floor: 0.088594, Now: 0.088594, Worthless: 1}},
		{"noise only", Split{Within: 0.25}, 0.1, 40, Advice{Repeats: 5, Items: 197, Floor: 0, Now: 0.221485, Worthless: 0}},
	}
	for _, tt := range tests {
		got, err := tt.s.Advise(tt.effect, tt.n, 0.05, 0.8)
		if diff := cmp.Diff(tt.want, got, cmpopts.EquateApprox(0, 2e-6)); diff != "" || err != nil {
			t.Errorf("%s (-want +got): %v\n%s", tt.name, err, diff)
		}
	}
	if _, err := (Split{}).Advise(0.1, 0, 0.05, 0.8); !errors.Is(err, ErrTooFew) {
		t.Errorf("no items: %v", err)
	}
	for _, bad := range [][3]float64{{0, 0.05, 0.8}, {math.NaN(), 0.05, 0.8}, {0.1, 0, 0.8}, {0.1, 0.05, 1}} {
		if _, err := (Split{}).Advise(bad[0], 5, bad[1], bad[2]); err == nil {
			t.Errorf("%v is not refused", bad)
		}
	}
}

// What the advice promises holds, and one repeat less does not do.
func TestAdviceLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := Split{Between: rapid.Float64Range(0, 0.25).Draw(t, "between"), Within: rapid.Float64Range(0.001, 0.25).Draw(t, "within")}
		n := rapid.IntRange(1, 400).Draw(t, "n")
		effect := rapid.Float64Range(0.01, 0.5).Draw(t, "effect")
		a, err := s.Advise(effect, n, 0.05, 0.8)
		if err != nil {
			t.Fatal(err)
		}
		shown := func(n, k int) float64 { return 2.801585 * math.Sqrt(s.Variance(n, k)) }
		if a.Repeats > 0 && a.Repeats < 1e6 && shown(n, a.Repeats) > effect*(1+1e-5) {
			t.Fatalf("%d repeats of %d items show only %v", a.Repeats, n, shown(n, a.Repeats))
		}
		if a.Repeats > 1 && a.Repeats < 1e6 && shown(n, a.Repeats-1) < effect*(1-1e-5) {
			t.Fatalf("one repeat less than %d does", a.Repeats)
		}
		if a.Repeats == 0 && a.Floor < effect*(1-1e-9) {
			t.Fatalf("repeats could show %v", a.Floor)
		}
		if shown(a.Items, 1) > effect*(1+1e-5) {
			t.Fatalf("%d items show only %v", a.Items, shown(a.Items, 1))
		}
		if k := rapid.IntRange(1, 20).Draw(t, "k"); shown(n*k, 1) > shown(n, k)+1e-12 {
			t.Fatalf("%d repeats beat as many items", k)
		}
	})
	if v := (Split{Between: 1, Within: 1}).Variance(0, 1); v >= 0 || v <= 0 {
		t.Errorf("no items: %v, want NaN", v)
	}
}
