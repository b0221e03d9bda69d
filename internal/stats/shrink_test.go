package stats

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// Batting averages of 18 players after 45 times at bat in 1970, and their
// shrunken values (B. Efron and C. Morris, "Stein's Paradox in Statistics",
// Scientific American 236, 1977, which keeps 0.212 of the distance; B. Efron and
// T. Hastie, "Computer Age Statistical Inference", 2016, table 7.1).
func TestShrinkAsPublished(t *testing.T) {
	t.Parallel()
	hits := []float64{18, 17, 16, 15, 14, 14, 13, 12, 11, 11, 10, 10, 10, 10, 10, 9, 8, 7}
	want := []float64{
		0.294, 0.289, 0.285, 0.280, 0.275, 0.275, 0.270, 0.266, 0.261, 0.261, 0.256, 0.256,
		0.256, 0.256, 0.256, 0.252, 0.247, 0.242,
	}
	mean := sumOf(hits) / 18 / 45
	values := make([]float64, len(hits))
	for i, h := range hits {
		values[i] = h / 45
	}
	got, err := Shrink(values, mean*(1-mean)/45)
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 6e-4)); diff != "" || err != nil {
		t.Errorf("(-want +got): %v\n%s", err, diff)
	}
	if keep := shrinkFactor(values, mean*(1-mean)/45); math.Abs(keep-0.212) > 5e-4 {
		t.Errorf("%v of the distance is kept, want 0.212", keep)
	}
}

func TestShrinkEdges(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		values   []float64
		variance float64
		want     []float64
	}{
		{"nothing", nil, 1, nil},
		{"one", []float64{0.7}, 1, []float64{0.7}},
		{"three", []float64{0, 0.5, 1}, 1, []float64{0, 0.5, 1}},
		{"no error", []float64{0, 0.25, 0.5, 1}, 0, []float64{0, 0.25, 0.5, 1}},
		{"all error", []float64{0, 0.25, 0.75, 1}, 100, []float64{0.5, 0.5, 0.5, 0.5}},
		{"all equal", []float64{0.5, 0.5, 0.5, 0.5}, 0.1, []float64{0.5, 0.5, 0.5, 0.5}},
		{"half", []float64{-1, -1, 1, 1}, 2, []float64{-0.5, -0.5, 0.5, 0.5}}, // 1 - 1*2/4
	}
	for _, tt := range tests {
		got, err := Shrink(tt.values, tt.variance)
		if diff := cmp.Diff(tt.want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" || err != nil {
			t.Errorf("%s (-want +got): %v\n%s", tt.name, err, diff)
		}
	}
	if _, err := Shrink([]float64{1, math.NaN()}, 1); err == nil {
		t.Error("NaN is not refused")
	}
	for _, bad := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := Shrink([]float64{1, 2}, bad); err == nil {
			t.Errorf("variance %v is not refused", bad)
		}
		if _, err := ShrinkToward(1, 0, bad, 1); err == nil {
			t.Errorf("variance between %v is not refused", bad)
		}
		if _, err := ShrinkToward(1, 0, 1, bad); err == nil {
			t.Errorf("error variance %v is not refused", bad)
		}
	}
}

func TestShrinkToward(t *testing.T) {
	t.Parallel()
	// The posterior mean of a normal model with prior N(centre, between).
	for _, tt := range []struct{ between, variance, want float64 }{{1, 1, 0.5}, {3, 1, 0.65}, {0, 1, 0.2}, {1, 0, 0.8}, {0, 0, 0.8}} {
		got, err := ShrinkToward(0.8, 0.2, tt.between, tt.variance)
		if err != nil || math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%+v: %v, %v", tt, got, err)
		}
	}
	if _, err := ShrinkToward(math.NaN(), 0, 1, 1); err == nil {
		t.Error("NaN is not refused")
	}
}

func TestShrinkLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1, 1), 1, 30).Draw(t, "values")
		variance := rapid.Float64Range(0, 1).Draw(t, "variance")
		got, err := Shrink(values, variance)
		if err != nil {
			t.Fatal(err)
		}
		mean := sumOf(values) / float64(len(values))
		for i, x := range values {
			if math.Abs(got[i]-mean) > math.Abs(x-mean)+1e-12 || (got[i]-mean)*(x-mean) < -1e-12 {
				t.Fatalf("%v became %v, the mean is %v", x, got[i], mean)
			}
			for j := range values {
				if x < values[j] && got[i] > got[j]+1e-12 {
					t.Fatalf("%v and %v changed places", x, values[j])
				}
			}
		}
		if after := sumOf(got) / float64(len(got)); math.Abs(after-mean) > 1e-9 {
			t.Fatalf("the mean moved from %v to %v", mean, after)
		}
	})
}
