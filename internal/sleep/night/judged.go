package night

import (
	"slices"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// judgedEdits returns the edits that a gate has judged, of those that had no effect: others could not be applied.
func judgedEdits(edits []Edit) []Edit {
	return slices.DeleteFunc(slices.Clone(edits), func(e Edit) bool { return !skill.ApplyStatus(e.Status).Applied() })
}

// rejection says of edits that a gate has turned down why, by the last of them.
func rejection(edits []Edit) string {
	text := wording.Plural(len(edits), "edit was tried, and it was not better", "edits were tried, and none was better")
	for i := len(edits) - 1; i >= 0; i-- {
		if gate.Action(edits[i].Action).Rejected() && edits[i].Reason != "" {
			return text + ": " + edits[i].Reason
		}
	}
	return text
}

// stepDifference returns how much better the candidate of a step was than what it was judged against, by the
// gate's score; nil: it was not judged.
func stepDifference(steps []result.StepRecord, at int) *float64 {
	s := steps[at]
	if s.Difference != nil || at == 0 || s.Candidate == nil || steps[at-1].Current == nil {
		return s.Difference
	}
	d := *s.Candidate - *steps[at-1].Current
	return &d
}

// takenBack says of what a training accepted that it was rejected after all, each edit once.
func takenBack(c *Consolidation) {
	c.GateAction = string(gate.Reject)
	c.RejectedEdits = append(c.RejectedEdits, c.AppliedEdits...)
	c.AppliedEdits = []Edit{}
}
