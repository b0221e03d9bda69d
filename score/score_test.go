package score

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

var close12 = cmpopts.EquateApprox(0, 1e-12)

func TestStatusMeasured(t *testing.T) {
	t.Parallel()
	for status, want := range map[Status]bool{OK: true, AgentError: true, Unmeasured: false, "": false} {
		if got := status.Measured(); got != want {
			t.Errorf("%q is measured: %v", status, got)
		}
	}
}

func TestMean(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		pairs []Pair
		want  Pair
	}{
		{"nothing", nil, Pair{}},
		{"one", []Pair{{1, 0.5}}, Pair{1, 0.5}},
		{"fractions are kept", []Pair{{0.25, 0}, {0.5, 1}, {0, 0.5}}, Pair{0.25, 0.5}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, Mean(tt.pairs), close12); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestValue(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   any
		want float64
		ok   bool
	}{
		{0.25, 0.25, true},
		{json.Number("1"), 1, true},
		{true, 1, true},
		{false, 0, true},
		{" 0.5 ", 0.5, true},
		{nil, 0, false},
		{"", 0, false},
		{"good", 0, false},
		{"NaN", 0, false},
		{math.Inf(1), 0, false},
		{json.Number("1e999"), 0, false},
		{[]any{1.0}, 0, false},
	}
	for _, tt := range tests {
		got, err := Value(tt.in)
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("Value(%#v) = %v, %v", tt.in, got, err)
		}
	}
}

func TestProjection(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		p       Projection
		density float64
		want    float64
		valid   bool
	}{
		{"hard", Projection{Metric: Hard}, 0.5, 0.2, true},
		{"soft", Projection{Metric: Soft}, 0.5, 0.6, true},
		{"mixed", Projection{Metric: Mixed, MixedWeight: 0.25}, 0, 0.3, true},
		{"weight above 1", Projection{Metric: Mixed, MixedWeight: 1.5}, 0, 0.6, false},
		{"weight below 0", Projection{Metric: Mixed, MixedWeight: -1}, 0, 0.2, false},
		{"weight not a number", Projection{Metric: Mixed, MixedWeight: math.NaN()}, 0, math.NaN(), false},
		{"weight that nothing reads", Projection{Metric: Hard, MixedWeight: 7}, 0, 0.2, true},
		{"density", Projection{Metric: Hard, DensityWeight: 2}, 0.1, 0.4, true},
		{"density not a number", Projection{Metric: Hard, DensityWeight: math.NaN()}, 0.1, math.NaN(), false},
		{"density without end", Projection{Metric: Soft, DensityWeight: math.Inf(1)}, 0.1, math.Inf(1), false},
		{"unknown", Projection{Metric: "HARD"}, 0, 0.2, false},
		{"none", Projection{}, 0, 0.2, false},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, tt.p.Of(Pair{0.2, 0.6}, tt.density), close12, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if err := tt.p.Validate(); (err == nil) != tt.valid {
			t.Errorf("%s: Validate: %v", tt.name, err)
		}
	}
}

func TestWilson(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		p    float64
		n    int
		want Interval
	}{
		{"nothing seen", 0.5, 0, Interval{0, 1}},
		// Computed by hand from the closed formula.
		{"half of 10", 0.5, 10, Interval{0.23659309051256394, 0.7634069094874361}},
		{"none of 10", 0, 10, Interval{0, 0.27753279986288035}},
		{"all of 10", 1, 10, Interval{0.7224672001371197, 1}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, Wilson(tt.p, tt.n, Z95), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestProjectionIsMonotone(t *testing.T) {
	t.Parallel()
	unit := rapid.Float64Range(0, 1)
	rapid.Check(t, func(t *rapid.T) {
		p := Projection{
			Metric:        rapid.SampledFrom([]Metric{Hard, Soft, Mixed}).Draw(t, "metric"),
			MixedWeight:   unit.Draw(t, "weight"),
			DensityWeight: unit.Draw(t, "density weight"),
		}
		lower := Pair{unit.Draw(t, "hard"), unit.Draw(t, "soft")}
		higher := Pair{max(lower.Hard, unit.Draw(t, "hard 2")), max(lower.Soft, unit.Draw(t, "soft 2"))}
		density := unit.Draw(t, "density")
		if p.Of(higher, density) < p.Of(lower, density) {
			t.Fatalf("%+v projects %v below %v", p, higher, lower)
		}
		if got := p.base(lower); got < min(lower.Hard, lower.Soft)-1e-12 || got > max(lower.Hard, lower.Soft)+1e-12 {
			t.Fatalf("%+v projects %v to %v", p, lower, got)
		}
	})
}

func TestWilsonHoldsTheProportion(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 2000).Draw(t, "n")
		p := float64(rapid.IntRange(0, n).Draw(t, "successes")) / float64(n)
		got, more := Wilson(p, n, Z95), Wilson(p, 4*n, Z95)
		if got.Low < 0 || got.High > 1 || got.Low > p+1e-12 || got.High < p-1e-12 {
			t.Fatalf("Wilson(%v, %d) = %v", p, n, got)
		}
		if more.High-more.Low > got.High-got.Low {
			t.Fatalf("four times the trials widen %v to %v", got, more)
		}
	})
}
