package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/stats"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// PhaseKeep is the phase in which the losses of a candidate are asked afresh.
const PhaseKeep Phase = "keep"

const (
	wonShare  = 0.75 // of the answers read of the incumbent, that pass on an item that it wins
	lostShare = 0.5  // of those of the candidate, that at most pass on one that it loses
	keepLevel = 0.05 // of candidates that lose nothing, at most this share is rejected for a loss
)

// Keep lets no candidate in that loses an item which the incumbent wins, whatever it gains
// elsewhere. An item is won where at least three of four of the answers that were read of
// the incumbent pass (hard score 1), and lost where at most half of the candidate's do. What
// the answers of a decision say of a single item is mostly luck, so each loss is asked
// afresh: both arms in turn, by samples that no decision has read. It is confirmed if by
// these answers alone Fisher's exact test finds that the candidate passes less, at 5 %
// shared by all losses of the candidate. What is left to ask is not asked when it can change
// nothing any more. Of candidates that pass each item as often as the incumbent, however
// often that is, no more than 5 % are rejected so. Each arm is asked at most 6 times about
// one loss, 7 times with up to 3 losses, 8 with up to 9, 9 with up to 29, 10 with up to 91: so
// often that two answers may speak against a loss. It is asked once where one answer is known
// to be the truth (Trial.Deterministic).
//
// An answer that could not be measured is neither pass nor failure. A loss that is neither
// confirmed nor dropped for want of answers rejects no candidate; the verdict says so.
//
// The fresh answers are not pooled with others: they are asked only where the candidate has
// lost, so that they would make it look better than it is.
type Keep struct {
	Policy Policy // that decides on everything else
}

var _ Policy = Keep{}

// LossState says what happened to a loss.
type LossState string

const (
	LossConfirmed LossState = "confirmed" // fresh answers show it
	LossDropped   LossState = "dropped"   // fresh answers do not show it
	LossUnknown   LossState = "unknown"   // too few fresh answers could be measured to see it
)

// Loss is an item that the incumbent wins and the candidate lost, with the fresh answers
// about it.
type Loss struct {
	ID        string    `json:"id"`
	State     LossState `json:"state"`
	Candidate Passed    `json:"candidate"`
	Current   Passed    `json:"current"`
}

// Passed is how many of some answers pass. Those that could not be measured are not counted.
type Passed struct {
	Passed int `json:"passed"`
	Of     int `json:"of"`
}

// count counts an answer.
func (p *Passed) count(o trajectory.Outcome) {
	if !o.Status.Measured() {
		return
	}
	p.Of++
	if o.Hard >= 1-score.Negligible {
		p.Passed++
	}
}

func (p Passed) String() string { return fmt.Sprintf("%d of %d", p.Passed, p.Of) }

// keeping is how far the losses of a candidate are asked afresh.
type keeping struct {
	verdict Verdict // of the other policy, which accepts
	items   []int   // the losses
	losses  []Loss  // of each; its state is "" as long as it is open
	answers int     // that each arm is asked for of an item
	asked   int     // that each was asked for
	upTo    int     // readings with which the present round ends; 0: none has begun
}

// KeepMost returns how many fresh answers Keep asks for at most with n items, both arms together.
func KeepMost(n int) int { return 2 * n * freshAnswers(n) }

// LossAnswers returns how many fresh answers of each arm the rule of [Keep] asks for at most, about each of that many losses.
func LossAnswers(losses int) int { return freshAnswers(losses) }

// LossShown reports whether fresh answers show one of the losses of a candidate, by the rule of [Keep]: Fisher's
// exact test at 5 %, shared by all of them.
func LossShown(candidate, current Passed, losses int) bool {
	p := stats.FisherExact(current.Passed, current.Of, candidate.Passed, candidate.Of).Greater
	return p <= keepLevel/float64(max(1, losses))
}

// freshAnswers returns how many answers of each arm it takes to confirm one of that many losses
// though one answer of each arm speaks against it.
func freshAnswers(losses int) int {
	m := 2
	for stats.FisherExact(m-1, m, 1, m).Greater > keepLevel/float64(max(1, losses)) {
		m++
	}
	return m
}

