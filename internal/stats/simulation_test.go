package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// These tests draw samples, from fixed seeds, and count how often a promise is
// kept. A promise "at most alpha" is broken when the share lies more than three
// standard errors above it.

func generator(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(20260, stream)) }

// frequency is how often the event came in so many runs.
func frequency(runs int, event func() bool) float64 {
	n := 0
	for range runs {
		if event() {
			n++
		}
	}
	return float64(n) / float64(runs)
}

// noise is three standard errors of a share.
func noise(p float64, runs int) float64 { return 3 * math.Sqrt(p*(1-p)/float64(runs)) }

func atMost(t *testing.T, name string, got, alpha float64, runs int) {
	t.Helper()
	t.Logf("%s: %.4f, promised at most %.3f", name, got, alpha)
	if got > alpha+noise(alpha, runs) {
		t.Errorf("%s: %.4f of %d runs, promised at most %v", name, got, runs, alpha)
	}
}

// Somebody looks after every pair and stops at the first E >= 1/alpha, within
// 400 pairs.
func TestDiscordantEUnderOptionalStopping(t *testing.T) {
	t.Parallel()
	const runs, alpha = 4000, 0.05
	for i, p := range []float64{0.5, 0.45} {
		r := generator(uint64(i))
		got := frequency(runs, func() bool {
			wins, losses := 0, 0
			for range 400 {
				if r.Float64() < p {
					wins++
				} else {
					losses++
				}
				if wins > losses && DiscordantE(wins, losses) >= 1/alpha {
					return true
				}
			}
			return false
		})
		atMost(t, "a win has probability "+[]string{"0.5", "0.45"}[i], got, alpha, runs)
	}
}

// draws of bounded differences whose mean is exactly 0.
func nulls(r *rand.Rand) map[string]func() float64 {
	return map[string]func() float64{
		"coin":       func() float64 { return float64(2*r.IntN(2) - 1) },
		"mostly tie": func() float64 { return []float64{-1, 0, 0, 0, 0, 0, 0, 1}[r.IntN(8)] },
		"uniform":    func() float64 { return 2*r.Float64() - 1 },
		"rare win": func() float64 { // +1 with probability 1/21, else -1/20
			if r.IntN(21) == 0 {
				return 1
			}
			return -0.05
		},
		"rare loss": func() float64 {
			if r.IntN(21) == 0 {
				return -1
			}
			return 0.05
		},
	}
}

func TestBettingUnderOptionalStopping(t *testing.T) {
	t.Parallel()
	const runs, alpha, most = 800, 0.05, 300
	for i, name := range []string{"coin", "mostly tie", "uniform", "rare win", "rare loss"} {
		draw := nulls(generator(100 + uint64(i)))[name]
		xs := make([]float64, most)
		got := frequency(runs, func() bool {
			for i := range xs {
				xs[i] = draw()
			}
			return everReaches(t, Betting{}, xs, alpha)
		})
		atMost(t, name, got, alpha, runs)
	}
}

// everReaches says whether somebody who looks every time ever sees 1/alpha
// against a mean of 0.
func everReaches(t *testing.T, b Betting, xs []float64, alpha float64) bool {
	path, err := b.Path(xs, 0)
	if err != nil {
		t.Fatal(err)
	}
	return len(path) > 0 && slices.Max(path) >= math.Log(1/alpha)
}

// A finite set with mean 0, read in a random order to its end.
func TestBettingWithoutReplacementUnderOptionalStopping(t *testing.T) {
	t.Parallel()
	const runs, alpha = 2000, 0.05
	sets := map[string][]float64{
		"coins": append(slices.Repeat([]float64{1}, 30), slices.Repeat([]float64{-1}, 30)...),
		"ties":  append(slices.Repeat([]float64{0}, 30), 1, 1, 1, -1, -1, -1),
		"skew":  append(slices.Repeat([]float64{-0.125}, 40), 1, 1, 1, 1, 1),
	}
	for i, name := range []string{"coins", "ties", "skew"} {
		r, set := generator(200+uint64(i)), sets[name]
		got := frequency(runs, func() bool {
			r.Shuffle(len(set), func(i, j int) { set[i], set[j] = set[j], set[i] })
			return everReaches(t, Betting{Total: len(set)}, set, alpha)
		})
		atMost(t, name, got, alpha, runs)
	}
}

// The sequence of intervals misses the true mean at some n in at most 1 - level
// of the runs. The true mean is outside exactly when one of the sides has won
// enough against it, which spares computing every interval.
func TestConfidenceSequenceCoversAtEveryLook(t *testing.T) {
	t.Parallel()
	const runs, most, level, p = 800, 250, 0.9, 0.3
	r := generator(300)
	limit := math.Log(2 / (1 - level))
	up, down := Betting{Low: 0, High: 1}, Betting{Low: -1, High: 0}
	run := 0
	missed := frequency(runs, func() bool {
		run++
		xs, mirror := make([]float64, most), make([]float64, most)
		for i := range xs {
			if r.Float64() < p {
				xs[i], mirror[i] = 1, -1
			}
		}
		one, err := up.Path(xs, p)
		two, err2 := down.Path(mirror, -p)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if run <= 100 { // that this is so
			out := one[most-1] >= limit || two[most-1] >= limit
			got, err := up.Interval(xs, level)
			if err != nil || out != (p < got.Low-1e-9 || p > got.High+1e-9) {
				t.Fatalf("interval %v, %v; outside: %v", got, err, out)
			}
		}
		return slices.Max(one) >= limit || slices.Max(two) >= limit
	})
	atMost(t, "missed at some look", missed, 1-level, runs)
}

