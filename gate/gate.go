// Package gate decides whether a candidate skill replaces the incumbent.
//
// A decision is made over a stream of outcomes. A Policy names the draws (item,
// arm, sample) that it wants to see, in the order in which it reads them; Run
// makes them concurrently through a Measure function and passes on the longest
// prefix that is complete, one reading at a time, until the policy knows. What
// arrives out of order waits, so that a verdict depends on outcomes and never on
// who was faster. Strict, Observe and Off are such policies.
//
// An outcome that was not measured is missing: it is drawn again, and if it
// stays away both arms are compared on what both have. It is never a score.
//
// The package does no I/O and knows nothing about skills' texts, models, tasks'
// content, prices or records: the supplier of Measure limits how much runs at
// once, retries, and writes down.
package gate

import (
	"fmt"

	"github.com/seed-f4525e22/skillopt/score"
)

// Action is what a verdict says to do.
type Action string

const (
	AcceptNewBest   Action = "accept_new_best"  // the candidate becomes current and best
	Accept          Action = "accept"           // the candidate becomes current
	AcceptCertified Action = "accept_certified" // better than the reference at the level of the certificate; said of what is shipped, by no Policy
	Reject          Action = "reject"           // the incumbent stays
	RejectEarly     Action = "reject_early"     // the incumbent stays; what was read of the items was enough to see it
	Indecisive      Action = "indecisive"       // too little was measured; nothing is learnt, try again
)

// Accepted reports whether the candidate becomes the current skill.
func (a Action) Accepted() bool {
	return a == AcceptNewBest || a == Accept || a == AcceptCertified
}

// Rejected reports whether the candidate was measured and found wanting.
func (a Action) Rejected() bool { return a == Reject || a == RejectEarly }

// Decide returns the action by the strict rule: a candidate that scores higher than the current
// skill replaces it, and is the best if it scores higher than the best as well.
func Decide(candidate, current, best float64) Action {
	return decide(candidate > current, candidate > best)
}

func decide(passes, isBest bool) Action {
	switch {
	case passes && isBest:
		return AcceptNewBest
	case passes:
		return Accept
	}
	return Reject
}

// Verdict is a decision and what it rests on. A score is nil if it was not
// measured.
type Verdict struct {
	Action Action `json:"action"`

	// Candidate and Current are gate scores over the same N items; with Observe
	// Current covers those of them that it has. Best is the gate score of the
	// best skill over those of the N items that it has.
	Candidate *float64 `json:"candidate_score"`
	Current   *float64 `json:"current_score"`
	Best      *float64 `json:"best_score"`

	Mean       *score.Pair `json:"mean"`                 // hard and soft mean of the candidate over the N items
	N          int         `json:"n"`                    // items that decided
	Unmeasured []string    `json:"unmeasured,omitempty"` // ids of the items left out, or without a fresh sample, in order
	Reason     string      `json:"reason"`               // one line for people

	// Losses are those items that the current skill wins and the candidate lost, if it was
	// accepted otherwise. Of Keep only.
	Losses []Loss `json:"losses,omitempty"`

	// Difference is how much better the candidate is, in gate-score points, and SE its
	// standard error over the items in N, nil where it has none. Draws counts what was read.
	Difference *float64    `json:"difference,omitempty"`
	SE         *float64    `json:"se,omitempty"`
	Phase      Phase       `json:"phase,omitempty"`
	Draws      map[Arm]int `json:"draws,omitempty"`
}

// Phase says in which part of a trial a verdict fell.
type Phase string

// Enough reports whether a comparison that lacks missing of n items may still
// decide: one item or 5 % of them may be missing, whichever is more, but not
// all.
func Enough(n, missing int) bool {
	return missing < n && float64(missing) <= max(1, 0.05*float64(n))
}

// Mode names the rule by which candidates are judged.
type Mode string

const (
	ModeStrict  Mode = "strict"  // Strict: a higher score on one pass
	ModeObserve Mode = "observe" // Observe: score, and take every candidate
	ModeOff     Mode = "off"     // Off: take every candidate unscored
)

// ForMode returns the policy of a mode.
func ForMode(mode Mode) (Policy, error) {
	switch mode {
	case ModeStrict:
		return Strict{}, nil
	case ModeObserve:
		return Observe{}, nil
	case ModeOff:
		return Off{}, nil
	}
	return nil, fmt.Errorf("gate mode %q is unknown: use strict, observe or off", mode)
}
