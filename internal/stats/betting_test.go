package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/score"
)

// naiveWealth multiplies out what the documentation of Betting says, one player
// after the other, in the plainest way.
func naiveWealth(low float64, total int, xs []float64, m float64) float64 {
	mean := 0.0
	for k := 1; k <= 32; k++ {
		wealth, sum := 1.0, 0.0
		for i, x := range xs {
			rest := m
			if total > 0 {
				rest = (float64(total)*m - sum) / float64(total-i)
			}
			wealth *= 1 + float64(k)/64*(x-rest)/(rest-low)
			sum += x
		}
		mean += wealth / 64
		if k == 32 {
			mean += wealth / 2
		}
	}
	return mean
}

func TestLogWealth(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		b    Betting
		xs   []float64
		m    float64
	}{
		{"differences", Betting{}, []float64{1, 0, -1, 0.5, 1, 1, 0.25}, 0},
		{"differences against a tenth", Betting{}, []float64{1, 0, -1, 0.5, 1, 1, 0.25}, 0.1},
		{"scores", Betting{Low: 0, High: 1}, []float64{1, 0, 1, 1, 0.5, 1}, 0.4},
		{"of eleven", Betting{Total: 11}, []float64{1, 0, -1, 0.5, 1, 1, 0.25}, 0},
		{"scores of ten", Betting{Low: 0, High: 1, Total: 10}, []float64{0, 1, 1, 0.5}, 0.6},
	}
	for _, tt := range tests {
		low, _ := tt.b.bounds()
		got, err := tt.b.LogWealth(tt.xs, tt.m)
		if err != nil {
			t.Fatal(err)
		}
		want := naiveWealth(low, tt.b.Total, tt.xs, tt.m)
		if math.Abs(Evidence(got)/want-1) > 1e-12 {
			t.Errorf("%s: wealth %v, want %v", tt.name, Evidence(got), want)
		}
		path, err := tt.b.Path(tt.xs, tt.m)
		if err != nil {
			t.Fatal(err)
		}
		if len(path) != len(tt.xs) || math.Abs(path[len(path)-1]-got) > 1e-12 {
			t.Errorf("%s: the path ends at %v, want %v", tt.name, path, got)
		}
	}
}

func TestBettingWithLittle(t *testing.T) {
	t.Parallel()
	if got, err := (Betting{}).LogWealth(nil, 0); err != nil || got != 0 {
		t.Errorf("nothing read: %v, %v, want a wealth of 1", got, err)
	}
	if got, err := (Betting{}).LogWealth(make([]float64, 50), 0); err != nil || got != 0 {
		t.Errorf("ties only: %v, %v, want a wealth of 1", got, err)
	}
	if got, err := (Betting{Total: 3}).LogWealth([]float64{1, 1}, 0); err != nil || !math.IsInf(got, 1) {
		t.Errorf("two wins of three: %v, %v: the mean must be above 0", got, err)
	}
	if got, err := (Betting{Total: 4}).LogWealth([]float64{1, 1}, 0); err != nil || math.IsInf(got, 1) {
		t.Errorf("two wins of four: %v, %v: the mean may be 0", got, err)
	}
	if got, err := (Betting{Total: 4}).LogWealth([]float64{-1, -1, -1, 1}, 0); err != nil || got >= 0 {
		t.Errorf("three losses of four: %v, %v, want a loss", got, err)
	}
	whole, err := (Betting{Total: 2}).Interval([]float64{0.5, 0}, 0.95)
	if diff := cmp.Diff(score.Interval{Low: 0.25, High: 0.25}, whole); diff != "" || err != nil {
		t.Errorf("all read: %v %s", err, diff)
	}
	none, err := Betting{Low: 0, High: 1}.Interval(nil, 0.95)
	if diff := cmp.Diff(score.Interval{Low: 0, High: 1}, none); diff != "" || err != nil {
		t.Errorf("nothing read: %v %s", err, diff)
	}
}

func TestBettingRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		b  Betting
		xs []float64
		m  float64
	}{
		"NaN":              {Betting{}, []float64{math.NaN()}, 0},
		"above the bound":  {Betting{}, []float64{1.01}, 0},
		"below the bound":  {Betting{Low: 0, High: 1}, []float64{-0.01}, 0.5},
		"bounds reversed":  {Betting{Low: 1, High: -1}, nil, 0},
		"a bound is NaN":   {Betting{Low: math.NaN(), High: 1}, nil, 0},
		"mean outside":     {Betting{}, nil, 2},
		"mean NaN":         {Betting{}, nil, math.NaN()},
		"more than all":    {Betting{Total: 1}, []float64{0, 0}, 0},
		"a negative total": {Betting{Total: -1}, nil, 0},
	}
	for name, tt := range tests {
		if _, err := tt.b.LogWealth(tt.xs, tt.m); err == nil {
			t.Errorf("%s is not refused", name)
		}
		if _, err := tt.b.Path(tt.xs, tt.m); err == nil {
			t.Errorf("%s is not refused by Path", name)
		}
	}
	for _, level := range []float64{0, 1, math.NaN()} {
		if _, err := (Betting{}).Interval([]float64{0}, level); err == nil {
			t.Errorf("level %v is not refused", level)
		}
	}
}

// The mean of the wealth over all 2^n outcomes of fair coins is 1: computed in
// full, with replacement and over all orders of a finite set without.
func TestWealthHasMeanOne(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 12; n++ {
		mean := 0.0
		for outcome := range 1 << n {
			xs := make([]float64, n)
			for i := range xs {
				xs[i] = float64(2*(outcome>>i&1) - 1)
			}
			mean += Evidence(must(t, Betting{}, xs, 0)) / float64(int(1)<<n)
		}
		if math.Abs(mean-1) > 1e-12 {
			t.Errorf("with replacement, %d coins: %v", n, mean)
		}
	}
	set := []float64{0.9, -0.4, -0.7, 0.1, 0.3, -0.2} // mean 0
	for n := 1; n < len(set); n++ {
		mean, orders := 0.0, 0
		permute(set, func(order []float64) {
			orders++
			mean += Evidence(must(t, Betting{Total: len(set)}, order[:n], 0))
		})
		if mean /= float64(orders); math.Abs(mean-1) > 1e-12 {
			t.Errorf("%d of %d without replacement: %v", n, len(set), mean)
		}
	}
}

func must(t interface{ Fatal(args ...any) }, b Betting, xs []float64, m float64) float64 {
	got, err := b.LogWealth(xs, m)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// permute visits all orders.
func permute(xs []float64, visit func([]float64)) {
	var from func(int)
	from = func(i int) {
		if i == len(xs) {
			visit(xs)
			return
		}
		for j := i; j < len(xs); j++ {
			xs[i], xs[j] = xs[j], xs[i]
			from(i + 1)
			xs[i], xs[j] = xs[j], xs[i]
		}
	}
	from(0)
}

// One pass over all items, each with an outcome of its own chance: the items'
// true means cancel, so the hypothesis holds, and the mean wealth over all
// outcomes must not be above 1 (the means' product is largest when they are
// equal). This is why a pass over a fixed set may be counted as evidence.
func TestWealthOfAFullPassOverUnequalItems(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "items")
		p := make([]float64, n) // probability of a win; a loss otherwise
		sum := 0.0
		for i := range p {
			p[i] = rapid.Float64Range(0, 1).Draw(t, "p")
			sum += p[i]
		}
		if sum > float64(n)/2 { // mirror, so that the mean difference is at most 0
			for i := range p {
				p[i] = 1 - p[i]
			}
		}
		mean := 0.0
		for outcome := range 1 << n {
			xs, weight := make([]float64, n), 1.0
			for i := range xs {
				if outcome>>i&1 == 1 {
					xs[i], weight = 1, weight*p[i]
				} else {
					xs[i], weight = -1, weight*(1-p[i])
				}
			}
			mean += weight * Evidence(must(t, Betting{}, xs, 0))
		}
		if mean > 1+1e-12 {
			t.Fatalf("mean wealth %v over items %v", mean, p)
		}
	})
}

