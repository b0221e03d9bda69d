package train

import (
	"context"
	"fmt"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/taskgroup"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// epochEnder compares the skill at the end of an epoch with that of the epoch before and
// lets the optimizer write guidance for the agent (slow update) and a memory for itself
// (meta skill).
type epochEnder struct {
	opts      Options
	data      Data
	rollouts  *rollouts
	optimizer *optimizer
	judge     *judge
	skills    *skills
	memory    *memory
	emit      event.Sink
}

// epochEnd is the result of the end of an epoch.
type epochEnd struct {
	epoch    int
	lastStep int
	compared comparison
	pairs    []optimize.Pair
	slow     optimize.SlowResult
	meta     optimize.MetaResult
	record   result.EpochRecord
	files    map[string]any
}

// looksBack reports whether the skill is compared at the end of an epoch with
// that of the epoch before.
func (o Options) looksBack(epoch int) bool { return epoch > 1 && (o.SlowUpdate || o.MetaSkill) }

// run carries out the end of an epoch. On an error the result holds what was asked until
// then.
func (r *epochEnder) run(ctx context.Context, epoch, lastStep int, previous skill.Skill) (*epochEnd, error) {
	e := &epochEnd{epoch: epoch, lastStep: lastStep, compared: newComparison(r.opts, r.data, epoch, previous, r.skills.current.skill), files: map[string]any{}}
	e.record.Epoch = epoch
	if err := r.compareSkills(ctx, e); err != nil {
		return e, err
	}
	if err := r.ask(ctx, e); err != nil {
		return e, err
	}
	if err := r.apply(ctx, e); err != nil {
		return e, err
	}
	e.record.SkillHash = r.skills.hash(r.skills.current.skill)
	return e, nil
}

// compareSkills rolls out train tasks with both skills until the policy has
// enough pairs or no tasks are left.
func (r *epochEnder) compareSkills(ctx context.Context, e *epochEnd) error {
	n := e.compared.sample
	policy, err := optimize.ParsePairPolicy(r.opts.SlowPairs)
	if err != nil {
		return err
	}
	for part := 0; part*n < len(e.compared.tasks) && len(e.pairs) < n; part++ {
		pairs, err := r.comparePart(ctx, e, part)
		if err != nil {
			return err
		}
		e.record.Pairs = countPairs(e.record.Pairs, pairs)
		e.pairs = append(e.pairs, optimize.SelectPairs(pairs, policy)...)
		// With the skill as it was no task can have changed either.
		unchanged := e.compared.previous.Equal(r.skills.current.skill)
		if policy == optimize.PairsMixed || policy == optimize.PairsChanged && unchanged {
			break
		}
	}
	e.pairs = e.pairs[:min(len(e.pairs), n)]
	e.files["comparison_pairs.json"] = e.pairs
	return nil
}

func (r *epochEnder) comparePart(ctx context.Context, e *epochEnd, part int) ([]optimize.Pair, error) {
	tasks := e.compared.part(part)
	r.emit(event.StageStarted{Epoch: e.epoch, Step: e.lastStep, Stage: "compare epochs", Total: 2 * len(tasks)})
	curr, prev, err := r.bothArms(ctx, e, part)
	if err != nil {
		return nil, err
	}
	both := make([]int, 0, len(tasks))
	for i := range tasks {
		if prev[i].Status.Measured() && curr[i].Status.Measured() {
			both = append(both, i)
		}
	}
	return optimize.Compare(pick(tasks, both), pick(prev, both), pick(curr, both)), nil
}

// bothArms rolls out tasks with both skills at once.
func (r *epochEnder) bothArms(ctx context.Context, e *epochEnd, part int) (curr, prev []trajectory.Outcome, err error) {
	arms := e.compared.sets(part, r.skills.current.skill)
	out := make([][]trajectory.Outcome, len(arms))
	done := r.rollouts.counter("compare epochs", len(arms)*len(arms[0].tasks))
	g, gctx := taskgroup.WithContext(ctx)
	for i, arm := range arms {
		g.Go(func() (err error) {
			out[i], err = r.rollouts.all(gctx, arm, done)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	if err := r.rollouts.healthy(); err != nil {
		return nil, nil, err
	}
	for i, arm := range arms {
		gone, err := r.recordMissing(ctx, part, arm, out[i])
		if err != nil {
			return nil, nil, err
		}
		e.record.Unmeasured = append(e.record.Unmeasured, taskIDs(gone)...)
	}
	return out[0], out[len(out)-1], nil
}

// recordMissing records and returns what could not be measured of an arm. Each part decides for
// itself.
func (r *epochEnder) recordMissing(ctx context.Context, part int, arm rolloutSet, out []trajectory.Outcome) ([]task.Task, error) {
	missing := findMissing(out)
	if len(missing) == 0 {
		return nil, nil
	}
	key, without := arm.place.Prefix+"/without", pick(arm.tasks, missing)
	if part > 0 {
		key = fmt.Sprintf("%s/%d", key, part)
	}
	return without, r.rollouts.giveUp(ctx, key, arm.place, without)
}

// ask runs slow update and meta skill side by side.
func (r *epochEnder) ask(ctx context.Context, e *epochEnd) error {
	r.emit(event.StageStarted{Epoch: e.epoch, Step: e.lastStep, Stage: "slow update, meta skill"})
	previous, current := e.compared.previous, r.skills.current.skill
	g, gctx := taskgroup.WithContext(ctx)
	if r.opts.SlowUpdate {
		g.Go(func() (err error) {
			e.slow, err = r.optimizer.slowUpdate(gctx, e.compared.prefix, previous, current, e.pairs)
			return err
		})
	}
	if r.opts.MetaSkill {
		g.Go(func() (err error) {
			e.meta, err = r.optimizer.metaSkill(gctx, e.compared.prefix, previous, current, e.pairs)
			return err
		})
	}
	return g.Wait()
}

// slowUpdate asks for guidance that follows from the comparison of two skills.
func (o *optimizer) slowUpdate(ctx context.Context, prefix string, previous, current skill.Skill, pairs []optimize.Pair) (optimize.SlowResult, error) {
	before, after, err := o.documentPair(previous, current)
	if err != nil {
		return optimize.SlowResult{}, err
	}
	return optimize.SlowUpdate(ctx, optimize.SlowInput{
		Ask: o.ask(prefix), Prompts: o.prompts, Previous: before, Current: after, Pairs: pairs, View: o.view(current),
	})
}

// metaSkill asks for the optimizer's memory of the same comparison.
func (o *optimizer) metaSkill(ctx context.Context, prefix string, previous, current skill.Skill, pairs []optimize.Pair) (optimize.MetaResult, error) {
	before, after, err := o.documentPair(previous, current)
	if err != nil {
		return optimize.MetaResult{}, err
	}
	return optimize.MetaSkill(ctx, optimize.MetaInput{
		Ask: o.ask(prefix), Prompts: o.prompts, PreviousMeta: o.memory.metaSkill, Previous: before, Current: after,
		Pairs: pairs, View: o.view(current), History: o.memory.stepBuffer(),
	})
}

// apply puts the guidance into its region, if the gate agrees, and keeps the
// memory.
func (r *epochEnder) apply(ctx context.Context, e *epochEnd) error {
	e.record.Lost = append(append(e.record.Lost, e.slow.Lost...), e.meta.Lost...)
	if e.meta.Content != "" {
		r.memory.metaSkill, e.record.MetaSkill = e.meta.Content, e.meta.Content
	}
	e.files["slow_update.json"], e.files["meta_skill.json"] = e.slow, e.meta
	if e.slow.Content == "" {
		if r.opts.SlowUpdate {
			e.record.SlowUpdate = "lost"
		}
		return nil
	}
	e.record.Guidance = e.slow.Content
	current := r.skills.current.skill
	cand := incumbent{skill: r.skills.scope.WithSlow(current, e.slow.Content), step: e.lastStep, origin: fmt.Sprintf("slow update, epoch %d", e.epoch)}
	switch {
	case cand.skill.Equal(current):
		e.record.SlowUpdate = result.ActionNoChange
	case len(cand.skill.Text()) > skill.MaxBytes:
		e.record.SlowUpdate = result.ActionRefused
	case !r.opts.SlowGated && r.opts.Gate != gate.ModeOff:
		// Forced in: nothing is known of this text, so it is no candidate for
		// best and the next gate measures it first.
		e.record.SlowUpdate, r.skills.current = "forced", cand
	default:
		return r.decide(ctx, e, cand)
	}
	return nil
}

// decide lets the gate decide on the guidance.
func (r *epochEnder) decide(ctx context.Context, e *epochEnd, cand incumbent) error {
	v, err := r.judge.compare(ctx, e.compared.prefix+"/gate", &cand, notWorse)
	if err != nil {
		return err
	}
	e.record.SlowUpdate, e.record.Losses = string(v.Action), v.Losses
	if v.Action.Rejected() {
		e.record.Failures = r.skills.failures(&cand)
	}
	if cand.outcomes != nil {
		e.files["selection.json"] = trajectory.Outcomes(cand.outcomes)
	}
	if v.Action != gate.Indecisive {
		e.record.Score = v.Candidate
	}
	e.record.Unmeasured = append(e.record.Unmeasured, v.Unmeasured...)
	if v.Action.Accepted() {
		r.skills.adopt(cand, v)
	}
	return nil
}

func countPairs(counts map[string]int, pairs []optimize.Pair) map[string]int {
	if counts == nil {
		counts = map[string]int{}
	}
	for _, p := range pairs {
		counts[string(p.Category)]++
	}
	return counts
}