// Several passes over the same items, each with chances of its own that cancel
// over the set, in a new random order every time and watched all the time.
func TestBettingOverPassesOfNoisyItems(t *testing.T) {
	t.Parallel()
	const runs, alpha, items, passes = 1500, 0.05, 30, 8
	r := generator(400)
	var chance [items][2]float64 // of a win, of a loss
	for i := range items / 2 {
		win, loss := 0.6*r.Float64(), 0.4*r.Float64()
		chance[2*i], chance[2*i+1] = [2]float64{win, loss}, [2]float64{loss, win}
	}
	got := frequency(runs, func() bool {
		var xs []float64
		for range passes {
			for _, i := range r.Perm(items) {
				switch u := r.Float64(); {
				case u < chance[i][0]:
					xs = append(xs, 1)
				case u < chance[i][0]+chance[i][1]:
					xs = append(xs, -1)
				default:
					xs = append(xs, 0)
				}
			}
		}
		return everReaches(t, Betting{}, xs, alpha)
	})
	atMost(t, "passes over fixed items", got, alpha, runs)
}

// The bootstrap is approximate: the share of intervals that hold the true mean
// must be near the level.
func TestBootstrapCoverage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		n    int
		mean float64
		draw func(*rand.Rand) float64
	}{
		{"paired hits", 60, 0.1, func(r *rand.Rand) float64 { // 1, 0, -1 with 0.25, 0.6, 0.15
			u := r.Float64()
			switch {
			case u < 0.25:
				return 1
			case u < 0.4:
				return -1
			}
			return 0
		}},
		{"skewed", 60, 0.25, func(r *rand.Rand) float64 { return math.Pow(r.Float64(), 3) }},
	}
	for i, tt := range tests {
		const runs, level = 500, 0.9
		r := generator(500 + uint64(i))
		got := frequency(runs, func() bool {
			diffs := make([]float64, tt.n)
			for i := range diffs {
				diffs[i] = tt.draw(r)
			}
			b, err := PairedBootstrapBCa(diffs, 500, 1-level, r.Int64())
			if err != nil {
				t.Fatal(err)
			}
			return b.Interval.Low <= tt.mean && tt.mean <= b.Interval.High
		})
		t.Logf("%s: %.3f of the intervals hold the mean, wanted %v", tt.name, got, level)
		if math.Abs(got-level) > noise(level, runs) {
			t.Errorf("%s: %.3f of the intervals hold the mean, want %v", tt.name, got, level)
		}
	}
}

// The coverage of Wilson's interval needs no drawing: the binomial probabilities
// of the counts whose interval holds p are added. L. Brown, T. Cai and A.
// DasGupta, "Interval Estimation for a Binomial Proportion", Statistical Science
// 16, 2001, find it near the level on average and never far below for p that is
// not extreme.
func TestWilsonCoverage(t *testing.T) {
	t.Parallel()
	for _, n := range []int{10, 40, 140} {
		sum, least, points := 0.0, 1.0, 0
		for p := 0.05; p < 0.951; p += 0.01 {
			held := 0.0
			for k := 0; k <= n; k++ {
				got, err := Wilson(k, n, 0.95)
				if err != nil {
					t.Fatal(err)
				}
				if got.Low <= p && p <= got.High {
					held += binomial(n, k, p)
				}
			}
			sum, least, points = sum+held, min(least, held), points+1
		}
		t.Logf("n=%d: coverage %.4f on average, at least %.4f", n, sum/float64(points), least)
		if mean := sum / float64(points); math.Abs(mean-0.95) > 0.01 || least < 0.9 {
			t.Errorf("n=%d: coverage %.4f on average, %.4f at the least", n, mean, least)
		}
	}
}

func binomial(n, k int, p float64) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}

// The estimates of the two parts of the variance are right on average.
func TestVarianceSplitIsUnbiased(t *testing.T) {
	t.Parallel()
	const runs, between, within = 3000, 0.04, 0.09
	r := generator(800)
	var sum Split
	for range runs {
		scores := make([][]float64, 20)
		for i := range scores {
			mean := 0.2 * r.NormFloat64()
			for range 2 + i%3 {
				scores[i] = append(scores[i], mean+0.3*r.NormFloat64())
			}
		}
		got, err := VarianceSplit(scores)
		if err != nil {
			t.Fatal(err)
		}
		sum.Between += got.Between / runs
		sum.Within += got.Within / runs
	}
	if math.Abs(sum.Between-between) > 0.002 || math.Abs(sum.Within-within) > 0.002 {
		t.Errorf("on average %+v, want %v and %v", sum, between, within)
	}
}