func differences(t *rapid.T, most int) []float64 {
	return rapid.SliceOfN(rapid.Float64Range(-1, 1), 0, most).Draw(t, "differences")
}

func TestBettingLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		xs := differences(t, 30)
		b := Betting{}
		if rapid.Bool().Draw(t, "finite") {
			b.Total = len(xs) + rapid.IntRange(0, 20).Draw(t, "unread")
		}
		low := rapid.Float64Range(-0.99, 0.99).Draw(t, "mean")
		high := rapid.Float64Range(low, 0.99).Draw(t, "higher mean")
		if one, two := must(t, b, xs, low), must(t, b, xs, high); two > one+1e-9 {
			t.Fatalf("log wealth against %v is %v, against %v it is %v", low, one, high, two)
		}
		got, err := b.Interval(xs, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		if !(got.Low <= got.High) || got.Low < -1 || got.High > 1 {
			t.Fatalf("interval %v", got)
		}
		mirror := make([]float64, len(xs))
		for i, x := range xs {
			mirror[i] = -x
		}
		other, err := b.Interval(mirror, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, score.Interval{Low: -other.High, High: -other.Low}, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Fatalf("not symmetric: %s", diff)
		}
	})
}

func TestBettingWithReplacementHasNoOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		xs := differences(t, 40)
		shuffled := rapid.Permutation(xs).Draw(t, "shuffled")
		if one, two := must(t, Betting{}, xs, 0), must(t, Betting{}, shuffled, 0); one != two {
			t.Fatalf("log wealth %v, in another order %v", one, two)
		}
		got, err := (Betting{}).Interval(xs, 0.9)
		if err != nil {
			t.Fatal(err)
		}
		mean := sumValues(xs) / float64(max(1, len(xs)))
		if len(xs) > 0 && (mean < got.Low-1e-9 || mean > got.High+1e-9) {
			t.Fatalf("the mean %v is not in %v", mean, got)
		}
		if !slices.Equal(slices.Sorted(slices.Values(xs)), slices.Sorted(slices.Values(shuffled))) {
			t.Fatal("the input was changed")
		}
	})
}

// Somebody who knows the variance needs fewer observations than the players, and is wrong
// no more often.
func TestStakes(t *testing.T) {
	t.Parallel()
	const variance, margin = 0.3, 0.05
	r := rand.New(rand.NewPCG(7, 7))
	draw := func(mean float64) float64 {
		switch u := r.Float64(); {
		case u < (variance+mean)/2:
			return 1
		case u < variance:
			return -1
		}
		return 0
	}
	var wrong, found, players int
	const runs, n = 2000, 1200
	for range runs {
		null, own := make([]float64, n), make([]float64, n)
		for i := range null {
			null[i], own[i] = draw(-margin), draw(0)
		}
		b := Betting{Stakes: slices.Repeat([]float64{StakeFor(margin, variance)}, n)}
		path, err := b.Path(null, -margin)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Max(path) >= math.Log(20) {
			wrong++
		}
		for _, c := range []struct {
			b     Betting
			count *int
		}{{b, &found}, {Betting{}, &players}} {
			if w, err := c.b.LogWealth(own, -margin); err != nil {
				t.Fatal(err)
			} else if w >= math.Log(20) {
				*c.count++
			}
		}
	}
	t.Logf("of %d: wrong %d, found %d, by the players %d", runs, wrong, found, players)
	if float64(wrong) > 0.05*runs+3*math.Sqrt(0.05*0.95*runs) || found < players+runs/10 {
		t.Errorf("wrong %d times, found %d, the players %d", wrong, found, players)
	}
	if _, err := (Betting{Stakes: []float64{0.5}}).LogWealth([]float64{0, 1}, 0); err == nil {
		t.Error("one stake for two observations is taken")
	}
	if _, err := (Betting{Stakes: []float64{1}}).LogWealth([]float64{0}, 0); err == nil {
		t.Error("a stake of everything is taken")
	}
}
