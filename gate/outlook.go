package gate

import (
	"math"

	"github.com/seed-f4525e22/skillopt/score"
)

// PhasePass is the only phase of a policy that reads every item once.
const PhasePass Phase = "pass"

// Outlook is how far a trial is and how the candidate stands, by what the policy itself
// goes by. Differences are in gate-score points of the candidate minus the incumbent, nil
// where there is none. It decides nothing.
type Outlook struct {
	Phase   Phase
	Units   int // read: clusters of items, or single ones; in a confirmation those read afresh
	Of      int
	Wins    int // units behind Difference on which the candidate is ahead
	Losses  int
	Ties    int
	Missing int // items of what was read that could not be measured

	Difference *float64
	// Low and High are the difference by the margin that the rule allows for. Of a Race
	// that is 1 standard error as far as what is left to read does not narrow it, and 2.5
	// standard errors in the confirmation. Of Strict they are the least and the most that
	// the difference can come to, whatever the items that are left score.
	Low  *float64
	High *float64
	// Reject is the difference at or below which the candidate is out, whatever is left
	// to read; Accept the one above which it is in. Of a Race in its first phase Accept is
	// that of its end, nil where a confirmation follows.
	Reject *float64
	Accept *float64
}

// counted counts units by who is ahead on them.
func (c *Outlook) counted(differences []float64) {
	for _, d := range differences {
		switch {
		case d > score.Negligible:
			c.Wins++
		case d < -score.Negligible:
			c.Losses++
		default:
			c.Ties++
		}
	}
}

// margin sets Low and High.
func (c *Outlook) margin(wide float64) {
	low, high := *c.Difference-wide, *c.Difference+wide
	c.Low, c.High = &low, &high
}

// each is by how much the candidate is ahead on each unit that both arms have.
func each(e *Evidence, over []unit) []float64 {
	var out []float64
	for i := range over {
		if a := take(e, over[i:i+1]); a.units > 0 {
			out = append(out, a.diff)
		}
	}
	return out
}

// Reached tells how far a race has read; ok is false within a unit.
func (r Race) Reached(e *Evidence) (phase Phase, units, of int, ok bool) {
	c := e.race()
	if c.confirm != nil {
		read := len(e.Readings) - len(c.draws)
		m := c.confirm.complete(read)
		return PhaseConfirm, m, len(c.confirm.units), read == c.confirm.at(m)
	}
	read := len(e.Readings)
	m := c.complete(read)
	return PhaseRace, m, len(c.units), read == c.at(m)
}

// Outlook is how a race stands at the end of a unit.
func (r Race) Outlook(e *Evidence) Outlook {
	phase, m, of, _ := r.Reached(e)
	out := Outlook{Phase: phase, Units: m, Of: of}
	if phase == PhaseConfirm {
		r.confirming(e, m, &out)
		return out
	}
	c := e.race()
	s := standing{units: c.units[:m], account: take(e, c.units[:m]), phase: phase}
	s.difference, s.se = s.account.mean(), s.account.se()
	out.Missing, out.Difference = len(s.account.missing), s.difference
	out.counted(each(e, s.units))
	if s.difference == nil {
		return out
	}
	n := s.account.units + of - m
	if wide := r.allows(s, n); wide != nil {
		out.margin(*wide)
	}
	out.Reject, out.Accept = r.rejectsBelow(e, s, c.units[m:]), r.acceptsAbove(e, s)
	return out
}

// rejectsBelow is the difference at or below which the race ends: by its bound, if it looks
// already, or since even a perfect rest would not put the candidate ahead.
func (r Race) rejectsBelow(e *Evidence, s standing, rest []unit) *float64 {
	n := s.account.units + len(rest)
	below := math.Inf(-1)
	if wide := r.allows(s, n); wide != nil && (s.account.units >= raceStart(n) || len(rest) == 0) {
		below = -*wide
	}
	if !r.NonInferior {
		// bestCase rises by units/n where the difference rises by 1, and has to be above 0.
		share := float64(s.account.units) / float64(n)
		below = max(below, *s.difference-bestCase(e, s.account, rest)/share)
	}
	if below < -1 {
		return nil // no candidate can be so far behind
	}
	return &below
}

