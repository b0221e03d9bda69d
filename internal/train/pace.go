package train

import "errors"

// Part is a part of a run that is begun only as a whole.
type Part struct {
	Name string // "step", "epoch end" or "final evaluation"
	Step int    // of a step
	// Arms is how many different skills the final evaluation would score now.
	Arms int
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
	if t.EndAfter != nil && t.parts >= *t.EndAfter {
		return errEnded
	}
	return t.pace(p)
}

// pace asks whether there is enough left for a part.
func (t *trainer) pace(p Part) error {
	if t.Pace == nil {
		return nil
	}
	p.Arms = t.arms()
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

// Parts is how many parts the whole loop over a train split of n tasks has.
func (o Options) Parts(n int) int { return o.Epochs * (o.StepsPerEpoch(n) + 1) }
