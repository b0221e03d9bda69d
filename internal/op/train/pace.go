package train

import (
	"fmt"
	"maps"
	"math"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/session"
	loop "github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/internal/training"
	"github.com/seed-f4525e22/skillopt/model"
)

// pacer keeps training within the ceilings of a run.
type pacer struct {
	session  *session.Session
	sizes    *training.Sizes
	spending spending

	ended bool // of the loop nothing is left: it is carried out from the record
	quiet bool // and that has been reported before
}

// hasCeiling reports whether anything but the clock can end a run.
func hasCeiling(l config.Limits) bool {
	return l.USD != nil || l.Tokens != nil || l.Calls != nil
}

// pace keeps training within its ceilings: what the final evaluation will need is
// left to it, and a step that there is no room for is not begun. What has begun
// continues until a ceiling itself is reached.
func (p *pacer) pace(unit loop.Unit) (tasks int, err error) {
	l := session.InForce(p.session)
	if unit.Name == loop.UnitFinal {
		p.quiet = false
		p.session.Caller.Reserve(caller.Amount{})
	}
	if !hasCeiling(l) || unit.Name == loop.UnitFinal || p.ended && unit.Name != loop.UnitFinalArm {
		return unit.Tasks, nil
	}
	if err := p.spending.follow(p.session.Run.Journal); err != nil {
		return 0, fmt.Errorf("add up what steps have taken: %w", err)
	}
	if unit.Name == loop.UnitFinalArm {
		if !p.sizes.KeepsOpen() && p.session.Caller.Affords(total(p.estimateRollouts(unit.Tasks))) != nil {
			return 0, nil
		}
		return unit.Tasks, nil
	}
	if share, fixed := l.ReserveShare(); fixed {
		p.session.Caller.ReserveShare(share)
	} else {
		p.session.Caller.Reserve(total(p.estimateRollouts(unit.Closing)))
	}
	if examples := unit.Name == loop.UnitExamples || unit.Name == loop.UnitExamplesGate; examples && !p.sizes.ExamplesFollow() {
		return unit.Tasks, nil // nothing is made smaller for a ceiling
	}
	if within := unit.Name == loop.UnitSecondTry || unit.Name == loop.UnitMore; within && p.sizes.KeepsOpen() {
		return unit.Tasks, nil
	}
	switch unit.Name {
	case loop.UnitStep:
	case loop.UnitExamples:
		return p.examples(unit, l), nil
	case loop.UnitExamplesGate:
		if p.session.Caller.Affords(total(p.estimateRollouts(p.session.Data.Pass()))) != nil {
			return 0, nil
		}
		return unit.Tasks, nil
	case loop.UnitSecondTry:
		return p.roomInStep(unit, 0, 1), nil
	case loop.UnitConfirmation:
		return p.confirms(unit)
	case loop.UnitMore:
		return p.roomInStep(unit, unit.Tasks*p.each(), loop.AskedInStep), nil
	default:
		return unit.Tasks, nil
	}
	next, begun := p.nextStep(unit.Step)
	if begun {
		return unit.Tasks, nil
	}
	return p.affords(next, unit)
}

// examples returns for how many rollouts there is room to compare worked examples, next to a step:
// with an optimizer at most a tenth of each ceiling.
func (p *pacer) examples(unit loop.Unit, l config.Limits) int {
	step, alone := p.leastStep(), !p.session.Models.Has(model.Optimizer)
	for n := unit.Tasks; n > 0; n-- {
		of := total(p.estimateRollouts(n))
		within := (l.USD == nil || 10*float64(of.Nano) <= 1e9**l.USD) && (l.Tokens == nil || 10*of.Tokens <= *l.Tokens)
		if (alone || within) && p.session.Caller.Affords(of.Plus(step)) == nil {
			return n
		}
	}
	return 0
}

// leastStep returns what the first step takes with twice the fewest tasks that it may have, and a
// reserveMargin, since what is kept for the end may grow until then. Without an optimizer it is the
// gate on worked examples.
func (p *pacer) leastStep() caller.Amount {
	if !p.session.Models.Has(model.Optimizer) {
		return total(p.estimateRollouts(p.session.Data.Pass()))
	}
	first := p.firstStep()
	return total(first.of(min(2*loop.LeastTasks*p.each(), int(first.tasks)))).Times(reserveMargin)
}

// roomInStep returns unit.Tasks if there is room within a step for that many more rollouts and
// requests, and for judging its candidate by all selection tasks, else 0.
func (p *pacer) roomInStep(unit loop.Unit, tasks, requests int) int {
	spent := p.spentOnSteps(func(step int) bool { return step <= unit.Step })
	need := spent.rollouts(float64(tasks + p.session.Data.Pass()))
	need[model.Optimizer] = need[model.Optimizer].Plus(caller.Amount{Calls: int64(requests)})
	if p.session.Caller.Affords(total(need)) != nil {
		return 0
	}
	return unit.Tasks
}

// confirms returns unit.Tasks if there is room for a confirmation, or if it has begun; else an
// error.
func (p *pacer) confirms(unit loop.Unit) (tasks int, err error) {
	if p.spending.confirmed[unit.Key] {
		return unit.Tasks, nil
	}
	spent := p.spentOnSteps(func(step int) bool { return step <= unit.Step })
	return unit.Tasks, p.session.Caller.Affords(total(spent.rollouts(float64(unit.Tasks))))
}

// each returns how many answers a train task gets.
func (p *pacer) each() int { return max(1, p.session.Config.Reflect.Rollouts) }

// total returns what all roles take.
func total(byRole map[string]caller.Amount) (all caller.Amount) {
	for _, a := range byRole {
		all = all.Plus(a)
	}
	return all
}

