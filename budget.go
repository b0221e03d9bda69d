package skillopt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/model"
)

// ceilings maps the configuration to what the caller holds a run to.
func ceilings(l config.Limits) caller.Limits {
	out := caller.Limits{USD: l.USD, Tokens: l.Tokens, Calls: l.Calls, Roles: map[string]caller.Ceilings{}}
	for role, c := range map[string]config.Ceilings{model.Target: l.Roles.Target, model.Optimizer: l.Roles.Optimizer, model.Judge: l.Roles.Judge} {
		if c == (config.Ceilings{}) {
			continue
		}
		own := caller.Ceilings{USD: c.USD, Tokens: c.Tokens, Calls: c.Calls}
		if c.Time != nil {
			limit := time.Duration(*c.Time)
			own.Time = &limit
		}
		out.Roles[role] = own
	}
	return out
}

// limited reports whether anything but the clock can end a run.
func limited(l config.Limits) bool {
	return l.USD != nil || l.Tokens != nil || l.Calls != nil || l.Roles != (config.RoleLimits{})
}

// pace keeps training within its ceilings: what the final evaluation will need is
// left to it, and a step that there is no room for is not begun. What has begun
// goes on until a ceiling itself is reached.
func (w *world) pace(p train.Part) (tasks int, err error) {
	l := w.setup.cfg.Limits
	switch {
	case !limited(l):
		return p.Tasks, nil
	case p.Name == train.PartFinal:
		w.caller.Reserve(nil)
		return p.Tasks, nil
	}
	if err := w.spending.follow(w.run.Journal); err != nil {
		return 0, fmt.Errorf("add up what steps have taken: %w", err)
	}
	if share, fixed := l.ReserveShare(); fixed {
		w.caller.ReserveShare(share)
	} else {
		w.caller.Reserve(w.finalEvaluation(p))
	}
	switch p.Name {
	case train.PartStep:
	case train.PartSecondTry:
		return w.within(p, 0, 1), nil
	case train.PartMore:
		return w.within(p, p.Tasks, askedInStep), nil
	default:
		return p.Tasks, nil
	}
	next, begun := w.nextStep(p.Step)
	if begun {
		return p.Tasks, nil
	}
	return w.affords(next, p)
}

// askedInStep is about how many questions a step puts to the optimizer.
const askedInStep = 8

// within is p.Tasks if there is room within a step for so many more rollouts and questions,
// and for judging its candidate by all selection tasks, else 0.
func (w *world) within(p train.Part, tasks, questions int) int {
	spent := w.spentOnSteps(func(step int) bool { return step <= p.Step })
	need := spent.rollouts(float64(tasks + w.setup.data.Pass()))
	need[model.Optimizer] = need[model.Optimizer].Plus(caller.Amount{Calls: int64(questions)})
	if w.caller.Affords(need) != nil {
		return 0
	}
	return p.Tasks
}

