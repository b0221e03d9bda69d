package gate

import (
	"github.com/seed-f4525e22/skillopt/score"
)

// PhasePass is the only phase of a policy that reads every item once.
const PhasePass Phase = "pass"

// Outlook says how far a trial is and how well the candidate does, in the figures that the policy
// itself uses. Differences are in gate-score points of the candidate minus the incumbent, nil
// where there is none. It decides nothing.
type Outlook struct {
	Phase   Phase
	Units   int // items read
	Of      int
	Wins    int // units behind Difference on which the candidate is ahead
	Losses  int
	Ties    int
	Missing int // items of what was read that could not be measured

	Difference *float64
	// Low and High are the least and the most that the difference of Strict can be, whatever
	// the items that are left score.
	Low  *float64
	High *float64
	// Reject is the difference at or below which the candidate is out, whatever is left
	// to read; Accept the one above which it is in.
	Reject *float64
	Accept *float64
}

// countUnits counts units by who is ahead on them.
func (c *Outlook) countUnits(differences []float64) {
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

// Reached reports how many items were drawn of the candidate.
func (Strict) Reached(e *Evidence) (phase Phase, units, of int, ok bool) {
	n := len(e.Trial.Items)
	return PhasePass, n - e.Open(Candidate), n, true
}

// Outlook returns the outlook of a strict comparison.
func (s Strict) Outlook(e *Evidence) Outlook {
	out := newOutlook(e)
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

// Reached reports how many items were drawn.
func (Observe) Reached(e *Evidence) (phase Phase, units, of int, ok bool) { return Strict{}.Reached(e) }

// Outlook returns the outlook of the candidate; nothing follows from it.
func (Observe) Outlook(e *Evidence) Outlook { return newOutlook(e) }

// newOutlook returns the comparison of the arms by the result of one pass so far.
func newOutlook(e *Evidence) Outlook {
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
	out.countUnits(differences)
	if c, inc := project(e.Trial, e.Trial.Density.Candidate, candidate, both), project(e.Trial, e.Trial.Density.Incumbent, incumbent, both); c != nil {
		d := *c - *inc
		out.Difference = &d
	}
	return out
}
