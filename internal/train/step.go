package train

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/schedule"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// stepID says which step of a run it is.
type stepID struct{ epoch, number, inEpoch int }

// key returns the key in the record of what a step decides.
func (id stepID) key() string { return fmt.Sprintf("e%d/s%d", id.epoch, id.number) }

// errIndecisive asks for one more try of a step.
var errIndecisive = errors.New("too few items could be measured to decide")

// stepper carries out steps: a batch is rolled out and read, candidates are made and
// judged, and at most one of them becomes the current skill.
type stepper struct {
	opts      Options
	data      Data
	sampler   *sampler
	batcher   *batcher
	optimizer *optimizer
	judge     *judge
	skills    *skills
	memory    *memory
	pacer     *pacer
	prefetch  *prefetcher
	emit      event.Sink
	verify    func(ctx context.Context, key string, s skill.Skill) (refused string, err error) // see Deps.Verify
	loads     *loads
	examples  *exampleStage
}

// stepResult is the result of a step.
type stepResult struct {
	batch *batch
	*proposal
}

// run carries out a step, which may have judged worked examples before.
func (s *stepper) run(ctx context.Context, id stepID, planned []schedule.Batch, shown *proposal) (stepResult, error) {
	r, err := s.own(ctx, id, planned)
	if err != nil {
		return r, err
	}
	s.examples.saw(r.batch.outcomes)
	if shown != nil {
		r.record.Examples = shown.record.Examples
		r.join(s.candidates(id, r), shown)
	}
	return s.examplesAgain(ctx, id, r)
}

// candidates makes and judges candidates of a step.
func (s *stepper) candidates(id stepID, r stepResult) *candidates {
	return &candidates{
		opts: s.opts, optimizer: s.optimizer, judge: s.judge, skills: s.skills, pacer: s.pacer,
		emit: s.emit, verify: s.verify, loads: s.loads, id: id, batch: r.batch, step: r.proposal,
	}
}

// own carries out a step with the candidates that the optimizer makes; an indecisive one is
// tried again from its rollouts on, under keys of its own.
func (s *stepper) own(ctx context.Context, id stepID, planned []schedule.Batch) (stepResult, error) {
	r, err := s.try(ctx, id, planned, result.StepRecord{})
	if errors.Is(err, errIndecisive) {
		s.emit(event.Warning{Text: fmt.Sprintf("step %d: %v; trying it again once", id.number, err)})
		r, err = s.try(ctx, id, planned, result.StepRecord{Retried: true, LostReplies: r.record.LostReplies})
	}
	if err != nil && !errors.Is(err, errIndecisive) {
		return stepResult{}, err
	}
	return r, nil
}

// try carries out a step, beginning with a record. With errIndecisive there is a result
// as well.
func (s *stepper) try(ctx context.Context, id stepID, planned []schedule.Batch, record result.StepRecord) (stepResult, error) {
	prefix := id.key()
	if record.Retried {
		prefix += "/again"
	}
	if _, err := s.loads.of(ctx, prefix, task.Train, s.skills.current.skill); err != nil {
		return stepResult{}, err
	}
	b, err := s.batcher.run(ctx, id, prefix, planned)
	if err != nil {
		return stepResult{}, err
	}
	p := &proposal{prefix: prefix, record: record, files: map[string]any{}}
	s.summarise(p, b)
	all := groupPatches(b.reflected, s.optimizer.mode)
	r := &p.record
	r.FailurePatches, r.SuccessPatches, r.Patches = len(all.failures), len(all.successes), all.size()
	p.begun = p.record
	if r.Patches == 0 && len(r.Notes) == 0 {
		p.skip(result.ActionNoPatches, "")
		return stepResult{b, p}, nil
	}
	made := s.candidates(id, stepResult{b, p})
	err = made.run(ctx, all)
	return stepResult{b, made.step}, err
}

// summarise records the results of the rollouts and the analysts of a step.
func (s *stepper) summarise(p *proposal, b *batch) {
	r := &p.record
	r.Step, r.Epoch, r.StepInEpoch, r.Metric = b.step.number, b.step.epoch, b.step.inEpoch, string(s.opts.Projection.Metric)
	if s.data.InFolds() {
		fold := s.data.fold(b.step.number)
		r.Fold = &fold
	}
	m, n := mean(b.outcomes)
	if r.RolloutN = n; n > 0 {
		r.RolloutHard, r.RolloutSoft = &m.Hard, &m.Soft
		r.RolloutUnanswered = Summarise(b.outcomes).Unanswered
	}
	r.Unmeasured = b.unmeasured
	r.Curriculum = s.sampler.observe(b.outcomes)
	r.Notes = s.memory.heldBack()
	for _, result := range b.reflected {
		r.LostReplies += len(result.Lost)
		r.Notes = append(r.Notes, result.Notes()...)
	}
	p.files["rollout.json"] = trajectory.Outcomes(b.answered.flat())
	p.files["patches.json"] = b.reflected
}

// note returns what later steps learn of this one.
func (r stepResult) note() optimize.StepNote {
	n := optimize.StepNote{Step: r.record.Step, Action: r.record.Action, Patterns: optimize.FailurePatterns(r.batch.answered.preferFailures())}
	for _, o := range r.batch.outcomes {
		if o.Status.Measured() {
			n.Total++
		}
	}
	n.Failed = r.batch.answered.countFailedTasks()
	for _, result := range r.batch.reflected {
		n.Diagnoses = append(n.Diagnoses, result.Diagnoses()...)
	}
	switch action := gate.Action(r.record.Action); {
	case action.Rejected():
		n.Rejected, n.Tried = r.updated.Applied, r.updated.Summary
		n.Before, n.After = r.before, r.record.Candidate
	}
	return n
}

// doneEvent returns the event that reports a step.
func (r stepResult) doneEvent() event.StepDone {
	c := r.record
	budget := 0
	if c.Budget != nil {
		budget = *c.Budget
	}
	done := event.StepDone{
		Epoch: c.Epoch, Step: c.Step, Action: c.Action, Rollout: c.RolloutHard, Candidate: c.Candidate,
		Current: c.Current, Best: c.Best, BestStep: c.BestStep, Edits: c.Ranked, Budget: budget,
		Difference: c.Difference, SE: c.SE, RolloutUnanswered: c.RolloutUnanswered, SelectionUnanswered: c.SelectionUnanswered,
	}
	if done.Difference != nil {
		done.N = c.SelectionN
	}
	for _, one := range c.Candidates {
		if one.Taken {
			done.Examples = one.Examples
		}
	}
	return done
}
