package gate

import (
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Arm is one of the two skills that are compared.
type Arm string

const (
	Candidate Arm = "cand" // the skill that wants in
	Incumbent Arm = "inc"  // the current skill
)

// Trial is one question to a gate: a candidate, the skill it would replace, and
// what is known of both.
type Trial struct {
	Items []string // ids of the selection items, in order

	// Earlier outcomes, one per item in the order of Items; nil: none. What is
	// not measured in them counts as missing. They are read, never changed.
	Candidate []trajectory.Outcome
	Incumbent []trajectory.Outcome
	Best      []trajectory.Outcome // of the best skill; nil: the incumbent is the best

	Projection score.Projection
	Density    Density
}

// Density holds the directive density of the skills' texts, which a Projection
// may weigh in.
type Density struct {
	Candidate float64
	Incumbent float64
	Best      float64 // read only if the trial has Best outcomes
}

// Draw names one measurement: an item by its index, an arm, and which of the
// repeated samples of that pair it is, from 0.
type Draw struct {
	Item   int
	Arm    Arm
	Sample int
}

// Reading is a draw that was made. Its outcome is unmeasured if the draw
// failed to the end.
type Reading struct {
	Draw
	Outcome trajectory.Outcome
}

// Evidence is what a policy may look at: the trial and the readings so far. A
// policy reads it and keeps no reference to it.
type Evidence struct {
	Trial    Trial
	Readings []Reading // in the order in which they were asked for

	arms map[Arm]*armEvidence
}

// armEvidence holds the first sample of each item of an arm.
type armEvidence struct {
	outcomes []trajectory.Outcome
	settled  []bool // measured, or drawn to the end
	open     int    // items that are not settled
}

func newEvidence(t Trial) (*Evidence, error) {
	if err := errors.Join(
		checkKnown("candidate", t.Items, t.Candidate),
		checkKnown("current skill", t.Items, t.Incumbent),
		checkKnown("best skill", t.Items, t.Best),
	); err != nil {
		return nil, err
	}
	return &Evidence{Trial: t, arms: map[Arm]*armEvidence{
		Candidate: newArmEvidence(t.Items, t.Candidate),
		Incumbent: newArmEvidence(t.Items, t.Incumbent),
	}}, nil
}

// checkKnown refuses outcomes that belong to other items: scores must never be
// compared across a mix-up.
func checkKnown(whose string, items []string, known []trajectory.Outcome) error {
	if known == nil {
		return nil
	}
	if len(known) != len(items) {
		return fmt.Errorf("%d earlier outcomes of the %s for %d items", len(known), whose, len(items))
	}
	for i, o := range known {
		if o.ID != "" && o.ID != items[i] {
			return fmt.Errorf("earlier outcome %d of the %s is of item %q, not of %q", i+1, whose, o.ID, items[i])
		}
	}
	return nil
}

func newArmEvidence(items []string, known []trajectory.Outcome) *armEvidence {
	a := &armEvidence{
		outcomes: make([]trajectory.Outcome, len(items)),
		settled:  make([]bool, len(items)),
		open:     len(items),
	}
	for i, id := range items {
		a.outcomes[i] = trajectory.Outcome{ID: id, Status: score.Unmeasured}
		if known != nil && known[i].Status.Measured() {
			a.settle(i, known[i])
		}
	}
	return a
}

func (a *armEvidence) settle(item int, o trajectory.Outcome) {
	if !a.settled[item] {
		a.settled[item] = true
		a.open--
	}
	if o.Status.Measured() {
		a.outcomes[item] = o
	}
}

// add takes in the next reading.
func (e *Evidence) add(r Reading) {
	e.Readings = append(e.Readings, r)
	if r.Sample == 0 {
		e.arms[r.Arm].settle(r.Item, r.Outcome)
	}
}

// Outcomes returns the first sample of each item of an arm, in the order of the
// items; a missing one is unmeasured.
func (e *Evidence) Outcomes(arm Arm) []trajectory.Outcome { return e.arms[arm].outcomes }

// Open returns how many items of an arm are neither measured nor drawn to the
// end.
func (e *Evidence) Open(arm Arm) int { return e.arms[arm].open }

// OpenDraws returns the draws of the first sample of each open item of an arm,
// in order.
func (e *Evidence) OpenDraws(arm Arm) []Draw {
	a := e.arms[arm]
	draws := make([]Draw, 0, a.open)
	for i, settled := range a.settled {
		if !settled {
			draws = append(draws, Draw{Item: i, Arm: arm})
		}
	}
	return draws
}
