package gate

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-f4525e22/skillopt/score"
)

const (
	noWorseFirst = 12   // units before the first look, or
	noWorseShare = 0.2  // this share of them, whichever is more
	quarters     = 0.25 // of the units: how far it asks ahead
)

// NoWorse is for text that should do no harm: the candidate is refused only if it is more than
// a standard error behind, at a look or at the end. It reads both arms in a seeded order and
// looks from max(12, 0.2 n) units on.
type NoWorse struct{}

var _ Policy = NoWorse{}

// Next asks for what comes before the next look.
func (NoWorse) Next(e *Evidence) []Draw {
	c := e.race()
	n := len(c.units)
	first, step := firstLook(n), max(1, int(math.Ceil(quarters*float64(n))))
	return c.wave(len(e.Readings), func(m int) bool { return m >= first && (m-first)%step == 0 })
}

// race returns the progress of the trial.
func (e *Evidence) race() *progress {
	if e.progress == nil {
		e.progress = newProgress(e)
	}
	return e.progress
}

// firstLook returns how many of n units are read before the first look.
func firstLook(n int) int { return max(noWorseFirst, int(math.Ceil(noWorseShare*float64(n)))) }

// Judge decides at the end of each unit.
func (p NoWorse) Judge(e *Evidence) (Verdict, bool) {
	c := e.race()
	read := len(e.Readings)
	m := c.complete(read)
	if read != c.at(m) {
		return Verdict{}, false
	}
	a := take(e, c.units[:m])
	v := p.verdict(e, a, c.units[:m])
	switch items, missing := len(e.Trial.Items), len(a.missing); {
	case missing > 0 && !Enough(items, missing):
		v.Action, v.Reason = Indecisive, fmt.Sprintf("%d of %d items could not be measured", missing, items)+leftOut(v)
		return v, true
	case a.units+len(c.units)-m <= 1:
		v.Action, v.Reason = Indecisive, fmt.Sprintf("%d of %d pairs are too few to decide by", a.units+len(c.units)-m, items)+leftOut(v)
		return v, true
	}
	behind := v.SE != nil && *v.Difference < -*v.SE-score.Negligible
	last := m == len(c.units)
	switch {
	case behind && (last || a.units >= firstLook(a.units+len(c.units)-m)):
		v.Action, v.Reason = Reject, "more than a standard error behind"
	case !last:
		return Verdict{}, false
	default:
		v.Action, v.Reason = Accept, "no more than a standard error behind"
	}
	if v.Action == Reject && !last {
		v.Action = RejectEarly
	}
	v.Reason = fmt.Sprintf("%s on %d items: %s", against(v), v.N, v.Reason) + leftOut(v)
	return v, true
}

// verdict puts what is known into a verdict without an action.
func (NoWorse) verdict(e *Evidence, a account, units []unit) Verdict {
	v := Verdict{N: a.items, Difference: a.mean(), SE: a.se(), Draws: countDraws(e.Readings)}
	for i, id := range e.Trial.Items {
		if slices.Contains(a.missing, i) {
			v.Unmeasured = append(v.Unmeasured, id)
		}
	}
	if a.units == 0 {
		return v
	}
	n := float64(a.units)
	candidate, current := a.candidate/n+a.plus, a.incumbent/n+a.plus-a.offset
	v.Candidate, v.Current, v.Best = &candidate, &current, &current
	v.Mean = meanOver(e, units)
	return v
}

// against returns the scores of both arms and their difference, in words.
func against(v Verdict) string {
	text := fmt.Sprintf("%.4f against the current %.4f (difference %+.4f", *v.Candidate, *v.Current, *v.Difference)
	if v.SE != nil {
		text += fmt.Sprintf(", standard error %.4f", *v.SE)
	}
	return text + ")"
}
