package gate

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/stats"
)

func TestLookOnce(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		pairs     []Pair
		test      LookTest
		certified bool
	}{
		{"nothing", nil, LookExact, false},
		{"nothing, bound", nil, LookBound, false},
		{"a tie", compared(0, 0, 40), LookExact, false},
		{"even", compared(10, 10, 20), LookExact, false},
		{"five won: p 1/32", compared(5, 0, 35), LookExact, true},
		{"four won: p 1/16", compared(4, 0, 36), LookExact, false},
		{"eleven of fourteen: p .029", compared(11, 3, 0), LookExact, true},
		{"ten of fourteen: p .09", compared(10, 4, 0), LookExact, false},
		{"behind", compared(3, 11, 0), LookExact, false},
		{"far ahead, bound", compared(20, 1, 19), LookBound, true},
		{"behind, bound", compared(1, 20, 19), LookBound, false},
	}
	for _, tt := range tests {
		l, err := LookOnce(tt.pairs, tt.test, 0.04)
		if err != nil {
			t.Fatal(err)
		}
		if l.Certified != tt.certified || l.N != len(tt.pairs) || l.Wins+l.Losses+l.Ties != l.N {
			t.Errorf("%s: %+v", tt.name, l)
		}
		if (l.P == nil) == (tt.test == LookExact) || (l.Wealth == nil) == (tt.test == LookBound) || (l.Low == nil) == l.Certified {
			t.Errorf("%s: %+v", tt.name, l)
		}
	}
}

func TestLookOnceRefuses(t *testing.T) {
	t.Parallel()
	ok := compared(1, 0, 0)
	for name, f := range map[string]func() (Look, error){
		"level 0": func() (Look, error) { return LookOnce(ok, LookExact, 0) },
		"level 1": func() (Look, error) { return LookOnce(ok, LookBound, 1) },
		"nan":     func() (Look, error) { return LookOnce([]Pair{{Candidate: math.NaN()}}, LookExact, 0.05) },
		"range":   func() (Look, error) { return LookOnce([]Pair{{Candidate: 2}}, LookBound, 0.05) },
		"test":    func() (Look, error) { return LookOnce(ok, "t", 0.05) },
	} {
		if l, err := f(); err == nil {
			t.Errorf("%s: no error but %+v", name, l)
		}
	}
}

// What a cluster does not agree in counts for the reference.
func TestLookOnceOfClusters(t *testing.T) {
	t.Parallel()
	pairs := []Pair{{Candidate: 1, Cluster: "a"}, {Candidate: 1, Cluster: "a"}, {Candidate: 1, Cluster: "b"}, {Cluster: "b"}, {Candidate: 1, Cluster: "c"}, {Reference: 1, Cluster: "c"}, {Reference: 1, Cluster: "d"}, {Cluster: "d"}}
	l, err := LookOnce(pairs, LookExact, 0.05)
	if err != nil || l.N != 4 || l.Wins != 1 || l.Losses != 1 || l.Ties != 2 {
		t.Errorf("%+v, %v", l, err)
	}
}

// All readings together spend no more than alpha.
func TestLevelsAddUp(t *testing.T) {
	t.Parallel()
	for k, want := range map[int]float64{1: 0.04, 2: 0.005, 3: 0.0025, 4: 0.00125} {
		if got := LevelOf(0.05, k); math.Abs(got-want) > 1e-15 {
			t.Errorf("reading %d: %v, want %v", k, got, want)
		}
	}
	sum := 0.0
	for k := 1; k < 2000; k++ {
		level := LevelOf(0.05, k)
		if level < 0 || k > 1 && level > LevelOf(0.05, k-1) {
			t.Fatalf("reading %d is tested at %v", k, level)
		}
		sum += level
	}
	if sum > 0.05+1e-12 {
		t.Errorf("all readings spend %v", sum)
	}
}

// A partial score never makes the exact test more lenient than it is for whole ones below it.
func TestPartialScoresAreRoundedDown(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pairs := drawPairs(t, "pairs")
		whole := make([]Pair, len(pairs))
		for i := range pairs {
			pairs[i].Cluster = ""
			d := math.Floor(pairs[i].Candidate - pairs[i].Reference)
			whole[i] = Pair{Candidate: max(d, 0), Reference: max(-d, 0)}
		}
		got, err := LookOnce(pairs, LookExact, 0.3)
		if err != nil {
			t.Fatal(err)
		}
		want, err := LookOnce(whole, LookExact, 0.3)
		if err != nil {
			t.Fatal(err)
		}
		if *got.P != *want.P || got.Certified != want.Certified {
			t.Fatalf("%v, rounded %v", *got.P, *want.P)
		}
	})
}

