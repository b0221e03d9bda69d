package stats

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestMinimumDetectable(t *testing.T) {
	t.Parallel()
	tests := []struct {
		n            int
		alpha, power float64
		want         float64 // in deviations
	}{
		// Sums of tabulated normal quantiles: 1.959964, 2.575829, 1.644854; 0.841621,
		// 1.281552.
		{1, 0.05, 0.8, 2.801585},
		{100, 0.05, 0.8, 0.2801585},
		{1, 0.05, 0.9, 3.241516},
		{4, 0.01, 0.8, 3.417450 / 2},
		{9, 0.10, 0.9, 2.926406 / 3},
	}
	for _, tt := range tests {
		got, err := MinimumDetectable(0.5, tt.n, tt.alpha, tt.power)
		if err != nil || math.Abs(got-tt.want/2) > 1e-6 {
			t.Errorf("n=%d, alpha=%v, power=%v: %v, %v, want %v", tt.n, tt.alpha, tt.power, got, err, tt.want/2)
		}
	}
}

func TestSampleSize(t *testing.T) {
	t.Parallel()
	// (z(1-alpha/2) + z(power))^2 / effect^2: 7.849 for alpha 0.05 and power 0.8,
	// 10.507 for power 0.9 (the usual table of multipliers, for instance S. Julious,
	// "Sample Sizes for Clinical Trials", 2010, table 3.2).
	tests := []struct {
		effect, power float64
		want          int
	}{{0.5, 0.8, 32}, {-0.5, 0.8, 32}, {0.2, 0.8, 197}, {0.5, 0.9, 43}, {1000, 0.8, 1}}
	for _, tt := range tests {
		got, err := SampleSize(tt.effect, 1, 0.05, tt.power)
		if err != nil || got != tt.want {
			t.Errorf("effect %v, power %v: %d, %v, want %d", tt.effect, tt.power, got, err, tt.want)
		}
	}
	if _, err := SampleSize(1e-12, 1, 0.05, 0.8); err == nil {
		t.Error("an effect too small for any sample is not refused")
	}
}

func TestPower(t *testing.T) {
	t.Parallel()
	tests := []struct {
		effect float64
		n      int
		want   float64
	}{
		{0, 40, 0.05},     // the level itself
		{0.5, 32, 0.8074}, // Phi(2.8284-1.9600) + Phi(-4.7884), from a table
		{0.2, 50, 0.2930}, // Phi(1.4142-1.9600) + Phi(-3.3742)
		{-0.2, 50, 0.2930},
		{100, 2, 1},
	}
	for _, tt := range tests {
		got, err := Power(tt.effect, 1, tt.n, 0.05)
		if err != nil || math.Abs(got-tt.want) > 5.1e-5 {
			t.Errorf("effect %v, n=%d: %v, %v, want %v", tt.effect, tt.n, got, err, tt.want)
		}
	}
}

func TestPowerRefuses(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	calls := map[string]func() error{
		"effect":        func() error { _, err := Power(nan, 1, 5, 0.05); return err },
		"deviation 0":   func() error { _, err := Power(1, 0, 5, 0.05); return err },
		"deviation NaN": func() error { _, err := MinimumDetectable(nan, 5, 0.05, 0.8); return err },
		"alpha":         func() error { _, err := MinimumDetectable(1, 5, 1, 0.8); return err },
		"power 1":       func() error { _, err := MinimumDetectable(1, 5, 0.05, 1); return err },
		"power < alpha": func() error { _, err := MinimumDetectable(1, 5, 0.05, 0.01); return err },
		"effect 0":      func() error { _, err := SampleSize(0, 1, 0.05, 0.8); return err },
		"sample power":  func() error { _, err := SampleSize(1, 1, 0.05, nan); return err },
		"sample alpha":  func() error { _, err := SampleSize(1, 1, nan, 0.8); return err },
	}
	for name, call := range calls {
		if err := call(); err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
	if _, err := Power(1, 1, 0, 0.05); !errors.Is(err, ErrTooFew) {
		t.Errorf("no items: %v, want %v", err, ErrTooFew)
	}
	if _, err := MinimumDetectable(1, 0, 0.05, 0.8); !errors.Is(err, ErrTooFew) {
		t.Errorf("no items: %v, want %v", err, ErrTooFew)
	}
}

// The minimum detectable effect is what is detected with that power, and the
// sample size undoes it.
func TestPowerLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sigma := rapid.Float64Range(0.01, 2).Draw(t, "sigma")
		n := rapid.IntRange(1, 5000).Draw(t, "n")
		alpha := rapid.Float64Range(0.001, 0.2).Draw(t, "alpha")
		power := rapid.Float64Range(0.5, 0.99).Draw(t, "power")
		effect, err := MinimumDetectable(sigma, n, alpha, power)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Power(effect, sigma, n, alpha)
		// A little more: the formula leaves out the wrong direction.
		if err != nil || got < power-1e-9 || got > power+0.01 {
			t.Fatalf("power %v, %v, want %v", got, err, power)
		}
		size, err := SampleSize(effect*(1+1e-9), sigma, alpha, power)
		if err != nil || size != n {
			t.Fatalf("sample size %d, %v, want %d", size, err, n)
		}
		more, err := MinimumDetectable(sigma, n+1, alpha, power)
		if err != nil || more >= effect {
			t.Fatalf("one more item shows %v, before %v, %v", more, effect, err)
		}
	})
}
