package stats

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/seed-f4525e22/skillopt/score"
)

// Betting measures evidence on the mean of bounded observations by the wealth of
// somebody who bets against a value m of that mean (I. Waudby-Smith and A.
// Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86,
// 2024). The wealth begins at 1 and is multiplied, at each observation x, by
//
//	1 + lambda * (x - m) / (m - Low)
//
// with a stake lambda between 0 and 1/2 that depends on earlier observations
// alone. For differences between -1 and 1 and m = 0 that is 1 + lambda*d. If the
// true mean is at most m no one can expect to gain, and the probability that the
// wealth ever reaches 1/alpha is at most alpha (Ville). So it may be looked at
// after every observation, stopped at will, carried on another night, and
// multiplied with that of other observations.
//
// The stake: half of the money plays 1/2 throughout, the other half is spread
// evenly over 32 players who each always bet the same, from 1/64 to 1/2 (a
// discrete universal portfolio: T. Cover, Math. Finance 1, 1991; F. Orabona and
// K.-S. Jun, IEEE Trans. Inf. Theory 70, 2024). What they own together is the
// wealth of one player whose stake is their mean weighted by the money of each, which
// is predictable and within [0, 1/2]. There is nothing to tune, and with
// replacement the wealth does not depend on the order. The half that plays high
// is for the small samples that are usual here: it finds large effects in 40
// items and costs at most a factor of 2 elsewhere.
//
// The zero value is for differences between -1 and 1, with replacement.
type Betting struct {
	// Low and High bound one observation. Both 0 represent -1 and 1.
	Low, High float64
	// Total is the number of observations there are, when they are read without
	// replacement in an order drawn at random, and the mean meant is that of these
	// Total numbers: m is then what is left of it for the ones that were not read
	// yet. It applies to values that would be the same when read again. When
	// each evaluation is subject to chance leave it 0. 0: with replacement.
	Total int
	// Stakes are what all of the money plays, by observation, more than 0 and less than 1,
	// for somebody who knows from other observations what to expect: see [StakeFor]. One
	// may follow from those before it; choosing it by the one that is bet on, or by later
	// ones, would be cheating. nil: the players.
	Stakes []float64
}

// StakeFor returns the stake with which the wealth against a mean of -margin grows fastest, or
// nearly so. That holds when differences are -1 and 1 equally often, or closer to 0 in between, and
// vary with a known variance.
func StakeFor(margin, variance float64) float64 {
	r := margin * (1 - margin) / (variance + margin*margin) // what it would be, were losing it all no matter
	return max(minStake, min(maxStake, (math.Sqrt(1+4*r*r)-1)/(2*r)))
}

// The bounds of StakeFor: no observation loses it all, and there is always something
// to gain.
const (
	minStake = 0.01
	maxStake = 0.9
)

const players = 32

// stake returns the stake of one player.
func stake(i int) float64 { return float64(i+1) / (2 * players) }

// share returns the part of the money with which a player begins.
func share(i int) float64 {
	if i == players-1 {
		return 0.5 + 0.5/players
	}
	return 0.5 / players
}

// bounds returns Low and High with their default.
func (b Betting) bounds() (low, high float64) {
	if b.Low == 0 && b.High == 0 {
		return -1, 1
	}
	return b.Low, b.High
}

func (b Betting) check(name string, xs []float64) error {
	low, high := b.bounds()
	if err := finite(name, []float64{low, high}); err != nil {
		return err
	}
	if low >= high {
		return fmt.Errorf("%s: bounds %v and %v, want the lower one first", name, low, high)
	}
	for i, x := range xs {
		if !(x >= low && x <= high) {
			return fmt.Errorf("%s: observation %d is %v, want %v to %v", name, i, x, low, high)
		}
	}
	if b.Stakes != nil && len(b.Stakes) != len(xs) {
		return fmt.Errorf("%s: %d stakes for %d observations, want one for each", name, len(b.Stakes), len(xs))
	}
	for i, stake := range b.Stakes {
		if !(stake > 0 && stake < 1) {
			return fmt.Errorf("%s: stake %d is %v, want more than 0 and less than 1", name, i, stake)
		}
	}
	if b.Total < 0 || b.Total > 0 && len(xs) > b.Total {
		return fmt.Errorf("%s: %d observations of %d, want at most as many as there are", name, len(xs), b.Total)
	}
	return nil
}

// LogWealth returns the natural logarithm of the wealth against "the mean is at most m" after all
// observations: an e-value. [Evidence] turns it into a number. No observations give 0, a wealth of
// 1. It is +Inf when the observations alone rule m out: without replacement, when even the lowest
// values of the rest would leave a larger mean.
func (b Betting) LogWealth(xs []float64, m float64) (float64, error) {
	if err := b.checkMean("betting", xs, m); err != nil {
		return 0, err
	}
	return b.wealth(xs, m), nil
}

func (b Betting) checkMean(name string, xs []float64, m float64) error {
	low, high := b.bounds()
	if err := b.check(name, xs); err != nil {
		return err
	}
	if !(m >= low && m <= high) {
		return fmt.Errorf("%s: the mean to bet against is %v, want %v to %v", name, m, low, high)
	}
	return nil
}

