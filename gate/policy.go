package gate

import (
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Strict is the published rule: every item once for the candidate, and the
// candidate's mean against the incumbent's over the items that both have.
// Earlier outcomes of the incumbent are used as they are; only what is missing
// among them is measured. With too many items missing it is indecisive.
type Strict struct {
	// OrEqual lets a tie pass, for a candidate that should do no harm rather
	// than some good. To be the best it must still score higher.
	OrEqual bool
}

var _ Policy = Strict{}

// Next asks for every open item of both arms, the candidate's first.
func (Strict) Next(e *Evidence) []Draw {
	return append(e.OpenDraws(Candidate), e.OpenDraws(Incumbent)...)
}

// Judge decides when every item of both arms was drawn.
func (s Strict) Judge(e *Evidence) (Verdict, bool) {
	if e.Open(Candidate) > 0 || e.Open(Incumbent) > 0 {
		return Verdict{}, false
	}
	c := compare(e, bothArms)
	v := c.verdict()
	a := take(e, Units(len(e.Trial.Items), e.Trial.Clusters))
	v.Difference, v.SE, v.Draws = a.mean(), a.se(), countDraws(e.Readings)
	if !Enough(len(e.Trial.Items), len(v.Unmeasured)) {
		v.Action = Indecisive
		v.Reason = tooFew(v, len(e.Trial.Items))
		return v, true
	}
	tie := s.OrEqual && *v.Candidate == *v.Current
	v.Action = decide(*v.Candidate > *v.Current || tie, c.beatsBest)
	relation := "not above"
	switch {
	case *v.Candidate > *v.Current:
		relation = "above"
	case tie:
		relation = "no worse than"
	}
	v.Reason = fmt.Sprintf("%.4f is %s the current %.4f on %s", *v.Candidate, relation, *v.Current, wording.Plural(v.N, "item", "items")) + leftOut(v)
	return v, true
}

// countDraws counts readings by arm.
func countDraws(readings []Reading) map[Arm]int {
	draws := map[Arm]int{}
	for _, r := range readings {
		draws[r.Arm]++
	}
	return draws
}

// Observe measures the candidate and accepts it whatever the result; the best is
// the highest score. A candidate that was measured on too few items is accepted
// too, and never the best.
type Observe struct{}

var _ Policy = Observe{}

// Next asks for every open item of the candidate.
func (Observe) Next(e *Evidence) []Draw { return e.OpenDraws(Candidate) }

// Judge decides when every item of the candidate was drawn.
func (Observe) Judge(e *Evidence) (Verdict, bool) {
	if e.Open(Candidate) > 0 {
		return Verdict{}, false
	}
	c := compare(e, candidateOnly)
	v := c.verdict()
	v.Action = Accept
	if !Enough(len(e.Trial.Items), len(v.Unmeasured)) {
		v.Reason = tooFew(v, len(e.Trial.Items)) + "; accepted without a claim"
		return v, true
	}
	if c.beatsBest {
		v.Action = AcceptNewBest
	}
	v.Reason = fmt.Sprintf("scored %.4f on %s; every candidate is accepted", *v.Candidate, wording.Plural(v.N, "item", "items")) + leftOut(v)
	return v, true
}

// Off measures nothing and takes every candidate as current and best.
type Off struct{}

var _ Policy = Off{}

// Next asks for nothing.
func (Off) Next(*Evidence) []Draw { return nil }

// Judge accepts.
func (Off) Judge(*Evidence) (Verdict, bool) {
	return Verdict{Action: AcceptNewBest, Reason: "not scored; every candidate is accepted"}, true
}
