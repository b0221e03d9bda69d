package train

import (
	"context"
	"slices"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// finisher makes the last decisions on the selection split: whether the final skill
// becomes the best one, and what its score is.
type finisher struct {
	opts      Options
	selection []task.Task
	rollouts  *rollouts
	judge     *judge
	skills    *skills
	emit      event.Sink
	lastStep  int
	place     string // where what it asks is in the record
}

// finish is the result of these decisions.
type finish struct {
	promoted   bool                 // the final skill became best
	unmeasured []string             // items that the score of the final skill goes without
	fresh      []trajectory.Outcome // of the best skill, in a pass that nothing was decided by; nil: there was none
	drawn      trajectory.Named     // all that was asked with it, by place
}

// run makes the decisions.
func (r *finisher) run(ctx context.Context) (f finish, err error) {
	if f.promoted, f.unmeasured, err = r.promote(ctx); err != nil {
		return f, err
	}
	f.drawn = trajectory.Named{}
	if f.fresh, err = r.freshPass(ctx, f.drawn); err != nil || f.fresh != nil {
		return f, err
	}
	return f, r.wholePool(ctx, f.drawn)
}

// record returns the record of the final evaluation before the test split is opened.
func (r *finisher) record(f finish, endedEarly bool) *result.FinalRecord {
	final := &result.FinalRecord{
		Promoted: f.promoted, EndedEarly: endedEarly, Unmeasured: f.unmeasured,
		FinalScore: r.skills.current.score, BestScore: r.skills.best.score, BestStep: r.skills.best.step,
	}
	if f.fresh != nil {
		final.Reported = r.skills.reportBest(f.fresh)
	}
	return final
}

// stage announces a stage and how many rollouts it has.
func (r *finisher) stage(name string, total int) {
	r.emit(event.StageStarted{Epoch: r.opts.Epochs, Step: r.lastStep, Stage: name, Total: total})
}

// promote makes the final skill the best one if it is better. It returns the items that
// could not be measured.
func (r *finisher) promote(ctx context.Context) (promoted bool, unmeasured []string, err error) {
	switch {
	case r.opts.Gate == gate.ModeOff:
		r.skills.best = r.skills.current
		return false, nil, nil
	case r.skills.bestIsCurrent():
		return false, nil, nil
	}
	if !r.skills.isKnown(r.skills.current) {
		r.stage("final skill", len(r.selection))
		if unmeasured, err = r.judge.measure(ctx, rollout.Place{Prefix: r.place + "/selection"}, &r.skills.current); err != nil {
			return false, nil, err
		}
	}
	if r.skills.beats(r.skills.current, r.skills.best) {
		r.skills.best, promoted = r.skills.current, true
	}
	return promoted, unmeasured, nil
}

// freshPass evaluates the shipped skill again where answers change, or
// may, so that its score does not rest on the evaluations that it was chosen by. Nil:
// there is no such pass, or too little of it was measured.
func (r *finisher) freshPass(ctx context.Context, drawn trajectory.Named) ([]trajectory.Outcome, error) {
	best := &r.skills.best
	if !r.opts.freshens() || r.judge.deterministic || !r.skills.isKnown(*best) {
		return nil, nil
	}
	e := r.skills.entry(best)
	if e.evaluations() == 0 {
		r.skills.store.addAll(e, 0, best.outcomes)
	}
	r.stage("fresh pass", len(r.selection))
	set := rolloutSet{rollout.Place{Prefix: r.place + "/fresh", Sample: slices.Max(e.Next)}, r.selection, e.skill}
	out, err := r.rollouts.batch(ctx, "fresh pass", set)
	if err != nil {
		return nil, err
	}
	gone, err := r.rollouts.giveUpMissing(ctx, set, out)
	if err != nil {
		return nil, err
	}
	drawn[set.place.Prefix] = out
	r.skills.store.addAll(e, set.place.Sample, out)
	r.skills.refreshShipped()
	if !gate.Enough(len(out), len(gone)) {
		return nil, nil
	}
	return out, nil
}

// wholePool measures, in folds, what is shipped on the tasks of the pool that no gate has
// asked it: its score is reported over all of them.
func (r *finisher) wholePool(ctx context.Context, drawn trajectory.Named) error {
	if r.skills.folds < 2 || !r.skills.isKnown(r.skills.best) {
		return nil
	}
	e := r.skills.entry(&r.skills.best)
	open := e.unmeasuredItems()
	if len(open) == 0 {
		return nil
	}
	set := rolloutSet{rollout.Place{Prefix: r.place + "/pool"}, pick(r.selection, open), e.skill}
	r.stage("rest of the pool", len(open))
	out, err := r.rollouts.batch(ctx, "rest of the pool", set)
	if err != nil {
		return err
	}
	if _, err := r.rollouts.giveUpMissing(ctx, set, out); err != nil {
		return err
	}
	drawn[set.place.Prefix] = out
	for k, i := range open {
		r.skills.store.add(e, i, 0, out[k])
	}
	r.skills.refreshShipped()
	return nil
}

// freshens reports whether the run ends with a fresh pass, unless answers are
// deterministic.
func (o Options) freshens() bool { return o.Fresh && o.Gate != gate.ModeOff }