// wealth returns what LogWealth returns for valid input.
func (b Betting) wealth(xs []float64, m float64) float64 {
	return b.against(xs)(m)
}

// run is a value that was observed n times.
type run struct {
	value float64
	n     int
}

// runs sorts observations in ascending order, equal values at once: with replacement
// they give the same bits for any order.
func runs(xs []float64) []run {
	var out []run
	for _, x := range slices.Sorted(slices.Values(xs)) {
		if len(out) == 0 || out[len(out)-1].value != x {
			out = append(out, run{value: x})
		}
		out[len(out)-1].n++
	}
	return out
}

// against returns the wealth as a function of the mean to bet against.
func (b Betting) against(xs []float64) func(m float64) float64 {
	all := make([]run, len(xs))
	for i, x := range xs {
		all[i] = run{x, 1}
	}
	if b.Total == 0 && b.Stakes == nil {
		all = runs(xs)
	}
	return func(m float64) float64 {
		t := b.table(m)
		for _, r := range all {
			t.read(r.value, r.n)
		}
		return t.log()
	}
}

// table is where the players sit.
type table struct {
	low, high float64
	m         float64 // mean to bet against
	total     int     // 0: with replacement
	seen      int
	sum       float64
	stakes    []float64 // of the one who plays; nil: all players do
	logs      [players]float64
}

func (b Betting) table(m float64) *table {
	low, high := b.bounds()
	return &table{low: low, high: high, m: m, total: b.Total, stakes: b.Stakes}
}

// rest returns the mean that the observations to come must have for all to have the mean m. There
// must be some.
func (t *table) rest() float64 {
	if t.total == 0 {
		return t.m
	}
	return (float64(t.total)*t.m - t.sum) / float64(t.total-t.seen)
}

// read lets everybody bet on n observations of the same value; without
// replacement n is 1.
func (t *table) read(x float64, n int) {
	// A rest above High cannot be; High is then the fairest bet that a mean of at
	// most m leaves. A rest below Low is noticed in log.
	m, at := min(t.rest(), t.high), t.seen
	t.seen += n
	t.sum += float64(n) * x
	gain := (x - m) / (m - t.low)
	switch {
	case m > t.low:
	case x > t.low:
		gain = math.Inf(1)
	default:
		gain = 0
	}
	if t.stakes != nil {
		t.logs[0] += float64(n) * math.Log1p(t.stakes[at]*gain)
		return
	}
	for i := range t.logs {
		t.logs[i] += float64(n) * math.Log1p(stake(i)*gain)
	}
}

// log returns the logarithm of what all players own together, beginning with 1.
func (t *table) log() float64 {
	if t.impossible() {
		return math.Inf(1)
	}
	if t.stakes != nil {
		return t.logs[0]
	}
	top, sum := slices.Max(t.logs[:]), 0.0
	if math.IsInf(top, 1) {
		return top
	}
	for i, l := range t.logs {
		sum += share(i) * math.Exp(l-top)
	}
	return top + math.Log(sum)
}

// impossible says that a mean of at most m is ruled out, whatever comes. The
// slack is for rounding: a mean of exactly m stays possible.
func (t *table) impossible() bool {
	if t.total == 0 {
		return false
	}
	least := t.sum + float64(t.total-t.seen)*t.low
	return least > float64(t.total)*t.m+1e-9*float64(t.total)*(t.high-t.low)
}

// Interval returns the confidence sequence at a two-sided level such as 0.95, as it is after all
// observations. It has the means against which neither those who bet on more nor those who bet on
// less have reached 2/(1-level). With probability level the true mean is in the interval at every n
// at once, so it may be looked at as often as one likes. Without observations it is [Low, High];
// without replacement, when all are read, it is their mean.
func (b Betting) Interval(xs []float64, level float64) (score.Interval, error) {
	const name = "confidence sequence"
	if err := probability(name, "level", level); err != nil {
		return score.Interval{}, err
	}
	if err := b.check(name, xs); err != nil {
		return score.Interval{}, err
	}
	if b.Total > 0 && len(xs) == b.Total {
		mean := stat.Mean(xs, nil)
		return score.Interval{Low: mean, High: mean}, nil
	}
	limit := math.Log(2 / (1 - level))
	// Those who bet on less are those who bet on more, seen in the mirror.
	low, high := b.bounds()
	mirror := make([]float64, len(xs))
	for i, x := range xs {
		mirror[i] = -x
	}
	other := Betting{Low: -high, High: -low, Total: b.Total, Stakes: b.Stakes}
	one, two := b.lower(xs, limit), -other.lower(mirror, limit)
	// Without replacement a freak order can make both sides win past each other.
	return score.Interval{Low: min(one, two), High: max(one, two)}, nil
}

// lower returns the smallest mean against which the wealth stays below the limit. The wealth falls
// as the mean to bet against grows, so halving finds it.
func (b Betting) lower(xs []float64, limit float64) float64 {
	low, high := b.bounds()
	wealth := b.against(xs)
	if wealth(low) < limit {
		return low
	}
	for range 40 {
		mid := low + (high-low)/2
		if wealth(mid) < limit {
			high = mid
		} else {
			low = mid
		}
	}
	return low // on the safe side of the last step
}
