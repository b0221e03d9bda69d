package train

import (
	"context"
	"fmt"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/together"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// endEpoch compares the skill with that of the epoch before and lets the
// optimizer write guidance for the agent (slow update) and a memory for itself
// (meta skill).
func (t *trainer) endEpoch(ctx context.Context, epoch int) error {
	prev := t.epochStart
	defer func() { t.epochStart = t.skills.current.skill }()
	if !t.looksBack(epoch) {
		return nil
	}
	e := &epochEnd{trainer: t, epoch: epoch, prefix: endPrefix(epoch), prev: prev, comparison: newComparison(t.Options, t.Data, epoch, prev), files: map[string]any{}}
	e.record.Epoch = epoch
	if err := e.compareSkills(ctx); err != nil {
		return err
	}
	if err := e.ask(ctx); err != nil {
		return err
	}
	if err := e.apply(ctx); err != nil {
		return err
	}
	e.record.SkillHash = t.skills.current.skill.Hash()
	t.history.Epochs = append(t.history.Epochs, e.record)
	t.Events(event.EpochDone{Epoch: epoch, SlowUpdate: e.record.SlowUpdate, MetaSkill: e.meta.Content != ""})
	return e.write()
}

// looksBack reports whether the skill is compared at the end of an epoch with
// that of the epoch before.
func (o Options) looksBack(epoch int) bool { return epoch > 1 && (o.SlowUpdate || o.MetaSkill) }

// epochEnd is the work at the end of one epoch.
type epochEnd struct {
	*trainer
	epoch      int
	prefix     string
	prev       skill.Skill
	comparison comparison
	pairs      []optimize.Pair
	slow       optimize.SlowResult
	meta       optimize.MetaResult
	record     EpochRecord
	files      map[string]any
}

// compareSkills rolls out train tasks with both skills until the policy has
// enough pairs or no tasks are left.
func (e *epochEnd) compareSkills(ctx context.Context) error {
	n := e.comparison.sample
	policy, err := optimize.ParsePairPolicy(e.SlowPairs)
	if err != nil {
		return err
	}
	for part := 0; part*n < len(e.comparison.tasks) && len(e.pairs) < n; part++ {
		pairs, err := e.comparePart(ctx, part, e.comparison.part(part))
		if err != nil {
			return err
		}
		e.record.Pairs = countPairs(e.record.Pairs, pairs)
		e.pairs = append(e.pairs, optimize.SelectPairs(pairs, policy)...)
		if policy == optimize.PairsMixed || policy == optimize.PairsChanged && e.unchanged() {
			break
		}
	}
	e.pairs = e.pairs[:min(len(e.pairs), n)]
	e.files["comparison_pairs.json"] = e.pairs
	return nil
}

func (e *epochEnd) comparePart(ctx context.Context, part int, tasks []task.Task) ([]optimize.Pair, error) {
	e.Events(event.StageStarted{Epoch: e.epoch, Step: e.lastStep(), Stage: "compare epochs", Total: 2 * len(tasks)})
	curr, prev, err := e.bothArms(ctx, part)
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

// unchanged reports whether the epoch left the skill as it was: then no task
// can have changed either.
func (e *epochEnd) unchanged() bool { return e.prev.Text() == e.skills.current.skill.Text() }

// bothArms rolls out tasks with both skills at once.
func (e *epochEnd) bothArms(ctx context.Context, part int) (curr, prev []trajectory.Outcome, err error) {
	arms := e.comparison.sets(part, e.skills.current.skill)
	out := make([][]trajectory.Outcome, len(arms))
	done := e.rollouts.counter("compare epochs", len(arms)*len(arms[0].tasks))
	g, gctx := together.WithContext(ctx)
	for i, arm := range arms {
		g.Go(func() (err error) {
			out[i], err = e.rollouts.all(gctx, arm, done)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	if err := e.rollouts.healthy(); err != nil {
		return nil, nil, err
	}
	for i, arm := range arms {
		if err := e.without(ctx, part, arm, out[i]); err != nil {
			return nil, nil, err
		}
	}
	return out[0], out[len(out)-1], nil
}

// without records what could not be measured of an arm. Each part decides for
// itself.
func (e *epochEnd) without(ctx context.Context, part int, arm rolloutSet, out []trajectory.Outcome) error {
	missing := missingOf(out)
	if len(missing) == 0 {
		return nil
	}
	key, without := arm.place.Prefix+"/without", pick(arm.tasks, missing)
	if part > 0 {
		key = fmt.Sprintf("%s/%d", key, part)
	}
	if err := e.rollouts.giveUp(ctx, key, arm.place, without); err != nil {
		return err
	}
	e.record.Unmeasured = append(e.record.Unmeasured, idsOf(without)...)
	return nil
}

// ask runs slow update and meta skill side by side.
func (e *epochEnd) ask(ctx context.Context) error {
	e.Events(event.StageStarted{Epoch: e.epoch, Step: e.lastStep(), Stage: "slow update, meta skill"})
	g, gctx := together.WithContext(ctx)
	if e.SlowUpdate {
		g.Go(func() (err error) {
			e.slow, err = optimize.SlowUpdate(gctx, optimize.SlowInput{
				Ask: e.Ask(e.prefix), Prompts: e.Prompts, Previous: e.prev.Text(), Current: e.skills.current.skill.Text(), Pairs: e.pairs, View: e.view(),
			})
			return err
		})
	}
	if e.MetaSkill {
		g.Go(func() (err error) {
			e.meta, err = optimize.MetaSkill(gctx, optimize.MetaInput{
				Ask: e.Ask(e.prefix), Prompts: e.Prompts, PreviousMeta: e.memory.metaSkill, Previous: e.prev.Text(), Current: e.skills.current.skill.Text(),
				Pairs: e.pairs, View: e.view(), History: e.memory.stepBuffer(),
			})
			return err
		})
	}
	return g.Wait()
}

// apply puts the guidance into its region, if the gate agrees, and keeps the
// memory.
func (e *epochEnd) apply(ctx context.Context) error {
	e.record.Lost = append(append(e.record.Lost, e.slow.Lost...), e.meta.Lost...)
	e.counts.lost += len(e.record.Lost)
	if e.meta.Content != "" {
		e.memory.metaSkill, e.record.MetaSkill = e.meta.Content, e.meta.Content
	}
	e.files["slow_update.json"], e.files["meta_skill.json"] = e.slow, e.meta
	if e.slow.Content == "" {
		if e.SlowUpdate {
			e.record.SlowUpdate = "lost"
		}
		return nil
	}
	e.record.Guidance = e.slow.Content
	cand := incumbent{skill: e.skills.current.skill.WithSlow(e.slow.Content), step: e.lastStep(), origin: fmt.Sprintf("slow update, epoch %d", e.epoch)}
	switch {
	case cand.skill.Text() == e.skills.current.skill.Text():
		e.record.SlowUpdate = ActionNoChange
	case len(cand.skill.Text()) > skill.MaxBytes:
		e.record.SlowUpdate = ActionRefused
	case !e.SlowGated && e.Gate != "off":
		// Forced in: nothing is known of this text, so it is no candidate for
		// best and the next gate measures it first.
		e.record.SlowUpdate, e.skills.current = "forced", cand
	default:
		return e.decide(ctx, cand)
	}
	return nil
}

func (e *epochEnd) decide(ctx context.Context, cand incumbent) error {
	v, err := e.judge.compare(ctx, e.prefix+"/gate", &cand, notWorse)
	if err != nil {
		return err
	}
	e.record.SlowUpdate = string(v.Action)
	if cand.outcomes != nil {
		e.files["selection.json"] = trajectory.Outcomes(cand.outcomes)
	}
	if v.Action != gate.Indecisive {
		e.record.Score = v.Candidate
	}
	e.record.Unmeasured = append(e.record.Unmeasured, v.Unmeasured...)
	if v.Action.Accepted() {
		e.skills.adopt(cand, v)
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
