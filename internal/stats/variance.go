package stats

import (
	"fmt"
	"math"
)

// Split is the variance of scores in two parts.
type Split struct {
	Between float64 `json:"between"` // variance of the items' true means, at least 0
	Within  float64 `json:"within"`  // variance of one evaluation around its item's mean
	Items   int     `json:"items"`   // how many items it was estimated from
	Total   int     `json:"total"`   // evaluations of all items together
}

// VarianceSplit estimates from repeated evaluations how much of the variance lies
// between items and how much within, by the one-way analysis of variance with
// random effects, for unequal numbers of repeats too (G. W. Snedecor and W. G.
// Cochran, "Statistical Methods", 1967, sections 10.13 to 10.16). scores[i] holds
// the evaluations of item i; an item without one is passed over. A negative
// estimate between items is 0. Fewer than two items, or no item with two
// evaluations, give [ErrTooFew].
func VarianceSplit(scores [][]float64) (Split, error) {
	const name = "variance within and between items"
	var g groups
	for i, xs := range scores {
		if err := finite(fmt.Sprintf("%s, item %d", name, i), xs); err != nil {
			return Split{}, err
		}
		if len(xs) > 0 {
			g.add(xs)
		}
	}
	if g.items < 2 || g.total == g.items {
		return Split{}, fmt.Errorf("%s: %d items, %d evaluations: %w, want at least 2 items, one of them evaluated twice", name, g.items, g.total, ErrTooFew)
	}
	within := g.inner / float64(g.total-g.items)
	outer := g.sumSquares() / float64(g.items-1)
	return Split{Between: max(0, (outer-within)/g.size()), Within: within, Items: g.items, Total: g.total}, nil
}

// groups collects the sums of an analysis of variance.
type groups struct {
	items, total int
	inner        float64 // squared distances to the means of the items
	sizes        []float64
	means        []float64
}

func (g *groups) add(xs []float64) {
	mean := 0.0
	for i, x := range xs {
		mean += (x - mean) / float64(i+1)
	}
	for _, x := range xs {
		g.inner += (x - mean) * (x - mean)
	}
	g.items++
	g.total += len(xs)
	g.sizes = append(g.sizes, float64(len(xs)))
	g.means = append(g.means, mean)
}

// sumSquares returns the sum of squares of the items' means around the mean of all.
func (g *groups) sumSquares() float64 {
	grand := 0.0
	for i, m := range g.means {
		grand += m * g.sizes[i] / float64(g.total)
	}
	sum := 0.0
	for i, m := range g.means {
		sum += g.sizes[i] * (m - grand) * (m - grand)
	}
	return sum
}

// size returns the number of repeats that represents unequal ones.
func (g *groups) size() float64 {
	squares := 0.0
	for _, n := range g.sizes {
		squares += n * n
	}
	return (float64(g.total) - squares/float64(g.total)) / float64(g.items-1)
}

// Advice says how to get an effect shown.
type Advice struct {
	Repeats   int     `json:"repeats"`   // evaluations of each item that suffice; 0: no number of them does
	Items     int     `json:"items"`     // items that suffice with one evaluation each
	Floor     float64 `json:"floor"`     // the effect that endless repeats of the items at hand would show
	Now       float64 `json:"now"`       // the effect that one evaluation of each shows
	Worthless int     `json:"worthless"` // beyond this many repeats less than a tenth of the variance is left to gain; 0: never
}

// Advise says how many repeats of n items, or how many items, show a mean
// difference at the two-sided level alpha with the given power, when the split
// is that of paired differences. Repeats cut only the variance within items, so
// that more items are better wherever there are some: k repeats of n items never
// show less than n*k items would. n < 1 gives [ErrTooFew], an effect of 0 is
// refused.
func (s Split) Advise(effect float64, n int, alpha, power float64) (Advice, error) {
	const name = "advice on repeats"
	if n < 1 {
		return Advice{}, fmt.Errorf("%s: %d items: %w, want at least 1", name, n, ErrTooFew)
	}
	if err := positive(name, "the effect", effect); err != nil {
		return Advice{}, err
	}
	if err := probability(name, "alpha", alpha); err != nil {
		return Advice{}, err
	}
	z, err := standardErrors(name, alpha, power)
	if err != nil {
		return Advice{}, err
	}
	root := z / math.Sqrt(float64(n))
	a := Advice{
		Floor:     root * math.Sqrt(s.Between),
		Now:       root * math.Sqrt(s.Between+s.Within),
		Items:     ceil(z * z * (s.Between + s.Within) / (effect * effect)),
		Worthless: s.worthless(),
	}
	if left := effect*effect/(root*root) - s.Between; left > 0 {
		a.Repeats = ceil(s.Within / left)
	}
	return a, nil
}

// worthless returns the smallest k with Within/k at most a tenth of Between + Within/k.
func (s Split) worthless() int {
	if s.Between == 0 && s.Within > 0 {
		return 0
	}
	if s.Within == 0 {
		return 1
	}
	return ceil(9 * s.Within / s.Between)
}

// ceil rounds up to a count of at least 1, and of at most what an int holds.
func ceil(x float64) int { return int(min(max(1, math.Ceil(x-1e-9)), math.MaxInt32)) }
