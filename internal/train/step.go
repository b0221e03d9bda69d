package train

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/together"
	"github.com/seed-f4525e22/skillopt/schedule"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// step is one step of training. Its stages run one after the other; each takes
// what the one before left here.
type step struct {
	*trainer
	stepID
	batches []schedule.Batch
	prefix  string // of keys: "e1/s3"

	outcomes  []trajectory.Outcome
	reflected []optimize.ReflectResult
	merged    optimize.AggregateResult
	ranked    optimize.RankResult
	updated   optimize.UpdateResult
	candidate skill.Skill
	before    *float64         // of the incumbent, on the items that the candidate was judged by
	went      []optimize.Fared // how tasks went with a candidate that was not accepted
	record    StepRecord
	replaced  int // settled tasks that made room for others
	files     map[string]any

	unusable *unusable // replies of analysts

	label string   // of its candidate among several: ", candidate 2"
	heat  *float64 // temperature of what it asks from aggregate on; nil: as configured
}

// stepID says which step of a run it is.
type stepID struct{ epoch, number, inEpoch int }

// key is where what a step decides stands in the record.
func (id stepID) key() string { return fmt.Sprintf("e%d/s%d", id.epoch, id.number) }

// errIndecisive asks for one more try of a step.
var errIndecisive = errors.New("too few items could be measured to decide")

// run carries the step out; an indecisive one is tried once more from its
// rollouts on, under keys of its own.
func (s *step) run(ctx context.Context) error {
	s.prefix = s.key()
	s.reset()
	err := s.try(ctx)
	if errors.Is(err, errIndecisive) {
		s.Events(event.Warning{Text: fmt.Sprintf("step %d: %v; trying it again once", s.number, err)})
		s.prefix += "/again"
		lost := s.record.LostReplies
		s.reset()
		s.record.Retried, s.record.LostReplies = true, lost
		err = s.try(ctx)
	}
	if err != nil && !errors.Is(err, errIndecisive) {
		return err
	}
	if s.record.Control, err = s.judge.control(ctx, s.stepID); err != nil {
		return err
	}
	if err := s.close(); err != nil {
		return err
	}
	return s.learns(ctx)
}

// batchPlace is where the rollouts of a microbatch stand.
func batchPlace(prefix string, microbatch int) rollout.Place {
	return rollout.Place{Prefix: fmt.Sprintf("%s/mb%d/rollout", prefix, microbatch)}
}

func (s *step) reset() {
	s.outcomes, s.reflected, s.replaced = nil, nil, 0
	s.unusable = &unusable{}
	s.record = StepRecord{Step: s.number, Epoch: s.epoch, StepInEpoch: s.inEpoch, Metric: string(s.Projection.Metric)}
	s.files = map[string]any{}
	s.folded()
}

func (s *step) try(ctx context.Context) error {
	if err := s.rolloutAndReflect(ctx); err != nil {
		return err
	}
	s.summariseRollouts()
	failures, successes := s.patches()
	s.record.FailurePatches, s.record.SuccessPatches = len(failures), len(successes)
	s.record.Patches = len(failures) + len(successes)
	if s.record.Patches == 0 && len(s.record.Notes) == 0 {
		return s.skip(ActionNoPatches, "")
	}
	if s.made() > 1 {
		return s.populate(ctx, s.analystBudget(), hand{failures, successes})
	}
	if err := s.propose(ctx, s.analystBudget(), hand{failures, successes}); err != nil {
		return err
	}
	switch {
	case s.candidate.Text() != s.skills.current.skill.Text():
		return s.decide(ctx)
	case s.updated.Refused != "":
		return s.skip(ActionRefused, s.updated.Refused)
	}
	return s.skip(ActionNoChange, "")
}

// propose makes a candidate of analysts' patches.
func (s *step) propose(ctx context.Context, budget int, h hand) error {
	if err := s.aggregate(ctx, h.failures, h.successes); err != nil {
		return err
	}
	if err := s.rank(ctx, budget); err != nil {
		return err
	}
	return s.update(ctx)
}

// analystBudget is the number of edits that one reply may hold. When the
// optimizer chooses the count of a step, replies are bounded by edits.budget; those of a
// warm start by nothing.
func (s *step) analystBudget() int {
	switch {
	case s.warms(s.number):
		return schedule.NoLimit
	case s.budget == nil:
		return s.Budget
	}
	return s.budget.At(s.number)
}

