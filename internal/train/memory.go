package train

import (
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

const (
	stayingAfter = 2 // steps after which a failure is told as one that stays
	stayingMost  = 6 // of them that are named
)

// told is what analysts are told of the steps before this one, and of the failures among
// what they are about to read.
func (s *step) told(outcomes []trajectory.Outcome) reflectContext {
	c := reflectContext{budget: s.analystBudget()}
	if s.Memory == 0 {
		c.notes = optimize.StepBuffer(s.stepNotes)
		return c
	}
	c.memory = optimize.Memory(s.remembered, s.staying(outcomes))
	return c
}

// staying are those of the failures that earlier steps could not mend.
func (s *step) staying(outcomes []trajectory.Outcome) []optimize.Staying {
	var out []optimize.Staying
	for _, p := range optimize.FailurePatterns(outcomes) {
		for _, id := range p.TaskIDs {
			if steps := s.failing[id]; len(steps) >= stayingAfter {
				out = append(out, optimize.Staying{ID: id, Steps: steps})
			}
		}
	}
	return out
}

// memorise keeps what later steps are told of this one: the newest steps of the run, and in
// which steps a task has failed since it was solved last. Without a candidate nothing was
// tried.
func (s *step) memorise(n optimize.StepNote) {
	if s.Memory == 0 {
		return
	}
	s.remembered = append(s.remembered, n)
	s.remembered = s.remembered[max(0, len(s.remembered)-s.Memory):]
	failed := map[string]bool{}
	for _, p := range n.Patterns {
		for _, id := range p.TaskIDs {
			failed[id] = true
		}
	}
	for _, o := range s.outcomes {
		switch steps := s.failing[o.ID]; {
		case !o.Status.Measured():
		case !failed[o.ID]:
			delete(s.failing, o.ID)
		case s.record.CandidateHash != "":
			steps = append(steps[:len(steps):len(steps)], s.number)
			s.failing[o.ID] = steps[max(0, len(steps)-stayingMost):]
		}
	}
}

// digest is what later steps are told of this one.
func (s *step) digest() optimize.StepNote {
	n := optimize.StepNote{Step: s.number, Action: s.record.Action, Patterns: optimize.FailurePatterns(s.outcomes)}
	for _, o := range s.outcomes {
		if o.Status.Measured() {
			n.Total++
		}
	}
	n.Failed = failed(s.outcomes)
	for _, r := range s.reflected {
		n.Diagnoses = append(n.Diagnoses, r.Diagnoses()...)
	}
	switch action := gate.Action(s.record.Action); {
	case action.Rejected():
		n.Rejected, n.Tried, n.Fared = s.updated.Applied, s.updated.Summary, s.went
		n.Before, n.After = s.before, s.record.Candidate
	case action.Accepted():
		n.Accepted, n.Before, n.After = s.updated.Applied, s.before, s.record.Candidate
	}
	return n
}
