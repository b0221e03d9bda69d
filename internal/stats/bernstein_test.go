package stats

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestEmpiricalBernstein(t *testing.T) {
	t.Parallel()
	// By hand from theorem 4 of Maurer and Pontil: ln(4/0.05) = 4.382027.
	tests := []struct {
		deviation float64
		n         int
		width     float64
		want      float64
	}{
		{0, 101, 1, 7 * 4.382026634673881 / 300},
		{0.5, 101, 1, 0.5*math.Sqrt(2*4.382026634673881/101) + 7*4.382026634673881/300},
		{0.5, 101, 2, 0.5*math.Sqrt(2*4.382026634673881/101) + 14*4.382026634673881/300},
	}
	for _, tt := range tests {
		got, err := EmpiricalBernstein(tt.deviation, tt.n, tt.width, 0.05)
		if err != nil || math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%+v: %v, %v", tt, got, err)
		}
	}
	// At n = 2 the series gives delta/2 to the look.
	one, err := RaceRadius(0.3, 2, 2, 0.1)
	two, err2 := EmpiricalBernstein(0.3, 2, 2, 0.05)
	if err != nil || err2 != nil || one != two {
		t.Errorf("the first look: %v, %v, want %v, %v", one, err, two, err2)
	}
}

func TestBernsteinRefuses(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for _, f := range []func(float64, int, float64, float64) (float64, error){EmpiricalBernstein, RaceRadius} {
		for _, bad := range [][3]float64{{nan, 1, 0.05}, {-1, 1, 0.05}, {1, 0, 0.05}, {1, nan, 0.05}, {1, 1, 0}, {1, 1, nan}} {
			if _, err := f(bad[0], 10, bad[1], bad[2]); err == nil || errors.Is(err, ErrTooFew) {
				t.Errorf("%v: %v", bad, err)
			}
		}
		for _, n := range []int{-1, 0, 1} {
			if _, err := f(0.5, n, 1, 0.05); !errors.Is(err, ErrTooFew) {
				t.Errorf("n = %d: %v, want %v", n, err, ErrTooFew)
			}
		}
	}
}

func TestBernsteinIsMonotone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sd := rapid.Float64Range(0, 1).Draw(t, "deviation")
		n := rapid.IntRange(2, 100_000).Draw(t, "n")
		delta := rapid.Float64Range(1e-6, 0.5).Draw(t, "delta")
		radius := func(sd float64, n int, delta float64) float64 {
			got, err := EmpiricalBernstein(sd, n, 2, delta)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		here := radius(sd, n, delta)
		if radius(sd+0.1, n, delta) < here || radius(sd, n+1, delta) > here || radius(sd, n, delta/2) < here {
			t.Fatalf("not monotone at deviation %v, n %d, delta %v", sd, n, delta)
		}
		if race, err := RaceRadius(sd, n, 2, delta); err != nil || race < here {
			t.Fatalf("many looks %v, %v, one look %v", race, err, here)
		}
	})
}

func TestStandardError(t *testing.T) {
	t.Parallel()
	tests := []struct {
		sd       float64
		m, total int
		want     float64
	}{{0.5, 25, 0, 0.1}, {0.5, 25, 100, 0.1 * math.Sqrt(0.75)}, {0.5, 25, 25, 0}, {0, 4, 9, 0}, {0.5, 1, 0, 0.5}}
	for _, tt := range tests {
		got, err := StandardError(tt.sd, tt.m, tt.total)
		if err != nil || math.Abs(got-tt.want) > 1e-15 {
			t.Errorf("%+v: %v, %v", tt, got, err)
		}
	}
	if _, err := StandardError(0.5, 0, 10); !errors.Is(err, ErrTooFew) {
		t.Errorf("nothing seen: %v", err)
	}
	for _, bad := range []struct {
		sd       float64
		m, total int
	}{{math.NaN(), 2, 0}, {-1, 2, 0}, {1, 3, 2}, {1, 3, -1}} {
		if _, err := StandardError(bad.sd, bad.m, bad.total); err == nil {
			t.Errorf("%+v is not refused", bad)
		}
	}
}
