package train

import "errors"

// Part is a part of a run that is begun only as a whole.
type Part struct {
	Name string // "step", "epoch end" or "final evaluation"
	Step int    // of a step
	// Arms is how many different skills the final evaluation would score now.
	Arms int
	// Closing is how many rollouts of selection tasks come before it: the last
	// decisions, the re-selection and the fresh pass.
	Closing int
}

// The names of parts.
const (
	PartStep     = "step"
	PartEpochEnd = "epoch end"
	PartFinal    = "final evaluation"
)

// errEnded says that the loop ends before its time, as Options.EndAfter has it.
var errEnded = errors.New("the loop was ended early")

// next begins a part of the loop, if it may begin.
func (t *trainer) next(p Part) error {
	if !t.loops(t.parts) {
		return errEnded
	}
	return t.pace(p)
}

// loops reports whether the loop goes on after so many parts, as far as EndAfter
// has it.
func (t *trainer) loops(parts int) bool { return t.EndAfter == nil || parts < *t.EndAfter }

// pace asks whether there is enough left for a part.
func (t *trainer) pace(p Part) error {
	if t.Pace == nil {
		return nil
	}
	p.Arms, p.Closing = t.arms(), t.closing()
	return t.Pace(p)
}

// arms counts the different skills among seed, best and current, and no skill.
func (t *trainer) arms() int {
	texts := map[string]bool{t.Skill.Text(): true, t.best.skill.Text(): true, t.current.skill.Text(): true}
	if t.NoSkill {
		return len(texts) + 1
	}
	return len(texts)
}

// closing is how many rollouts on the selection split the end of the run takes at
// most: the part to come may accept one more skill, and it may find out that one
// evaluation is not the truth after all, so that fresh passes are made where none
// seemed to be needed before.
func (t *trainer) closing() int {
	n, passes := len(t.Data.Selection), 0
	if t.Gate == "off" {
		return 0
	}
	raced := t.Gate == ModeRace
	if t.unjudged() {
		passes++ // the skill as it is
		if raced {
			passes += 2 // and fresh samples of both
		}
	}
	if !raced {
		return passes * n
	}
	if t.Reselect > 1 {
		known, _ := t.store.shrunken()
		for field := min(len(known)+1, t.Reselect); field > 1; field = halved(field) {
			passes += field
		}
	}
	return (passes + 1) * n // and a fresh one of what is shipped
}

// unjudged reports whether the current skill is one that no gate has seen when
// the run ends, as guidance that is forced in may be.
func (t *trainer) unjudged() bool {
	if t.SlowUpdate && !t.SlowGated && t.Epochs > 1 {
		return true
	}
	return t.current.skill.Text() != t.best.skill.Text() && !t.known(t.current)
}

// Parts is how many parts the whole loop over a train split of n tasks has.
func (o Options) Parts(n int) int { return o.Epochs * (o.StepsPerEpoch(n) + 1) }