// Next asks for what the other policy asks for, and then for one answer of each arm about
// each open loss.
func (k Keep) Next(e *Evidence) []Draw {
	if e.keeping == nil {
		return k.Policy.Next(e)
	}
	var draws []Draw
	for i, item := range e.keeping.items {
		if e.keeping.losses[i].State != "" {
			continue
		}
		for _, arm := range []Arm{Candidate, Incumbent} {
			draws = append(draws, Draw{Item: item, Arm: arm, Sample: e.arms[arm].next[item]})
		}
	}
	e.keeping.asked++
	e.keeping.upTo = len(e.kept) + len(draws)
	return draws
}

// Judge decides when the other policy does, or, where it accepts, when each loss is closed.
func (k Keep) Judge(e *Evidence) (Verdict, bool) {
	if e.keeping == nil {
		v, done := k.Policy.Judge(e)
		if !done || !v.Action.Accepted() {
			return v, done
		}
		lost := e.lostItems()
		if len(lost) == 0 {
			return v, true
		}
		e.keeping = newKeeping(e, v, lost)
		return Verdict{}, false
	}
	c := e.keeping
	if c.upTo == 0 || len(e.kept) < c.upTo { // what the other policy had asked for as well comes first
		return Verdict{}, false
	}
	if !c.close(e.kept) {
		return Verdict{}, false
	}
	return c.decide(e), true
}

// lostItems returns the items that the incumbent wins and the candidate lost, in order.
func (e *Evidence) lostItems() []int {
	var out []int
	candidate, incumbent := e.arms[Candidate], e.arms[Incumbent]
	for i := range e.Trial.Items {
		won := incumbent.passed[i]
		lost := candidate.passed[i]
		if won.Of > 0 && lost.Of > 0 && float64(won.Passed) >= wonShare*float64(won.Of) && float64(lost.Passed) <= lostShare*float64(lost.Of) {
			out = append(out, i)
		}
	}
	return out
}

func newKeeping(e *Evidence, v Verdict, lost []int) *keeping {
	c := &keeping{verdict: v, items: lost, answers: freshAnswers(len(lost))}
	if e.Trial.Deterministic {
		c.answers = 1
	}
	for _, i := range lost {
		c.losses = append(c.losses, Loss{ID: e.Trial.Items[i]})
	}
	return c
}

// close counts the fresh answers, and closes the losses of which enough is known. It reports
// whether that is all of them.
func (c *keeping) close(kept []Reading) bool {
	all := true
	for i := range c.losses {
		l := &c.losses[i]
		if l.State == "" {
			l.Candidate, l.Current = countPassed(kept, c.items[i], Candidate), countPassed(kept, c.items[i], Incumbent)
			l.State = c.state(*l)
		}
		all = all && l.State != ""
	}
	return all
}

// countPassed counts the answers of an arm about an item.
func countPassed(kept []Reading, item int, arm Arm) (p Passed) {
	for _, r := range kept {
		if r.Item == item && r.Arm == arm {
			p.count(r.Outcome)
		}
	}
	return p
}

// state returns what is known of a loss, "" as long as it is open.
func (c *keeping) state(l Loss) LossState {
	left := c.answers - c.asked
	switch {
	case c.shows(l.Candidate.with(left, left), l.Current.with(0, left)):
		return LossConfirmed // whatever is left says
	case c.shows(l.Candidate.with(0, left), l.Current.with(left, left)):
		return "" // it may be shown yet
	case c.shows(l.Candidate.with(0, c.answers-l.Candidate.Of), l.Current.with(c.answers-l.Current.Of, c.answers-l.Current.Of)):
		return LossUnknown // it might have been, with the answers that are missing
	}
	return LossDropped
}

// with returns p with more answers.
func (p Passed) with(passed, of int) Passed { return Passed{p.Passed + passed, p.Of + of} }

// shows reports whether these answers show that the candidate passes less.
func (c *keeping) shows(candidate, current Passed) bool {
	if c.answers == 1 { // one answer is the truth
		return candidate == Passed{0, 1} && current == Passed{1, 1}
	}
	return LossShown(candidate, current, len(c.losses))
}