// rolloutAndReflect rolls out the microbatches one after the other; the
// analysts of one read while the next is rolled out.
func (s *step) rolloutAndReflect(ctx context.Context) error {
	s.reflected = make([]optimize.ReflectResult, len(s.batches))
	g, gctx := together.WithContext(ctx)
	for i, b := range s.batches {
		s.Events(event.StageStarted{Epoch: s.epoch, Step: s.number, Stage: "rollout", Total: len(b.Items)})
		tasks, replaced := s.sampler.draw(s.number, b)
		s.replaced += replaced
		place := batchPlace(s.prefix, i)
		outcomes, err := s.rollBatch(gctx, place, tasks)
		if err == nil {
			err = s.coverBatch(ctx, place, tasks, outcomes)
		}
		if err == nil {
			outcomes, err = s.grown(gctx, ctx, i, outcomes)
		}
		if err != nil {
			return withAnalysts(err, g.Wait())
		}
		s.outcomes = append(s.outcomes, outcomes...)
		g.Go(func() (err error) {
			s.reflected[i], err = s.reflect(gctx, i, b.Seed, outcomes, s.analystBudget(), s.memory.told(outcomes))
			return err
		})
	}
	s.Events(event.StageStarted{Epoch: s.epoch, Step: s.number, Stage: "reflect"})
	return g.Wait()
}

// withAnalysts joins the end of the rollouts with that of the analysts. What
// ended both is told once.
func withAnalysts(err, analysts error) error {
	if analysts == nil || errors.Is(err, analysts) || errors.Is(analysts, err) {
		return err
	}
	return errors.Join(err, analysts)
}

func (s *step) reflect(ctx context.Context, i int, seed int64, outcomes []trajectory.Outcome, budget int, c told) (optimize.ReflectResult, error) {
	return optimize.Reflect(ctx, optimize.ReflectInput{
		Ask: s.heeds(s.heated(s.Ask(fmt.Sprintf("%s/mb%d", s.prefix, i)))), Prompts: s.Prompts, Mode: s.mode,
		Outcomes: outcomes, Skill: s.skills.current.skill.Text(), View: s.view(), Size: s.Minibatch, Seed: seed, Shallow: s.Shallow,
		FailureOnly: s.FailureOnly, SkillAware: s.SkillAware, Budget: budget, StepBuffer: c.stepBuffer, Memory: c.memory, MetaSkill: s.memory.metaSkill,
	})
}

// coverBatch records that a step goes on without the tasks of a batch that
// could not be measured. With none measured at all there is nothing to go on.
func (s *step) coverBatch(ctx context.Context, place rollout.Place, tasks []task.Task, outcomes []trajectory.Outcome) error {
	missing := missingOf(outcomes)
	if len(missing) == 0 {
		return nil
	}
	if len(missing) == len(outcomes) {
		return &NothingMeasuredError{Place: place.Prefix, Reason: outcomes[0].FailReason}
	}
	return s.coverMore(ctx, place, tasks, outcomes)
}

func (s *step) summariseRollouts() {
	p, n := mean(s.outcomes)
	s.record.RolloutN = n
	if n > 0 {
		s.record.RolloutHard, s.record.RolloutSoft = &p.Hard, &p.Soft
	}
	s.record.Curriculum = s.sampler.observe(s.outcomes, s.replaced)
	s.record.Notes = s.memory.heldBack()
	for _, r := range s.reflected {
		s.record.LostReplies += len(r.Lost)
		s.record.Notes = append(s.record.Notes, r.Notes()...)
	}
	s.files["rollout.json"] = trajectory.Outcomes(s.outcomes)
	s.files["patches.json"] = s.reflected
}

// patches sorts the analysts' patches by what they were drawn from.
func (s *step) patches() (failures, successes []optimize.Patch) {
	for _, r := range s.reflected {
		f, ok := r.Patches(s.mode)
		failures, successes = append(failures, f...), append(successes, ok...)
	}
	return failures, successes
}

