package train

import (
	"context"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// BaselineFile is the projection of a run with the outcomes of the seed skill. Where it
// exists, they have been looked at.
const BaselineFile = "steps/step_0000/selection.json"

// baseliner scores the seed skill on the selection split: step 0.
type baseliner struct {
	opts     Options
	judge    *judge
	skills   *skills
	prefetch *prefetcher
	emit     event.Sink
	look     func([]trajectory.Outcome) error // at the outcomes before anything rests on them; nil: no one does
}

// baseline is the result of the seed skill.
type baseline struct {
	seed    incumbent
	arm     *result.Arm       // nil: it was not measured
	partial bool              // hard scores between 0 and 1 were seen
	without []string          // items that could not be measured
	noise   *result.SeedNoise // nil: no item was asked twice
}

// run measures the seed skill and makes it the current and the best one. On an error the
// result holds what is known until then.
func (r *baseliner) run(ctx context.Context, s skill.Skill) (b baseline, err error) {
	b.seed = incumbent{skill: s, origin: "seed"}
	if r.opts.Gate != gate.ModeOff {
		if err := r.measure(ctx, &b); err != nil {
			return b, err
		}
	}
	r.skills.entry(&b.seed).Accepted = true
	if r.opts.freshens() && (r.opts.Twice == nil || *r.opts.Twice > 0) {
		if b.noise, err = r.judge.measureNoise(ctx, "", &b.seed, r.judge.repeatedItems(r.skills.entry(&b.seed), r.opts.Deterministic)); err != nil {
			return b, err
		}
	}
	r.skills.current, r.skills.best = b.seed, b.seed
	return b, nil
}

func (r *baseliner) measure(ctx context.Context, b *baseline) (err error) {
	r.emit(event.StageStarted{Stage: "baseline", Total: len(r.judge.selection)})
	stops := r.prefetch.mayStop(b.seed.skill, nil)
	if !stops {
		r.prefetch.start(ctx, b.seed.skill)
	}
	if b.without, err = r.judge.measure(ctx, rollout.Place{Prefix: "seed/selection"}, &b.seed); err != nil {
		return err
	}
	if r.look != nil {
		if err := r.look(b.seed.outcomes); err != nil {
			return err
		}
	}
	arm := Summarise(b.seed.outcomes)
	b.arm, b.partial = &arm, partial(b.seed.outcomes)
	r.skills.store.addAll(r.skills.entry(&b.seed), 0, b.seed.outcomes)
	if stops && !r.prefetch.mayStop(b.seed.skill, b.seed.outcomes) {
		r.prefetch.start(ctx, b.seed.skill)
	}
	return nil
}

// record returns the record of step 0, of a seed skill with the given hash.
func (b baseline) record(metric score.Metric, hash string) result.StepRecord {
	r := result.StepRecord{
		Action: result.ActionBaseline, Unmeasured: b.without, Metric: string(metric), Current: b.seed.score, Best: b.seed.score,
		CurrentOrigin: b.seed.origin, BestOrigin: b.seed.origin, SkillHash: hash, SkillLen: skillLength(b.seed.skill),
	}
	if b.arm != nil {
		r.SelectionHard, r.SelectionSoft, r.SelectionN = &b.arm.Hard, &b.arm.Soft, b.arm.N
		r.SelectionUnanswered = b.arm.Unanswered
	}
	return r
}

// files returns the files of step 0.
func (b baseline) files() map[string]any {
	if b.seed.outcomes == nil {
		return nil
	}
	return map[string]any{"selection.json": trajectory.Outcomes(b.seed.outcomes)}
}
