package stats

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// skewed are distributions between -1 and 1 with a mean of 0, of the kinds that make
// tests err that take a mean for normal.
func skewed(r *rand.Rand) map[string]func() float64 {
	two := func(high, low float64) func() float64 {
		return func() float64 {
			if r.Float64() < -low/(high-low) {
				return high
			}
			return low
		}
	}
	return map[string]func() float64{
		"coin":                   two(1, -1),
		"small gains, rare loss": two(0.05, -1),
		"rare gain, small loss":  two(1, -0.05),
		"uniform":                func() float64 { return 2*r.Float64() - 1 },
		"mostly ties": func() float64 {
			switch u := r.Float64(); {
			case u < 0.05:
				return 1
			case u < 0.1:
				return -1
			}
			return 0
		},
	}
}

func TestSingleKeepsItsLevel(t *testing.T) {
	t.Parallel()
	const runs = 3000
	stream := uint64(400)
	for _, n := range []int{8, 40, 200} {
		for _, name := range slices.Sorted(maps.Keys(skewed(nil))) {
			stream++
			draw := skewed(generator(stream))[name]
			for _, level := range []float64{0.04, 0.005} {
				got := frequency(runs, func() bool {
					w, err := Single{Level: level}.Wealth(sample(n, draw), 0)
					if err != nil {
						t.Fatal(err)
					}
					return w >= 1/level
				})
				atMost(t, name, got, level, runs)
			}
		}
	}
}

// The bound is above the mean in at most Level of the samples.
func TestSingleLowerHolds(t *testing.T) {
	t.Parallel()
	const runs, level = 1500, 0.05
	for _, n := range []int{20, 100} {
		r := generator(uint64(480 + n))
		mean := 0.12
		draw := func() float64 {
			if r.Float64() < 0.3 {
				return 1.2*r.Float64() - 0.2 // 0.4 on average
			}
			return 0
		}
		wrong := frequency(runs, func() bool {
			low, err := Single{Level: level}.Lower(sample(n, draw), 0, 0.001)
			if err != nil {
				t.Fatal(err)
			}
			return low > mean
		})
		atMost(t, "lower bound above the mean", wrong, level, runs)
	}
}

func sample(n int, draw func() float64) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = draw()
	}
	return xs
}

func TestSingleWealth(t *testing.T) {
	t.Parallel()
	ones := func(n int, x float64) []float64 { return sample(n, func() float64 { return x }) }
	tests := []struct {
		name    string
		xs      []float64
		reached bool
	}{
		{"nothing", nil, false},
		{"all alike", ones(100, 0), false},
		{"all won, too few for the level", ones(4, 1), false},
		{"all won", ones(5, 1), true},
		{"all lost", ones(50, -1), false},
		{"always a little ahead", ones(60, 0.2), true},
	}
	for _, tt := range tests {
		w, err := Single{Level: 0.04}.Wealth(tt.xs, 0)
		if err != nil || (w >= 25) != tt.reached || w > 25 {
			t.Errorf("%s: wealth %v, %v", tt.name, w, err)
		}
	}
}

func TestSingleRefuses(t *testing.T) {
	t.Parallel()
	xs := []float64{0.5}
	for name, f := range map[string]func() (float64, error){
		"level 0":       func() (float64, error) { return Single{}.Wealth(xs, 0) },
		"level 1":       func() (float64, error) { return Single{Level: 1}.Wealth(xs, 0) },
		"mean 1":        func() (float64, error) { return Single{Level: 0.1}.Wealth(xs, 1) },
		"mean -1":       func() (float64, error) { return Single{Level: 0.1}.Wealth(xs, -1) },
		"nan":           func() (float64, error) { return Single{Level: 0.1}.Wealth([]float64{math.NaN()}, 0) },
		"range":         func() (float64, error) { return Single{Level: 0.1}.Wealth([]float64{1.5}, 0) },
		"step 0":        func() (float64, error) { return Single{Level: 0.1}.Lower(xs, 0, 0) },
		"mean of lower": func() (float64, error) { return Single{Level: 0.1}.Lower(xs, 2, 0.1) },
	} {
		if got, err := f(); err == nil {
			t.Errorf("%s: no error but %v", name, got)
		}
	}
}

// Wealth is the mean of a fair game: over all samples of a two-point distribution it
// comes to 1, weighted by their probabilities.
func TestSingleIsAFairGame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "n")
		high := rapid.Float64Range(0.05, 1).Draw(t, "high")
		low := -rapid.Float64Range(0.05, 1).Draw(t, "-low")
		level := rapid.Float64Range(0.001, 0.5).Draw(t, "level")
		p := -low / (high - low)
		mean, xs := 0.0, make([]float64, n)
		for bits := range 1 << n {
			weight := 1.0
			for i := range xs {
				if bits>>i&1 == 1 {
					xs[i], weight = high, weight*p
				} else {
					xs[i], weight = low, weight*(1-p)
				}
			}
			w, err := Single{Level: level}.Wealth(xs, 0)
			if err != nil {
				t.Fatal(err)
			}
			mean += weight * w
		}
		if mean > 1+1e-9 {
			t.Fatalf("the wealth is %v on average", mean)
		}
	})
}

// A bound is never above the largest observation, and better samples never have a
// bound below where the search begins.
func TestSingleLowerIsWithinReach(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(-1, 1), 0, 60).Draw(t, "xs")
		top := 0.0
		for _, x := range xs {
			top = max(top, x)
		}
		low, err := Single{Level: 0.05}.Lower(xs, 0, 0.001)
		if err != nil || low < 0 || low > top {
			t.Fatalf("a bound of %v, %v; the largest is %v", low, err, top)
		}
	})
}
