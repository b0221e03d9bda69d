package gate

import (
	"errors"
	"fmt"
	"slices"

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

	// AtOnce is how many draws are made at once, and so how many may be made in vain when
	// the trial is decided; with 1 none is. 0: DefaultAtOnce.
	AtOnce int

	// What follows is read by NoWorse and Keep alone.

	Types    []string // task type by item: the order is stratified by it; nil: none
	Clusters []string // items with the same name, other than "", are averaged and count as one; nil: none
	Seed     int64    // of the order in which items are read

	// Past holds all earlier evaluations of an arm by item. What is known of an
	// arm that is absent is what its earlier outcomes say.
	Past map[Arm][]Pooled
	// PastScores holds, by item, the sums of the hard and soft scores behind the
	// candidate's Past; nil: they are not known.
	PastScores []score.Pair
	// Next holds, by item, the number of an arm's next fresh sample: how many
	// were drawn so far. For an arm that is absent it is the number of known
	// evaluations.
	Next map[Arm][]int

	// Passed holds, by item, how many of an arm's Past evaluations pass, with hard score 1: by
	// it Keep knows what was won. Without it nothing is known of those of an arm that has a Past.
	Passed map[Arm][]int

	// Deterministic says that both arms are known to give the same answer every time:
	// deterministic sampling, and no answer that changed when all was asked twice.
	Deterministic bool
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

	arms     map[Arm]*armEvidence
	progress *progress // of NoWorse, once asked for
	keeping  *keeping  // of Keep, once the other policy has accepted
	kept     []Reading // for it: they are not among the others
}

// armEvidence holds the first sample of each item of an arm, and the sums of
// all of them.
type armEvidence struct {
	outcomes []trajectory.Outcome
	settled  []bool // measured, or drawn to the end
	open     int    // items that are not settled
	pooled   []Pooled
	pairs    []pairs
	passed   []Passed
	next     []int // number of the next fresh sample
}

func newEvidence(t Trial) (*Evidence, error) {
	if err := errors.Join(
		checkKnown("candidate", t.Items, t.Candidate),
		checkKnown("current skill", t.Items, t.Incumbent),
		checkKnown("best skill", t.Items, t.Best),
		checkPast(t),
	); err != nil {
		return nil, err
	}
	return &Evidence{Trial: t, arms: map[Arm]*armEvidence{
		Candidate: newArmEvidence(t, Candidate, t.Candidate),
		Incumbent: newArmEvidence(t, Incumbent, t.Incumbent),
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

func newArmEvidence(t Trial, arm Arm, known []trajectory.Outcome) *armEvidence {
	n := len(t.Items)
	a := &armEvidence{
		outcomes: make([]trajectory.Outcome, n),
		settled:  make([]bool, n),
		open:     n,
		pooled:   make([]Pooled, n),
		pairs:    make([]pairs, n),
		passed:   make([]Passed, n),
		next:     make([]int, n),
	}
	for i, id := range t.Items {
		a.outcomes[i] = trajectory.Outcome{ID: id, Status: score.Unmeasured}
		if known != nil && known[i].Status.Measured() {
			a.settle(i, known[i])
			a.pool(t.Projection, i, known[i])
		}
	}
	if past, ok := t.Past[arm]; ok {
		copy(a.pooled, past)
		a.passed = make([]Passed, n)
		for i, passed := range t.Passed[arm] {
			a.passed[i] = Passed{passed, past[i].N}
		}
		if arm == Candidate && t.PastScores != nil {
			for i, sum := range t.PastScores {
				a.pairs[i] = pairs{sum: sum, n: past[i].N}
			}
		}
	}
	for i, p := range a.pooled {
		a.next[i] = p.N
	}
	if next, ok := t.Next[arm]; ok {
		copy(a.next, next)
	}
	return a
}

// pool adds a measured outcome to the sums of its item.
func (a *armEvidence) pool(p score.Projection, item int, o trajectory.Outcome) {
	pair := score.Pair{Hard: o.Hard, Soft: o.Soft}
	a.pooled[item].Sum += p.Of(pair, 0)
	a.pooled[item].N++
	a.pairs[item].add(pair)
	a.passed[item].count(o)
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

// leastReadings is for how many readings there is room at first.
const leastReadings = 16

// add takes in the next reading.
func (e *Evidence) add(r Reading) {
	if e.keeping != nil && e.keeping.upTo > 0 {
		e.addKept(r)
		return
	}
	if n := len(e.Readings); n == cap(e.Readings) {
		e.Readings = slices.Grow(e.Readings, max(leastReadings, n)) // append grows a long list by a quarter, again and again
	}
	e.Readings = append(e.Readings, r)
	a := e.arms[r.Arm]
	if r.Sample == 0 || !a.outcomes[r.Item].Status.Measured() {
		a.settle(r.Item, r.Outcome)
	}
	a.next[r.Item] = max(a.next[r.Item], r.Sample+1)
	if r.Outcome.Status.Measured() {
		a.pool(e.Trial.Projection, r.Item, r.Outcome)
	}
}

// addKept takes in the next reading about a loss.
func (e *Evidence) addKept(r Reading) {
	e.kept = append(e.kept, r)
	a := e.arms[r.Arm]
	a.next[r.Item] = max(a.next[r.Item], r.Sample+1)
}

// Pooled returns what all evaluations of an arm say, in the order of the items:
// the earlier ones and those read.
func (e *Evidence) Pooled(arm Arm) []Pooled { return e.arms[arm].pooled }

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