func (s *step) aggregate(ctx context.Context, failures, successes []optimize.Patch) (err error) {
	s.Events(event.StageStarted{Epoch: s.epoch, Step: s.number, Stage: "aggregate"})
	s.merged, err = optimize.Aggregate(ctx, optimize.AggregateInput{
		Ask: s.asker(), Prompts: s.Prompts, Mode: s.mode, FanIn: s.FanIn,
		Failures: failures, Successes: successes, Skill: s.skills.current.skill.Text(), MetaSkill: s.memory.metaSkill,
	})
	if err != nil {
		return err
	}
	s.record.Merged = s.merged.Items
	s.record.LostReplies += len(s.merged.Lost)
	s.files["merged_patch.json"] = s.merged
	return nil
}

func (s *step) rank(ctx context.Context, budget int) (err error) {
	s.Events(event.StageStarted{Epoch: s.epoch, Step: s.number, Stage: "rank"})
	ask := s.asker()
	if s.budget == nil && !s.warms(s.number) && s.mode != optimize.ModeFullRewrite {
		rate, err := optimize.LearningRate(ctx, optimize.LearningRateInput{
			Ask: ask, Prompts: s.Prompts, Mode: s.mode, Patch: s.merged.Patch,
			Skill: s.skills.current.skill.Text(), RolloutHard: s.record.RolloutHard, RolloutSoft: s.record.RolloutSoft,
			View: s.view(), Rollouts: s.record.RolloutN, Failed: failed(s.outcomes), History: s.memory.stepBuffer(), MetaSkill: s.memory.metaSkill,
		})
		if err != nil {
			return err
		}
		budget = rate.LearningRate
		s.record.LostReplies += len(rate.Lost)
		s.files["edit_budget.json"] = rate
	}
	if budget < schedule.NoLimit && s.mode != optimize.ModeFullRewrite {
		s.record.Budget = &budget
	}
	s.ranked, err = optimize.Rank(ctx, optimize.RankInput{
		Ask: ask, Prompts: s.Prompts, Mode: s.mode, Patch: s.merged.Patch, Budget: budget,
		Skill: s.skills.current.skill.Text(), MetaSkill: s.memory.metaSkill, View: s.view(),
	})
	if err != nil {
		return err
	}
	s.record.Ranked = s.ranked.Items
	s.record.LostReplies += len(s.ranked.Lost)
	s.files["ranked_edits.json"] = s.ranked
	return nil
}

// update applies the edits and, in skill-aware mode, adds the notes.
func (s *step) update(ctx context.Context) (err error) {
	budget := schedule.NoLimit
	if s.record.Budget != nil {
		budget = *s.record.Budget
	}
	ask := s.asker()
	s.updated, err = optimize.Update(ctx, optimize.UpdateInput{
		Ask: ask, Prompts: s.Prompts, Mode: s.mode, Skill: s.skills.current.skill, Patch: s.ranked.Patch,
		Budget: budget, MetaSkill: s.memory.metaSkill,
	})
	if err != nil {
		return err
	}
	s.candidate = s.updated.Candidate
	s.record.Edits, s.record.Refused = s.updated.Reports, s.updated.Refused
	s.record.LostReplies += len(s.updated.Lost)
	for _, e := range s.updated.Edits {
		s.record.Support = append(s.record.Support, e.SupportCount)
	}
	s.files["edit_apply_report.json"] = s.updated
	return s.note(ctx, ask)
}

// note adds the notes on lapses to the appendix of the candidate.
func (s *step) note(ctx context.Context, ask optimize.Ask) error {
	if !s.SkillAware || len(s.record.Notes) == 0 {
		return nil
	}
	notes, err := optimize.Appendix(ctx, optimize.AppendixInput{Ask: ask, Prompts: s.Prompts, Skill: s.candidate, Notes: s.record.Notes})
	if err != nil {
		return err
	}
	if n := len(notes.Skill.Text()); n <= skill.MaxBytes {
		s.candidate = notes.Skill
	} else {
		s.record.Refused = fmt.Sprintf("with its notes the skill has %d bytes, at most %d are allowed", n, skill.MaxBytes)
	}
	s.record.LostReplies += len(notes.Lost)
	s.files["appendix.json"] = notes
	return nil
}

// skip ends a step without a candidate.
func (s *step) skip(action, reason string) error {
	s.record.Action, s.record.Reason = action, reason
	return nil
}

// judge lets the gate decide on the candidate.
func (s *step) decide(ctx context.Context) error {
	unjudged := s.record
	cand, v, err := s.weigh(ctx)
	switch {
	case err != nil:
		return err
	case v.Action.Accepted():
		s.skills.adopt(cand, v)
		return nil
	}
	return s.onceMore(ctx, unjudged, cand, v)
}

