package train

import (
	"slices"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// reportBest returns the score of the best skill; nil if too little of it is measured. fresh are
// the outcomes of a pass that decided nothing.
func (s *skills) reportBest(fresh []trajectory.Outcome) *result.Reported {
	in := &s.best
	e := s.entry(in)
	mean := e.mean()
	if mean == nil {
		return nil
	}
	_, n := overUnits(e.units, e.Pooled)
	r := &result.Reported{
		Metric: string(s.projection.Metric), Pooled: *mean, Expected: *mean, Items: e.numMeasured(), Evaluations: e.evaluations(), Unanswered: e.Unanswered, Folds: s.folds,
		Fresh: s.passScore(in.skill, fresh),
	}
	if v := s.passScore(in.skill, s.store.all(e)); v != nil {
		r.Naive = *v
	}
	known, means := s.store.shrunken()
	if at := slices.Index(known, e); at >= 0 {
		r.Expected = means[at]
	}
	// Of scores in 0..1 none spreads more than those that are 0 or 1 with the same
	// mean, so the interval for those covers all.
	ci := score.Wilson(min(1, max(0, *mean-e.bonus)), n, score.Z95)
	r.Low, r.High = ci.Low+e.bonus, ci.High+e.bonus
	return r
}

// passScore returns the gate score of one pass, each unit counting once; nil if nothing of it was
// measured.
func (s *skills) passScore(of skill.Skill, out []trajectory.Outcome) *float64 {
	pooled := make([]gate.Pooled, len(s.selection))
	for i, o := range out {
		if o.Status.Measured() {
			pooled[i] = gate.Pooled{Sum: outcomeScore(s.projection, o), N: 1}
		}
	}
	v, n := overUnits(s.store.units, pooled)
	if n == 0 {
		return nil
	}
	v += s.projection.Of(score.Pair{}, skillDensity(s.projection, of))
	return &v
}

// bestArm sums up the selection scores of the best skill: those of a fresh pass, if
// there was one, else of all its answers.
func (s *skills) bestArm(fresh []trajectory.Outcome) result.Arm {
	if fresh != nil {
		return Summarise(fresh)
	}
	arm, e := Summarise(s.best.outcomes), s.entry(&s.best)
	n := e.numMeasured()
	if n == 0 {
		return arm
	}
	arm.Hard, arm.Soft = 0, 0
	for i, p := range e.Pooled {
		if p.N > 0 {
			arm.Hard += e.sums[i].Hard / float64(p.N) / float64(n)
			arm.Soft += e.sums[i].Soft / float64(p.N) / float64(n)
		}
	}
	ci := score.Wilson(min(1, arm.Hard), n, score.Z95)
	arm.N, arm.Low, arm.High, arm.Unanswered = n, ci.Low, ci.High, e.Unanswered
	return arm
}
