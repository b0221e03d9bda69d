package gate

import (
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Foresight follows a strict comparison while its answers come in, in any order,
// and knows from when on those that are still missing cannot change whether the
// candidate is accepted, whatever they turn out to be, and however many of them
// are never measured. The one who works with the resulting skill need not wait
// for the last of them.
//
// It says nothing about the rest of the verdict: scores, reason, and whether the
// candidate is the best are known at the end. It is not safe for concurrent use.
type Foresight struct {
	strict     Strict
	projection score.Projection
	incumbent  []float64
	known      []bool
	missing    int
	lead       float64 // of the candidate, summed over what is known of both
	gain, loss float64 // what the missing items can add to it, and take away
	whole      bool    // all scores so far are 0 or 1: the sums are exact
}

// rounding is how much a sum may differ from the mean that a verdict is made
// of, in points of an item. Scores of 0 and 1 are summed without rounding.
const rounding = 1e-6

// NewForesight returns the foresight of a trial. It returns nil where there is
// none: something of the incumbent has to be measured too, the texts of the skills weigh
// in, or items do not count alike.
func NewForesight(t Trial, s Strict) *Foresight {
	if t.Projection.DensityWeight != 0 || t.Clusters != nil || len(t.Incumbent) != len(t.Items) {
		return nil
	}
	f := &Foresight{
		strict: s, projection: t.Projection, whole: true,
		incumbent: make([]float64, len(t.Items)), known: make([]bool, len(t.Items)), missing: len(t.Items),
	}
	for i := range t.Incumbent {
		o := &t.Incumbent[i]
		if !o.Status.Measured() {
			return nil
		}
		v := f.score(o)
		f.incumbent[i] = v
		f.gain += 1 - v
		f.loss += v
	}
	for i := range t.Candidate {
		f.learn(i, &t.Candidate[i])
	}
	return f
}

func (f *Foresight) score(o *trajectory.Outcome) float64 {
	v := f.projection.Of(score.Pair{Hard: o.Hard, Soft: o.Soft}, 0)
	f.whole = f.whole && (v == 0 || v == 1)
	return v
}

// Learn takes in what was measured of the candidate on an item. Only the first
// measurement of an item counts.
func (f *Foresight) Learn(item int, o trajectory.Outcome) { f.learn(item, &o) }

func (f *Foresight) learn(item int, o *trajectory.Outcome) {
	if f.known[item] || !o.Status.Measured() {
		return
	}
	f.known[item] = true
	f.missing--
	was := f.incumbent[item]
	f.lead += f.score(o) - was
	f.gain -= 1 - was
	f.loss -= was
}

// Settled reports whether it is settled that the candidate is accepted, or that
// it is not.
func (f *Foresight) Settled() (accepted, settled bool) {
	if !Enough(len(f.known), f.missing) {
		return false, false // with all of them lost there would be no decision
	}
	slack := rounding
	if f.whole {
		slack = 0
	}
	least, most := f.lead-f.loss, f.lead+f.gain
	switch {
	case f.strict.OrEqual && f.whole && least >= 0, least > slack:
		return true, true
	case !f.strict.OrEqual && f.whole && most <= 0, most < -slack:
		return false, true
	}
	return false, false
}
