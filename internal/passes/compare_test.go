package passes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var usual = Rule{Level: 0.95, Margin: 0.05}

// repeated is n times x.
func repeated(n int, x float64) []float64 { return slices.Repeat([]float64{x}, n) }

func TestJudge(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name               string
		differences        []float64
		want               Verdict
		wins, losses, ties int
	}{
		{"nothing", nil, NotEnoughData, 0, 0, 0},
		// Half of the money grows by 3/2 a win: 1.5^11 / 2 = 43.2 is above 2/0.05 = 40
		// (with the rest of the money 10 wins are not enough).
		{"eleven wins", repeated(11, 1), Better, 11, 0, 0},
		{"nine wins", repeated(9, 1), NotEnoughData, 9, 0, 0},
		{"eleven losses", repeated(11, -1), Worse, 0, 11, 0},
		{"ties", repeated(100, 0), NotEnoughData, 0, 0, 100},
		{"many ties", repeated(200, 0), NoDifference, 0, 0, 200},
		{"rounding", repeated(3, 1e-12), NotEnoughData, 0, 0, 3},
	}
	for _, tt := range tests {
		got, err := usual.Judge(tt.differences)
		if err != nil {
			t.Fatal(err)
		}
		if got.Verdict != tt.want || got.Wins != tt.wins || got.Losses != tt.losses || got.Ties != tt.ties {
			t.Errorf("%s: %+v, want %s", tt.name, got, tt.want)
		}
		if known := got.Mean != nil && got.Low != nil && got.High != nil; known != (len(tt.differences) > 0) {
			t.Errorf("%s: figures are there: %v", tt.name, known)
		}
	}
}

func TestJudgeRefuses(t *testing.T) {
	t.Parallel()
	for _, r := range []Rule{{}, {Level: 1, Margin: 0.05}, {Level: 0.95}, {Level: 0.95, Margin: 1}, {Level: math.NaN(), Margin: 0.1}, {Level: 0.9, Margin: math.NaN()}} {
		if _, err := r.Judge(nil); err == nil {
			t.Errorf("%+v is not refused", r)
		}
	}
	for _, d := range []float64{1.5, math.NaN()} {
		if _, err := usual.Judge([]float64{d}); err == nil {
			t.Errorf("a difference of %v is not refused", d)
		}
	}
}

// The verdict must be what the interval says, and B against A the mirror of A
// against B.
func TestVerdictFollowsTheInterval(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := Rule{Level: rapid.Float64Range(0.5, 0.99).Draw(t, "level"), Margin: rapid.Float64Range(0.05, 0.9).Draw(t, "margin")}
		xs := rapid.SliceOfN(rapid.SampledFrom([]float64{-1, -0.5, 0, 0, 0, 0.25, 1}), 1, 60).Draw(t, "differences")
		xs = slices.Repeat(xs, rapid.IntRange(1, 5).Draw(t, "passes"))
		got, err := r.Judge(xs)
		if err != nil {
			t.Fatal(err)
		}
		const slack = 1e-6 // of the search for the bounds
		low, high := *got.Low, *got.High
		ok := map[Verdict]bool{
			Better:        low > -slack,
			Worse:         high < slack,
			NoDifference:  low > -r.Margin-slack && high < r.Margin+slack,
			NotEnoughData: low < slack && high > -slack && (low < -r.Margin+slack || high > r.Margin-slack),
		}
		if !ok[got.Verdict] {
			t.Fatalf("%s at [%v, %v] with margin %v", got.Verdict, low, high, r.Margin)
		}
		mirror := make([]float64, len(xs))
		for i, x := range xs {
			mirror[i] = -x
		}
		other, err := r.Judge(mirror)
		if err != nil {
			t.Fatal(err)
		}
		want := map[Verdict]Verdict{Better: Worse, Worse: Better, NoDifference: NoDifference, NotEnoughData: NotEnoughData}[got.Verdict]
		if other.Verdict != want || other.Wins != got.Losses || math.Abs(*other.Mean+*got.Mean) > 1e-12 {
			t.Fatalf("mirrored: %+v, want %s", other, want)
		}
	})
}

// Whatever Needs says must decide, and one pass less must not.
func TestNeedsIsTheSmallestThatDecides(t *testing.T) {
	t.Parallel()
	decided := 0
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.SampledFrom([]float64{-1, -0.5, 0, 0, 0.5, 1, 1}), 0, 40).Draw(t, "differences")
		times, ok, err := usual.Needs(xs)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return
		}
		decided++
		judge := func(n int) Verdict {
			got, err := usual.Judge(slices.Repeat(xs, n))
			if err != nil {
				t.Fatal(err)
			}
			return got.Verdict
		}
		if times < 2 || judge(1) != NotEnoughData || judge(times) == NotEnoughData || judge(times-1) != NotEnoughData {
			t.Fatalf("%d times %v: %s, one less %s", times, xs, judge(times), judge(times-1))
		}
	})
	if decided == 0 {
		t.Error("no case was decided by more data")
	}
	fine := Rule{Level: 0.95, Margin: 0.001}
	if _, ok, err := fine.Needs(append(repeated(20, 1), repeated(20, -1)...)); ok || err != nil {
		t.Errorf("more pairs than can be paid for: foreseeable %v, %v", ok, err)
	}
}

