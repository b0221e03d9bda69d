package gate

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// compared makes pairs of wins, losses and ties.
func compared(wins, losses, ties int) []Pair {
	var out []Pair
	for range wins {
		out = append(out, Pair{Candidate: 1})
	}
	for range losses {
		out = append(out, Pair{Reference: 1})
	}
	for range ties {
		out = append(out, Pair{Candidate: 1, Reference: 1})
	}
	return out
}

func TestCertify(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		pairs     []Pair
		certified bool
	}{
		{"nothing", nil, false},
		{"a tie", compared(0, 0, 40), false},
		{"even", compared(10, 10, 20), false},
		{"far ahead", compared(20, 1, 19), true},
		{"behind", compared(1, 20, 19), false},
		{"a little ahead of many", compared(7, 5, 88), false},
	}
	for _, tt := range tests {
		c, err := Certify(tt.pairs, 0.05)
		if err != nil {
			t.Fatal(err)
		}
		if c.Certified != tt.certified || c.Test != TestMean {
			t.Errorf("%s: certified %v: %+v", tt.name, c.Certified, c)
		}
		if c.N != len(tt.pairs) || c.Wins+c.Losses+c.Ties != c.N || (c.Low == nil) != (c.N == 0) {
			t.Errorf("%s: counts %+v", tt.name, c)
		}
	}
	if c, _ := Certify(nil, 0.05); c.Wealth != 1 || c.SignE != 1 {
		t.Errorf("without pairs the wealth is %v and %v", c.Wealth, c.SignE)
	}
}

func TestCertifyBySign(t *testing.T) {
	t.Parallel()
	small := make([]Pair, 30) // ahead by next to nothing, but always
	for i := range small {
		small[i] = Pair{Candidate: 0.51, Reference: 0.5}
	}
	c, err := Certificate{Test: TestSign, Alpha: 0.05}.Add(small)
	if err != nil || !c.Certified {
		t.Errorf("%+v, %v", c, err)
	}
	if m, _ := Certify(small, 0.05); m.Certified {
		t.Errorf("the mean of 30 differences of 0.01: %+v", m)
	}
}

func TestCertifyRefuses(t *testing.T) {
	t.Parallel()
	ok := compared(1, 0, 0)
	for name, f := range map[string]func() (Certificate, error){
		"level 0": func() (Certificate, error) { return Certify(ok, 0) },
		"level 1": func() (Certificate, error) { return Certify(ok, 1) },
		"nan":     func() (Certificate, error) { return Certify([]Pair{{Candidate: math.NaN()}}, 0.05) },
		"range":   func() (Certificate, error) { return Certify([]Pair{{Candidate: 2}}, 0.05) },
		"test":    func() (Certificate, error) { return Certificate{Test: "t", Alpha: 0.05}.Add(ok) },
	} {
		if c, err := f(); err == nil {
			t.Errorf("%s: no error but %+v", name, c)
		}
	}
}

func TestClusteredPairsCountOnce(t *testing.T) {
	t.Parallel()
	pairs := compared(20, 0, 0)
	for i := range pairs {
		pairs[i].Cluster = "one document"
	}
	c, err := Certify(append(pairs, compared(1, 0, 1)...), 0.05)
	if err != nil || c.N != 3 || c.Wins != 2 || c.Certified {
		t.Errorf("%+v, %v", c, err)
	}
}

// drawPairs makes pairs with scores in hundredths.
func drawPairs(t *rapid.T, label string) []Pair {
	hundredths := rapid.IntRange(0, 100)
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Pair {
		return Pair{
			Candidate: float64(hundredths.Draw(t, "candidate")) / 100,
			Reference: float64(hundredths.Draw(t, "reference")) / 100,
			Cluster:   rapid.SampledFrom([]string{"", "", "a", "b"}).Draw(t, "cluster"),
		}
	}), 0, 20).Draw(t, label)
}

// Two nights are as good as one with all the pairs, written down between or not.
func TestCertificatesAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		first, second := drawPairs(t, "first"), drawPairs(t, "second")
		for i := range first {
			first[i].Cluster = "" // a cluster is averaged within a night
		}
		for i := range second {
			second[i].Cluster = ""
		}
		start := Certificate{Test: rapid.SampledFrom([]Test{TestMean, TestSign}).Draw(t, "test"), Alpha: 0.1}
		night, err := start.Add(first)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(night)
		if err != nil {
			t.Fatal(err)
		}
		var read Certificate
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		got, err := read.Add(second)
		if err != nil {
			t.Fatal(err)
		}
		want, err := start.Add(append(append([]Pair{}, first...), second...))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// The interval and the verdict say the same.
func TestCertifiedJustWhenTheLowerBoundIsAboveZero(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		alpha := rapid.Float64Range(0.01, 0.3).Draw(t, "alpha")
		c, err := Certify(drawPairs(t, "pairs"), alpha)
		if err != nil {
			t.Fatal(err)
		}
		if c.N == 0 || math.Abs(c.Wealth*alpha-1) < 1e-6 {
			return
		}
		if c.Certified != (*c.Low > 0) || *c.Low > *c.High {
			t.Fatalf("certified %v with an interval from %v to %v", c.Certified, *c.Low, *c.High)
		}
	})
}

// A candidate that is no better is certified in at most 5 % of runs, however
// often one looks: within three standard errors of the simulation.
func TestNothingIsRarelyCertified(t *testing.T) {
	t.Parallel()
	const runs, looks, step = 400, 5, 20
	for _, test := range []Test{TestMean, TestSign} {
		rng := rand.New(rand.NewPCG(7, 11))
		wrong := 0
		for range runs {
			c := Certificate{Test: test, Alpha: 0.05}
			for range looks {
				pairs := make([]Pair, step)
				for i := range pairs {
					p := rng.Float64() // as hard an item for both
					pairs[i] = Pair{Candidate: bernoulli(rng, p), Reference: bernoulli(rng, p)}
				}
				var err error
				if c, err = c.Add(pairs); err != nil {
					t.Fatal(err)
				}
				if c.Certified {
					wrong++
					break
				}
			}
		}
		if rate := float64(wrong) / runs; rate > 0.05+3*math.Sqrt(0.05*0.95/runs) {
			t.Errorf("%s: %.3f of candidates that are no better are certified", test, rate)
		}
	}
}

func bernoulli(rng *rand.Rand, p float64) float64 {
	if rng.Float64() < p {
		return 1
	}
	return 0
}