// affords is how many tasks of a step there is room for.
func (w *world) affords(next stepCost, p train.Part) (tasks int, err error) {
	if err = w.caller.Affords(next.of(p.Tasks)); err == nil {
		return p.Tasks, nil
	}
	for tasks = p.Tasks - 1; tasks >= p.Least; tasks-- {
		if w.caller.Affords(next.of(tasks)) == nil {
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

// finalEvaluation is what the end of a run will take by what rollouts took so far:
// the last passes over the selection split, and scoring the arms on the test split.
// The step to come may add another arm.
func (w *world) finalEvaluation(p train.Part) map[string]caller.Amount {
	s := w.setup
	rolled := w.spending.rollouts
	n := p.Closing
	if s.cfg.Eval.Test {
		most := 3
		if s.cfg.Eval.NoSkill {
			most++
		}
		n += min(p.Arms+1, most) * len(s.data.Test)
	}
	if n == 0 || rolled == 0 {
		return nil
	}
	out := map[string]caller.Amount{}
	for _, t := range w.run.Journal.Totals() {
		if t.Stage == model.StageRollout || t.Stage == model.StageJudge {
			need := caller.AmountOf(t).Times(reserveMargin * float64(n) / float64(rolled))
			need.Tokens, need.Nano = int64(spreadMargin*float64(need.Tokens)), int64(spreadMargin*float64(need.Nano))
			out[t.Role] = out[t.Role].Plus(need)
		}
	}
	return out
}

// stepCost is what a step is expected to take, by role.
type stepCost struct {
	steps int // that it is the mean of
	whole map[string]caller.Amount
	batch map[string]caller.Amount // of it, for the rollouts of its batch
	tasks float64                  // in that
	gate  map[string]caller.Amount // of it, for judging
	reads float64                  // rollouts in that
}

// judged raises what judging takes to a pass over n selection tasks. Candidates that were
// dropped early took less, but with less a gate can only reject: a step that ends at the
// ceiling before its candidate is judged has brought nothing.
func (c *stepCost) judged(n float64) {
	for role, a := range c.rollouts(n) {
		c.whole[role] = c.whole[role].Plus(c.gate[role].Short(a))
	}
}

// rollouts is what so many take: those of batches tell it, or, where batches have read what
// was measured before, those of gates. Fewer than none count less than nothing.
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

// of is what it takes with so many tasks.
func (c *stepCost) of(tasks int) map[string]caller.Amount {
	out := maps.Clone(c.whole)
	for role, a := range c.rollouts(float64(tasks) - c.tasks) {
		out[role] = out[role].Plus(a)
	}
	return out
}

// firstStep is what a step takes at least, as far as that is known.
func (s *setup) firstStep() stepCost {
	if s.episodes() {
		return stepCost{}
	}
	o := s.trainOptions()
	if s.data.InFolds() { // it reads what the seed skill answered
		return stepCost{}
	}
	calls := o.First(len(s.data.Train))
	rolled := map[string]caller.Amount{model.Target: {Calls: int64(calls)}}
	need := stepCost{whole: maps.Clone(rolled), batch: rolled, tasks: float64(calls)}
	if s.cfg.Gate.Mode != "off" {
		need.judged(float64(s.data.Pass()))
	}
	return need
}

// nextStep is what a step took so far, on average. One that has begun already is not
// begun again.
func (w *world) nextStep(number int) (need stepCost, begun bool) {
	need = w.spentOnSteps(func(step int) bool {
		begun = begun || step == number
		return step < number
	})
	switch {
	case begun:
		return stepCost{}, true
	case need.steps == 0:
		return w.setup.firstStep(), false
	}
	if w.setup.cfg.Gate.Mode != "off" {
		need.judged(float64(w.setup.data.Pass()))
	}
	return need, false
}

// spentOnSteps is what those steps took that of says, on average.
func (w *world) spentOnSteps(of func(step int) bool) stepCost {
	need := newStepCost()
	for step, spent := range w.spending.steps {
		if of(step) {
			need.steps++
			need.plus(spent)
		}
	}
	if need.steps == 0 {
		return *need
	}
	need.tasks, need.reads = need.tasks/float64(need.steps), need.reads/float64(need.steps)
	// Calls inside episodes stand in the ledger alone, under no step.
	for role, spent := range w.caller.Spent() {
		for _, of := range []map[string]caller.Amount{need.whole, need.batch, need.gate} {
			of[role] = of[role].Times(1/float64(need.steps)).Scaled(spent, w.spending.all[role])
		}
	}
	return *need
}

// endKey is the key of the decision to end a loop before its last step.
const endKey = "loop/end"

// loopEnd is that decision: after how many of its parts, and of its steps.
type loopEnd struct {
	Parts int `json:"parts"`
	Steps int `json:"steps"`
}

// endAfter returns after how many parts the loop is to end, nil if at its own
// end: what was decided in an earlier session, or now if the user says so.
func (s *setup) endAfter(ctx context.Context, r *run.Run, o train.Options) (*int, error) {
	rec, ok := r.Journal.Decision(endKey)
	if !ok && s.replay != nil {
		found, err := s.replay.Find(endKey, journal.Digest{}, "", false)
		rec, ok = found, err == nil
	}
	switch {
	case ok:
		var end loopEnd
		if err := json.Unmarshal(rec.Result, &end); err != nil {
			return nil, fmt.Errorf("read the recorded decision %s: %w", endKey, err)
		}
		return &end.Parts, nil
	case !s.finish:
		return nil, nil
	case s.replay != nil:
		return nil, &inputError{errors.New("--finish ends a run that models have answered; a replay ends where its record does")}
	}
	return s.endNow(ctx, r, o)
}

// asRecorded is a setup to look at what is recorded: without ceilings, since
// nothing is spent, and without an end for the models, which go on.
func (s *setup) asRecorded() *setup {
	out := *s
	l := &out.cfg.Limits
	l.USD, l.Tokens, l.Calls, l.Time, l.Roles = nil, nil, nil, nil, config.RoleLimits{}
	out.cfg.Telemetry = config.Telemetry{} // it happened once
	out.models = maps.Clone(s.models)
	for role, b := range out.models {
		b.Close = nil
		out.models[role] = b
	}
	return &out
}

// endNow decides that the loop ends where its record does, and records it. The
// step that has begun is left out.
func (s *setup) endNow(ctx context.Context, r *run.Run, o train.Options) (*int, error) {
	w, err := s.asRecorded().world(ctx, r)
	if err != nil {
		return nil, err
	}
	defer w.close()
	w.events = func(event.Event) {}
	w.caller.Stop()
	deps, err := w.deps()
	if err != nil {
		return nil, err
	}
	deps.Pace = nil
	result, err := train.Run(ctx, o, deps)
	switch {
	case err == nil:
		return nil, nil
	case !errors.Is(err, caller.ErrStopping):
		return nil, w.cause(ctx, err)
	case len(result.History.Steps) == 0:
		return nil, &inputError{fmt.Errorf("--finish: %s holds nothing to evaluate yet: the seed skill is not scored; raise the ceiling and train on", r.Dir)}
	case result.History.Final != nil || result.Parts == o.Parts(s.data.Drawable()):
		return nil, nil // only the final evaluation is left
	}
	decision, err := json.Marshal(loopEnd{Parts: result.Parts, Steps: len(result.History.Steps) - 1})
	if err != nil {
		return nil, fmt.Errorf("encode the decision %s: %w", endKey, err)
	}
	_, err = w.caller.Decision(ctx, endKey, func() ([]byte, error) { return decision, nil })
	return &result.Parts, err
}