// affords returns how many tasks of a step there is room for.
func (p *pacer) affords(next stepCost, unit loop.Unit) (tasks int, err error) {
	each := p.each()
	if err = p.session.Caller.Affords(total(next.of(unit.Tasks * each))); err == nil {
		return unit.Tasks, nil
	}
	if p.sizes.KeepsOpen() {
		return 0, err
	}
	for tasks = unit.Tasks - 1; tasks >= unit.Least; tasks-- {
		if p.session.Caller.Affords(total(next.of(tasks*each))) == nil {
			return tasks, nil
		}
	}
	return 0, err
}

// reserveMargin is what is kept beyond the mean of what was measured: skills grow
// and tasks differ. Tokens and money vary more than calls: an attempt that may have
// been charged for counts with the most that it can have used.
const (
	reserveMargin = 1.1
	spreadMargin  = 1.25 / reserveMargin
)

// estimateRollouts returns what that many rollouts of the final evaluation will take according to what
// rollouts took so far. Where each took one call, that many calls are exact; where some were asked again,
// twice as many may be.
func (p *pacer) estimateRollouts(n int) map[string]caller.Amount {
	rolled := p.spending.rollouts
	if n == 0 || rolled == 0 {
		return nil
	}
	out := map[string]caller.Amount{}
	for _, t := range p.session.Run.Journal.Totals() {
		if t.Stage != model.StageRollout && t.Stage != model.StageJudge {
			continue
		}
		need := caller.TotalAmount(t).Times(reserveMargin * float64(n) / float64(rolled))
		need.Tokens, need.Nano = int64(spreadMargin*float64(need.Tokens)), int64(spreadMargin*float64(need.Nano))
		if again := float64(t.Calls)/float64(rolled) - 1; again >= 0 {
			need.Calls = min(need.Calls, int64(n)+int64(math.Ceil(2*again*float64(n))))
		}
		out[t.Role] = out[t.Role].Plus(need)
	}
	return out
}

// stepCost is what a step is expected to take, by role.
type stepCost struct {
	steps int // that it is the mean of
	whole map[string]caller.Amount
	batch map[string]caller.Amount // of it, for the rollouts of its batch
	tasks float64                  // rollouts in that
	gate  map[string]caller.Amount // of it, for judging
	reads float64                  // rollouts in that
}

// raiseJudging raises what judging takes to a pass over n selection tasks. Candidates that were
// dropped early took less, but with less a gate can only reject: a step that ends at the
// ceiling before its candidate is judged has brought nothing.
func (c *stepCost) raiseJudging(n float64) {
	for role, a := range c.rollouts(n) {
		c.whole[role] = c.whole[role].Plus(c.gate[role].Short(a))
	}
}

// rollouts returns what that many rollouts take. Those of batches show it, or those of gates where
// batches have read what was measured before. Fewer than none count less than nothing.
func (c *stepCost) rollouts(many float64) map[string]caller.Amount {
	of, n := c.batch, c.tasks
	if n == 0 {
		of, n = c.gate, c.reads
	}
	out := map[string]caller.Amount{}
	for role, a := range of {
		if n > 0 {
			out[role] = a.Times(many / n)
		}
	}
	return out
}

// of returns what a step takes with that many rollouts of train tasks.
func (c *stepCost) of(tasks int) map[string]caller.Amount {
	out := maps.Clone(c.whole)
	for role, a := range c.rollouts(float64(tasks) - c.tasks) {
		out[role] = out[role].Plus(a)
	}
	return out
}

// firstStep returns what a step takes at least, as far as that is known.
func (p *pacer) firstStep() stepCost {
	s := p.session
	if s.Episodes() {
		return stepCost{}
	}
	o := p.sizes.Options()
	if s.Data.InFolds() { // it reads what the seed skill answered
		return stepCost{}
	}
	calls := o.First(len(s.Data.Train)) * p.each()
	rolled := map[string]caller.Amount{model.Target: {Calls: int64(calls)}}
	need := stepCost{whole: maps.Clone(rolled), batch: rolled, tasks: float64(calls)}
	if p.sizes.EndsWithResult() {
		need.whole[""] = caller.Amount{Calls: loop.AskedInStep}
	}
	if gate.Mode(s.Config.Gate.Mode) != gate.ModeOff {
		need.raiseJudging(float64(s.Data.Pass()))
	}
	return need
}

// nextStep returns what a step took so far, on average. One that has begun already is not begun
// again. One that has paid for nothing, since its answers came from elsewhere, also stays as it is
// when ceilings have changed since.
func (p *pacer) nextStep(number int) (need stepCost, begun bool) {
	if p.spending.begun[number] {
		return stepCost{}, true
	}
	need = p.spentOnSteps(func(step int) bool { return step < number })
	switch {
	case need.steps == 0:
		return p.firstStep(), false
	}
	if p.session.Config.Gate.Mode != "off" {
		need.raiseJudging(float64(p.session.Data.Pass()))
	}
	return need, false
}

// spentOnSteps returns what the steps that of selects took, on average.
func (p *pacer) spentOnSteps(of func(step int) bool) stepCost {
	need := newStepCost()
	for step, spent := range p.spending.steps {
		if of(step) {
			need.steps++
			need.plus(spent)
		}
	}
	if need.steps == 0 {
		return *need
	}
	need.tasks, need.reads = need.tasks/float64(need.steps), need.reads/float64(need.steps)
	// Calls inside episodes are in the ledger alone, under no step.
	for role, spent := range p.session.Caller.SpendByRole() {
		for _, of := range []map[string]caller.Amount{need.whole, need.batch, need.gate} {
			of[role] = of[role].Times(1/float64(need.steps)).Scale(spent, p.spending.all[role])
		}
	}
	return *need
}