// weigh asks the gate about the candidate and keeps what it says. The incumbent
// stays in its place.
func (s *step) weigh(ctx context.Context) (incumbent, gate.Verdict, error) {
	cand := incumbent{skill: s.candidate, step: s.number, origin: fmt.Sprintf("step %d%s", s.number, s.label), edits: s.record.Edits}
	s.record.CandidateHash = cand.skill.Hash()
	s.record.CandidateLen = len([]rune(cand.skill.Text()))
	s.Events(event.StageStarted{Epoch: s.epoch, Step: s.number, Stage: "gate", Total: s.judge.judges()})
	v, err := s.judge.compare(ctx, s.prefix+"/gate", &cand, better)
	if err != nil {
		return cand, v, err
	}
	s.record.Difference, s.record.SE, s.record.Phase, s.record.Draws = v.Difference, v.SE, string(v.Phase), v.Draws
	s.record.Action, s.record.Reason = string(v.Action), v.Reason
	s.record.Candidate, s.before = v.Candidate, v.Current
	s.record.Unmeasured = append(s.record.Unmeasured, v.Unmeasured...)
	if v.Mean != nil {
		s.record.SelectionHard, s.record.SelectionSoft, s.record.SelectionN = &v.Mean.Hard, &v.Mean.Soft, v.N
	}
	if v.Action.Rejected() {
		s.went = s.skills.fared(&cand)
	}
	s.files["candidate_skill.md"] = cand.skill.Text()
	s.files["selection.json"] = trajectory.Outcomes(cand.outcomes)
	if v.Action == gate.Indecisive && len(v.Unmeasured) > 0 { // else another try would find the same
		return cand, v, fmt.Errorf("%w: %s", errIndecisive, v.Reason)
	}
	return cand, v, nil
}

// close completes the record, remembers the step for later analysts and writes
// the files.
func (s *step) close() error {
	r := &s.record
	r.Current, r.Best, r.BestStep = s.skills.current.score, s.skills.best.score, s.skills.best.step
	r.CurrentOrigin, r.BestOrigin = s.skills.current.origin, s.skills.best.origin
	r.SkillHash, r.SkillLen = s.skills.current.skill.Hash(), len([]rune(s.skills.current.skill.Text()))
	s.count()
	s.memory.holdBack(gate.Action(r.Action), r.Notes)
	s.history.Steps = append(s.history.Steps, *r)
	s.memory.remember(s.digest(), s.outcomes, r.CandidateHash != "")
	if err := s.write(); err != nil {
		return err
	}
	budget := 0
	if r.Budget != nil {
		budget = *r.Budget
	}
	done := event.StepDone{
		Epoch: s.epoch, Step: s.number, Action: r.Action, Rollout: r.RolloutHard, Candidate: r.Candidate,
		Current: r.Current, Best: r.Best, BestStep: r.BestStep, Edits: r.Ranked, Budget: budget,
		Difference: r.Difference, SE: r.SE,
	}
	if done.Difference != nil {
		done.N = r.SelectionN
	}
	s.Events(done)
	return nil
}

func (s *step) count() {
	switch action := gate.Action(s.record.Action); {
	case action.Accepted():
		s.counts.accepted++
	case action.Rejected():
		s.counts.rejected++
	default:
		s.counts.skipped++
	}
	s.counts.lost += s.record.LostReplies
}

// digest is what later steps are told of this one.
func (s *step) digest() optimize.StepNote {
	n := optimize.StepNote{Step: s.number, Action: s.record.Action, Patterns: optimize.FailurePatterns(s.outcomes)}
	for _, o := range s.outcomes {
		if o.Status.Measured() {
			n.Total++
		}
	}
	n.Failed = failed(s.outcomes)
	for _, r := range s.reflected {
		n.Diagnoses = append(n.Diagnoses, r.Diagnoses()...)
	}
	switch action := gate.Action(s.record.Action); {
	case action.Rejected():
		n.Rejected, n.Tried, n.Fared = s.updated.Applied, s.updated.Summary, s.went
		n.Before, n.After = s.before, s.record.Candidate
	case action.Accepted():
		n.Accepted, n.Before, n.After = s.updated.Applied, s.before, s.record.Candidate
	}
	return n
}