// decide returns the verdict when all losses are closed.
func (c *keeping) decide(e *Evidence) Verdict {
	v := c.verdict
	v.Losses = c.losses
	v.Unmeasured = c.unmeasuredItems(e)
	if v.Draws != nil {
		draws := map[Arm]int{Candidate: v.Draws[Candidate], Incumbent: v.Draws[Incumbent]}
		for _, r := range e.kept {
			draws[r.Arm]++
		}
		v.Draws = draws
	}
	if lost := c.in(LossConfirmed); len(lost) > 0 {
		v.Action, v.Phase = Reject, PhaseKeep
		v.Reason = "loses what the current skill wins, as fresh answers confirm: " + formatLosses(lost) + "; else " + c.verdict.Reason
		return v
	}
	if dropped := c.in(LossDropped); len(dropped) > 0 {
		v.Reason += fmt.Sprintf("; %s that seemed to be lost: fresh answers do not confirm it", wording.Plural(len(dropped), "item", "items"))
	}
	if unknown := c.in(LossUnknown); len(unknown) > 0 {
		v.Reason += "; whether it loses what the current skill wins is not known where fresh answers could not be measured: " + formatLosses(unknown)
	}
	return v
}

// Lost returns the ids of the losses that fresh answers confirm.
func (v Verdict) Lost() []string {
	var out []string
	for _, l := range v.Losses {
		if l.State == LossConfirmed {
			out = append(out, l.ID)
		}
	}
	return out
}

// in returns the losses in a state.
func (c *keeping) in(state LossState) []Loss {
	var out []Loss
	for _, l := range c.losses {
		if l.State == state {
			out = append(out, l)
		}
	}
	return out
}

// formatLosses lists losses by name, with their answers.
func formatLosses(losses []Loss) string {
	var out []string
	for _, l := range losses[:min(len(losses), namedItems)] {
		out = append(out, fmt.Sprintf("%s (passes %s, the current skill %s)", l.ID, l.Candidate, l.Current))
	}
	if more := len(losses) - namedItems; more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	return strings.Join(out, ", ")
}

// unmeasuredItems returns the unmeasured items of the verdict and those of which a fresh answer is missing.
func (c *keeping) unmeasuredItems(e *Evidence) []string {
	gone := map[string]bool{}
	for _, id := range c.verdict.Unmeasured {
		gone[id] = true
	}
	for _, r := range e.kept {
		if !r.Outcome.Status.Measured() {
			gone[e.Trial.Items[r.Item]] = true
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(e.Trial.Items), func(id string) bool { return !gone[id] })
}

// outlooking is a policy that gives the outlook of a trial.
type outlooking interface {
	Reached(e *Evidence) (phase Phase, units, of int, ok bool)
	Outlook(e *Evidence) Outlook
}

// Reached reports how far the other policy has read, and then how many losses are closed.
func (k Keep) Reached(e *Evidence) (phase Phase, units, of int, ok bool) {
	c := e.keeping
	if c == nil || c.upTo == 0 {
		if p, known := k.Policy.(outlooking); known {
			return p.Reached(e)
		}
		return "", 0, 0, false
	}
	of = len(c.losses)
	return PhaseKeep, of - len(c.in("")), of, len(e.kept) == c.upTo
}

// Outlook returns how the other policy sees the trial. While losses are asked afresh, it returns
// how many of them are confirmed (Losses), dropped (Ties) and unknown (Missing).
func (k Keep) Outlook(e *Evidence) Outlook {
	c := e.keeping
	if c != nil && c.upTo > 0 {
		_, units, of, _ := k.Reached(e)
		return Outlook{
			Phase: PhaseKeep, Units: units, Of: of, Losses: len(c.in(LossConfirmed)), Ties: len(c.in(LossDropped)), Missing: len(c.in(LossUnknown)),
			Difference: c.verdict.Difference,
		}
	}
	if p, known := k.Policy.(outlooking); known {
		return p.Outlook(e)
	}
	return Outlook{}
}