// acceptsAbove is the difference above which a race would end with an acceptance, nil where
// it would go on with a confirmation.
func (r Race) acceptsAbove(e *Evidence, s standing) *float64 {
	if s.se == nil {
		return nil
	}
	above := 0.0
	switch confirm := r.confirmation(e.Trial); {
	case r.NonInferior:
		above = -*s.se
	case confirm == ConfirmNone:
		above = r.Risk * *s.se
	case confirm == ConfirmFull && r.Confirm == ConfirmMeasured:
		above = decisiveZ * *s.se
	default:
		return nil
	}
	return &above
}

// confirming is the outlook of a confirmation of which m units are read.
func (r Race) confirming(e *Evidence, m int, out *Outlook) {
	c := e.race()
	over := c.units
	if r.confirmation(e.Trial) == ConfirmDiscordant {
		over = c.confirm.units[:m]
	}
	s, lost := r.confirmed(e, c, m)
	out.Difference, out.Missing = s.difference, lost
	out.counted(each(e, over))
	if s.difference == nil || s.se == nil {
		return
	}
	below, above := 0.0, acceptZ*(*s.se)
	out.margin(above)
	if m == len(c.confirm.units) {
		above = r.Risk * (*s.se)
		below = above
	}
	out.Reject, out.Accept = &below, &above
}

// Reached tells how many items were drawn of the candidate.
func (Strict) Reached(e *Evidence) (phase Phase, units, of int, ok bool) {
	n := len(e.Trial.Items)
	return PhasePass, n - e.Open(Candidate), n, true
}

// Outlook is how a strict comparison stands.
func (s Strict) Outlook(e *Evidence) Outlook {
	out := passed(e)
	f := NewForesight(e.Trial, s)
	if f == nil || out.Difference == nil {
		return out
	}
	for i := range e.Readings {
		if r := &e.Readings[i]; r.Arm == Candidate {
			f.learn(r.Item, &r.Outcome)
		}
	}
	known, n := float64(len(f.known)-f.missing), float64(len(f.known))
	low, high := (f.lead-f.loss)/n, (f.lead+f.gain)/n
	out.Low, out.High = &low, &high
	if reject := -f.gain / known; reject >= -1 {
		out.Reject = &reject
	}
	if accept := f.loss / known; accept <= 1 {
		out.Accept = &accept
	}
	return out
}

// Reached tells how many items were drawn.
func (Observe) Reached(e *Evidence) (phase Phase, units, of int, ok bool) { return Strict{}.Reached(e) }

// Outlook is how the candidate stands; nothing follows from it.
func (Observe) Outlook(e *Evidence) Outlook { return passed(e) }

// passed compares what one pass has come to so far.
func passed(e *Evidence) Outlook {
	phase, m, of, _ := Strict{}.Reached(e)
	out := Outlook{Phase: phase, Units: m, Of: of}
	candidate, incumbent, settled := e.Outcomes(Candidate), e.Outcomes(Incumbent), e.arms[Candidate].settled
	p := e.Trial.Projection
	both, differences := make([]int, 0, m), make([]float64, 0, m)
	for i := range e.Trial.Items {
		switch c, inc := &candidate[i], &incumbent[i]; {
		case !settled[i]:
		case !c.Status.Measured():
			out.Missing++
		case inc.Status.Measured():
			both = append(both, i)
			differences = append(differences, p.Of(score.Pair{Hard: c.Hard, Soft: c.Soft}, 0)-p.Of(score.Pair{Hard: inc.Hard, Soft: inc.Soft}, 0))
		}
	}
	out.counted(differences)
	if c, inc := project(p, e.Trial.Density.Candidate, candidate, both), project(p, e.Trial.Density.Incumbent, incumbent, both); c != nil {
		d := *c - *inc
		out.Difference = &d
	}
	return out
}