// A simulated comparison: looks after each block of the first pass and after each
// further pass, until it is decided.
func simulate(t *testing.T, rng *rand.Rand, a, b []float64, most int) (Verdict, int) {
	t.Helper()
	var seen []float64
	for pass := range most {
		looks := []int{len(a)}
		if pass == 0 {
			looks = Blocks(len(a))
		}
		at, order := 0, rng.Perm(len(a))
		for _, to := range looks {
			for ; at < to; at++ {
				i := order[at]
				seen = append(seen, draw(rng, b[i])-draw(rng, a[i]))
			}
			v, err := usual.verdict(seen)
			if err != nil {
				t.Fatal(err)
			}
			if v != NotEnoughData {
				return v, len(seen)
			}
		}
	}
	return NotEnoughData, len(seen)
}

// A false verdict must be no more frequent than the level allows, although one
// stops when it suits: tasks of very unequal chances, between which the difference
// is 0 on average.
func TestFalseVerdictsUnderOptionalStopping(t *testing.T) {
	t.Parallel()
	const runs, tasks, most = 1000, 24, 8
	rng := rand.New(rand.NewPCG(5, 8))
	wrong := 0
	for range runs {
		a, b := make([]float64, tasks), make([]float64, tasks)
		for i := range a {
			a[i] = rng.Float64()
			b[tasks-1-i] = a[i] // the same chances on other tasks: no difference
		}
		if v, _ := simulate(t, rng, a, b, most); v == Better || v == Worse {
			wrong++
		}
	}
	share := float64(wrong) / runs
	t.Logf("%d tasks, %d passes, no difference: %.3f of %d verdicts are false", tasks, most, share, runs)
	if share > 0.05+3*math.Sqrt(0.05*0.95/runs) {
		t.Errorf("%.3f of the verdicts are false, want at most 0.05", share)
	}
}

// How much it takes to tell skills apart; the table of docs/runs.md.
func TestHowManyPairsItTakes(t *testing.T) {
	t.Parallel()
	const runs = 100
	rng := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct {
		tasks, passes int
		effect        float64
		least         float64 // of the comparisons must find it
	}{{40, 10, 0.5, 0.99}, {40, 10, 0.3, 0.99}, {40, 10, 0.2, 0.95}, {40, 10, 0.1, 0.4}, {40, 40, 0.1, 0.95}} {
		found, pairs := 0, []int{}
		for range runs {
			a, b := make([]float64, tt.tasks), make([]float64, tt.tasks)
			for i := range a {
				a[i] = rng.Float64() * (1 - tt.effect)
				b[i] = a[i] + tt.effect
			}
			v, n := simulate(t, rng, a, b, tt.passes)
			if v == Better {
				found++
				pairs = append(pairs, n)
			}
		}
		slices.Sort(pairs)
		median := 0
		if len(pairs) > 0 {
			median = pairs[len(pairs)/2]
		}
		share := float64(found) / runs
		t.Logf("%d tasks, at most %d passes, difference %.2f: found in %.2f, after %d pairs in the middle", tt.tasks, tt.passes, tt.effect, share, median)
		if share < tt.least {
			t.Errorf("a difference of %v is found in %.2f of the comparisons, want %v", tt.effect, share, tt.least)
		}
	}
}

func draw(rng *rand.Rand, p float64) float64 {
	if rng.Float64() < p {
		return 1
	}
	return 0
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	for n, want := range map[int][]int{0: nil, 1: {1}, 8: {8}, 9: {8, 9}, 20: {8, 16, 20}, 100: {25, 50, 75, 100}} {
		if diff := cmp.Diff(want, Blocks(n)); diff != "" {
			t.Errorf("%d tasks (-want +got):\n%s", n, diff)
		}
	}
}

func TestOrderIsAPermutationOfItsSeed(t *testing.T) {
	t.Parallel()
	one, again, other := Order(30, 1), Order(30, 1), Order(30, 2)
	if !slices.Equal(one, again) || slices.Equal(one, other) {
		t.Errorf("orders %v, %v, %v", one, again, other)
	}
	for i, got := range slices.Sorted(slices.Values(one)) {
		if i != got {
			t.Fatalf("%v is no order of 30", one)
		}
	}
}

// The forecast reaches as far as it says: a need of some 33,000 pairs is found though
// the power of two before it is not enough and the one after it too many.
func TestNeedsLooksToItsEnd(t *testing.T) {
	t.Parallel()
	rule := Rule{Level: 0.95, Margin: 0.001}
	var found []int
	for wins := 501; wins < 540; wins++ {
		times, ok, err := rule.Needs(append(repeated(wins, 1), repeated(1000-wins, -1)...))
		if err != nil {
			t.Fatal(err)
		}
		if ok && times > 32 {
			found = append(found, times)
		}
	}
	if len(found) == 0 {
		t.Error("no need between 32,000 and 50,000 pairs was ever found")
	}
}
