package gate

import (
	"math"

	"github.com/seed-f4525e22/skillopt/score"
)

// account is the comparison of two arms over some units, each of which counts
// once.
type account struct {
	units     int // compared: measured in both arms
	items     int // in them
	candidate float64
	incumbent float64 // sums of the units' means
	diff      float64
	squares   float64 // sum of the squared differences
	missing   []int   // items that an arm lacks
	offset    float64 // what the density of the texts adds to the difference
	plus      float64 // and to the candidate's score
}

// take compares the arms over some units by all evaluations.
func take(e *Evidence, over []unit) account {
	t := &e.Trial
	a := account{plus: t.Projection.Of(score.Pair{}, t.Density.Candidate)}
	a.offset = a.plus - t.Projection.Of(score.Pair{}, t.Density.Incumbent)
	candidate, incumbent := e.arms[Candidate], e.arms[Incumbent]
	for _, u := range over {
		var c, p float64
		var n int
		for _, i := range u {
			if candidate.pooled[i].N == 0 || incumbent.pooled[i].N == 0 {
				a.missing = append(a.missing, i)
				continue
			}
			c += candidate.pooled[i].Mean()
			p += incumbent.pooled[i].Mean()
			n++
		}
		a.add(c, p, n)
	}
	return a
}

// meanOver returns the candidate's hard and soft mean over the items of some
// units that both arms have. It is nil if there are none, and if of one of them
// only some evaluations are known by both scores: the gate score is of all.
func meanOver(e *Evidence, over []unit) *score.Pair {
	candidate, incumbent := e.arms[Candidate], e.arms[Incumbent]
	var means []score.Pair
	for _, u := range over {
		for _, i := range u {
			switch {
			case candidate.pooled[i].N == 0 || incumbent.pooled[i].N == 0:
			case candidate.pairs[i].n != candidate.pooled[i].N:
				return nil
			default:
				means = append(means, candidate.pairs[i].mean())
			}
		}
	}
	if means == nil {
		return nil
	}
	mean := score.Mean(means)
	return &mean
}

// add counts a unit whose n measured items sum up to these scores.
func (a *account) add(candidate, incumbent float64, n int) {
	if n == 0 {
		return
	}
	c, p := candidate/float64(n), incumbent/float64(n)
	a.units++
	a.items += n
	a.candidate += c
	a.incumbent += p
	a.diff += c - p
	a.squares += (c - p) * (c - p)
}

// mean returns the difference between the arms, nil without any unit.
func (a account) mean() *float64 {
	if a.units == 0 {
		return nil
	}
	d := a.diff/float64(a.units) + a.offset
	return &d
}

// se returns the standard error of the difference if the units are a sample of those that matter,
// nil for fewer than two units.
func (a account) se() *float64 {
	if a.units < 2 {
		return nil
	}
	n := float64(a.units)
	s := math.Sqrt(max(0, a.squares-a.diff*a.diff/n) / (n - 1) / n)
	return &s
}
