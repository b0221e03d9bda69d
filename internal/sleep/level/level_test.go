package level_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/sleep/level"
)

// Before a wrong certificate the levels of all candidates that are no better sum to alpha at
// most, whatever was certified in between: the argument by which the procedure is right.
func TestLevelsOfTheWrongOnesSumToAlpha(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		better := rapid.SliceOfN(rapid.Bool(), 0, 60).Draw(t, "better")
		certified, sum := []bool{}, 0.0
		for _, b := range better {
			l := level.Next(level.Alpha, certified)
			if l <= 0 || l > level.Alpha {
				t.Fatalf("a level of %v", l)
			}
			if !b {
				sum += l
			}
			certified = append(certified, b && rapid.Bool().Draw(t, "found"))
		}
		if sum > level.Alpha+1e-12 {
			t.Fatalf("%v", sum)
		}
	})
}

// A candidate that follows a certified one has that one's level too.
func TestACertificateHandsItsLevelOn(t *testing.T) {
	first, second := level.Next(0.05, nil), level.Next(0.05, []bool{false})
	if got := level.Next(0.05, []bool{true}); math.Abs(got-first-second) > 1e-15 {
		t.Errorf("%v, want %v", got, first+second)
	}
	if got := level.Next(0.05, []bool{true, false}); got >= second {
		t.Errorf("what was not certified hands on: %v", got)
	}
}

func TestFloor(t *testing.T) {
	for l, want := range map[float64]int{0.05: 5, 0.04: 5, 0.0122: 7, 0.01: 7, 0.004: 8, 0.002: 9} {
		got, err := level.Floor(gate.LookExact, l)
		if err != nil || got != want {
			t.Errorf("floor at %v: %d, want %d, %v", l, got, want, err)
		}
	}
	exact, _ := level.Floor(gate.LookExact, 0.01)
	if bound, err := level.Floor(gate.LookBound, 0.01); err != nil || bound < exact {
		t.Errorf("the bound: %d, %v", bound, err)
	}
	if _, err := level.Floor(gate.LookExact, 0); err == nil {
		t.Error("a level of 0 has a floor")
	}
}

// One won task fewer than the floor does not certify, the floor does.
func TestTrap83OneTaskBelowTheFloorIsNotCertified(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := level.Half(level.Next(level.Alpha, make([]bool, rapid.IntRange(0, 30).Draw(t, "candidates"))))
		n, err := level.Floor(gate.LookExact, l)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []int{n - 1, n} {
			pairs := make([]gate.Pair, k)
			for i := range pairs {
				pairs[i].Candidate = 1
			}
			look, err := gate.LookOnce(pairs, gate.LookExact, l)
			if err != nil || look.Certified != (k == n) {
				t.Fatalf("%d of %d won at %v: certified %v, %v", k, k, l, look.Certified, err)
			}
		}
	})
}

// The power is that of drawing.
func TestPower(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct {
		gain float64
		n    int
		l    float64
	}{{0.2, 12, 0.0122}, {0.4, 12, 0.0122}, {0.6, 9, 0.0122}, {0.4, 40, 0.003}, {0.95, 8, 0.01}} {
		got, err := level.Power(tt.gain, tt.n, tt.l)
		if err != nil {
			t.Fatal(err)
		}
		const draws = 4000
		found := 0
		for range draws {
			pairs := make([]gate.Pair, tt.n)
			for i := range pairs {
				switch u := rng.Float64(); {
				case u < min(1-level.Losses, tt.gain+level.Losses):
					pairs[i].Candidate = 1
				case u > 1-level.Losses:
					pairs[i].Reference = 1
				}
			}
			if look, err := gate.LookOnce(pairs, gate.LookExact, tt.l); err == nil && look.Certified {
				found++
			}
		}
		drawn := float64(found) / draws
		if math.Abs(drawn-got) > 4*math.Sqrt(got*(1-got)/draws)+1e-9 {
			t.Errorf("gain %v of %d at %v: %v, drawn %v", tt.gain, tt.n, tt.l, got, drawn)
		}
	}
	if _, err := level.Power(0, 10, 0.05); err == nil {
		t.Error("no gain has a power")
	}
	if got, err := level.Power(0.4, 0, 0.05); err != nil || got != 0 {
		t.Errorf("no tasks: %v, %v", got, err)
	}
}