// The exact test errs at most at its level, and finds what the test is known to find:
// both are summed up over all results, nothing is drawn.
func TestLookExactIsExact(t *testing.T) {
	t.Parallel()
	for _, n := range []int{8, 20, 40, 100} {
		for _, level := range []float64{0.04, 0.005, 0.0025} {
			for _, differing := range []float64{0.05, 0.25, 1} {
				if got := rejected(t, n, level, differing/2, differing/2); got > level+1e-12 {
					t.Errorf("n %d, %.0f %% answered differently: certified with probability %v at level %v", n, 100*differing, got, level)
				}
			}
		}
	}
	for n, want := range map[int]float64{40: 0.207, 100: 0.546} {
		if got := rejected(t, n, 0.04, 0.175, 0.075); math.Abs(got-want) > 0.01 {
			t.Errorf("n %d, +10 points: power %.3f, want %.3f", n, got, want)
		}
	}
}

// rejected is the probability of a certificate when a task is won and lost with these
// probabilities.
func rejected(t *testing.T, n int, level, win, loss float64) float64 {
	t.Helper()
	sum := 0.0
	for m := range n + 1 { // items that are answered differently
		for wins := range m + 1 {
			l := Look{Level: level}
			l.Differences = make([]float64, 0, m)
			for i := range m {
				d := -1.0
				if i < wins {
					d = 1
				}
				l.Differences = append(l.Differences, d)
			}
			if l.exact(); l.Certified {
				sum += distuv.Binomial{N: float64(n), P: win + loss}.Prob(float64(m)) * distuv.Binomial{N: float64(m), P: win / (win + loss)}.Prob(float64(wins))
			}
		}
	}
	return sum
}

// Of a fixed set of tasks, however unequal, the exact test of one reading errs no more
// often than of tasks drawn at random: if on average over the set the candidate is no better, it is
// certified with a probability of at most the level. All results are summed up.
func TestLookExactOfUnequalTasks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(5, 40).Draw(t, "n")
		win, loss := make([]float64, n), make([]float64, n)
		wins, losses := 0.0, 0.0
		for i := range n {
			win[i] = rapid.OneOf(rapid.SampledFrom([]float64{0, 0, 1}), rapid.Float64Range(0, 1)).Draw(t, "win")
			loss[i] = (1 - win[i]) * rapid.OneOf(rapid.SampledFrom([]float64{0, 0, 1}), rapid.Float64Range(0, 1)).Draw(t, "loss")
			wins, losses = wins+win[i], losses+loss[i]
		}
		if wins > losses { // made no better: the mean difference is 0
			for i := range win {
				win[i] *= losses / wins
			}
		}
		level := rapid.SampledFrom([]float64{0.04, 0.005, 0.0025}).Draw(t, "level")
		if got := rejectedOf(win, loss, level); got > level+1e-12 {
			t.Fatalf("certified with probability %v at level %v", got, level)
		}
	})
}

// rejectedOf is the probability of a certificate when task i is won with probability
// win[i] and lost with loss[i].
func rejectedOf(win, loss []float64, level float64) float64 {
	n := len(win)
	p := make([][]float64, n+1) // by wins and losses
	for i := range p {
		p[i] = make([]float64, n+1)
	}
	p[0][0] = 1
	for i := range n {
		for w := i + 1; w >= 0; w-- {
			for l := i + 1 - w; l >= 0; l-- {
				p[w][l] *= 1 - win[i] - loss[i]
				if w > 0 {
					p[w][l] += p[w-1][l] * win[i]
				}
				if l > 0 {
					p[w][l] += p[w][l-1] * loss[i]
				}
			}
		}
	}
	sum := 0.0
	for w := range n + 1 {
		for l := range n + 1 - w {
			if stats.McNemarExact(w, l).Greater <= level {
				sum += p[w][l]
			}
		}
	}
	return sum
}
