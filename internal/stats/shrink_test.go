package stats

import (
	"math"
	"testing"
)

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
