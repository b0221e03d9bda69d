// Package train is the loop: epochs of steps, each of them rollout, reflect,
// aggregate, rank, update and gate; slow update and meta skill at epoch ends;
// the final evaluation.
//
// It is a plain deterministic function over model calls that something else
// records: to resume a run is to call it again. It knows nothing about records,
// retries, limits, configuration files or terminals.
package train

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/testset"
	"github.com/seed-f4525e22/skillopt/schedule"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Run trains a skill. On an error the result holds what was decided until then.
func Run(ctx context.Context, o Options, d Deps) (*Result, error) {
	t, err := newTrainer(o, d)
	if err != nil {
		return nil, err
	}
	err = t.run(ctx)
	t.rollouts.prefetched.abandon(err)
	return t.result(), err
}

// trainer is the state of a run. Only the goroutine that called Run changes it.
type trainer struct {
	Options
	Deps
	mode   optimize.Mode
	budget *schedule.Budget

	seedArm    *Arm
	partial    bool // hard scores between 0 and 1 were seen
	skills     *skills
	judge      *judge
	history    History // but for drifts, which the judge notes
	readBefore *testset.Before
	cert       *Certificate         // of best against seed
	fresh      []trajectory.Outcome // of the best skill, in a pass that nothing was decided by

	trainByID  map[string]*task.Task
	memory     *memory
	epochStart skill.Skill // the skill with which the last epoch ended
	sampler    *sampler
	parts      int // of the loop that are done
	pacer      *pacer
	prefetch   *prefetcher
	rollouts   *rollouts
	fruitless  fruitless
	counts     struct{ accepted, rejected, skipped, lost int }
}

func newTrainer(o Options, d Deps) (*trainer, error) {
	mode, ok := optimize.ParseMode(o.Mode)
	if !ok {
		return nil, fmt.Errorf("unknown update mode %q", o.Mode)
	}
	t := &trainer{Options: o, Deps: d, mode: mode, trainByID: map[string]*task.Task{}, memory: newMemory(o)}
	for i := range d.Data.Train {
		t.trainByID[d.Data.Train[i].ID] = &d.Data.Train[i]
	}
	if t.Events == nil {
		t.Events = func(event.Event) {}
	}
	t.rollouts = &rollouts{roller: d.Roller, record: d.Record, emit: t.Events, usage: d.Usage, health: d.Health}
	var err error
	if t.sampler, err = newSampler(o, d.Data); err != nil {
		return nil, err
	}
	t.skills = newSkills(o, d.Data)
	t.pacer = &pacer{opts: o, data: d.Data, seed: d.Skill, skills: t.skills, record: d.Record, emit: t.Events, ask: d.Pace}
	t.prefetch = &prefetcher{
		opts: o, data: d.Data, on: d.Overlap && !d.Data.InFolds(), sampler: t.sampler, rollouts: t.rollouts, skills: t.skills,
	}
	t.judge = &judge{
		opts: o, selection: d.Data.Selection, skills: t.skills, rollouts: t.rollouts, emit: t.Events,
		judging: d.Data.judging(1), foresee: t.prefetch.watch,
	}
	if o.Schedule != "model" {
		mode, err := schedule.ParseMode(o.Schedule)
		if err != nil {
			return nil, err
		}
		t.budget, err = schedule.NewBudget(schedule.BudgetConfig{Mode: mode, Max: o.Budget, Min: o.MinBudget, Total: o.Steps(d.Data.Drawable())})
		if err != nil {
			return nil, err
		}
	}
	t.history.Steps, t.history.Epochs = []StepRecord{}, []EpochRecord{}
	return t, nil
}

func (t *trainer) run(ctx context.Context) error {
	t.prefetch.next = &nextPart{epoch: 1}
	if err := t.baseline(ctx); err != nil {
		return fmt.Errorf("score the seed skill: %w", err)
	}
	if err := t.loop(ctx); err != nil && !errors.Is(err, ErrEnded) {
		return err
	}
	_, err := t.pacer.admit(Part{Name: PartFinal})
	if err == nil {
		err = t.finish(ctx)
	}
	if err != nil {
		return fmt.Errorf("final evaluation: %w", err)
	}
	return nil
}

// loop runs the epochs.
func (t *trainer) loop(ctx context.Context) error {
	perEpoch := t.sampler.stepsPerEpoch()
	for epoch := 1; epoch <= t.Epochs; epoch++ {
		batches, err := t.sampler.epoch(epoch)
		if err != nil {
			return err
		}
		t.memory.beginEpoch()
		for i := range perEpoch {
			s := &step{trainer: t, stepID: stepID{epoch: epoch, number: (epoch-1)*perEpoch + i + 1, inEpoch: i + 1}}
			s.batches = t.sampler.step(epoch, i, batches)
			t.judge.judging = t.Data.judging(s.number)
			t.prefetch.next = &nextPart{epoch: epoch, steps: i + 1, done: t.parts + 1, epochStart: t.epochStart}
			if !t.loops(t.parts) {
				return fmt.Errorf("epoch %d, step %d: %w", epoch, s.number, ErrEnded)
			}
			s.batches, err = t.pacer.step(ctx, s.stepID, s.batches)
			if err == nil {
				err = s.run(ctx)
			}
			if err != nil {
				return fmt.Errorf("epoch %d, step %d: %w", epoch, s.number, err)
			}
			t.parts++
		}
		t.prefetch.next = &nextPart{epoch: epoch + 1, done: t.parts + 1}
		if !t.loops(t.parts) {
			return fmt.Errorf("end of epoch %d: %w", epoch, ErrEnded)
		}
		_, err = t.pacer.admit(Part{Name: PartEpochEnd})
		if err == nil {
			err = t.endEpoch(ctx, epoch)
		}
		if err != nil {
			return fmt.Errorf("end of epoch %d: %w", epoch, err)
		}
		t.parts++
	}
	return nil
}

// lastStep is the number of the step that was closed last, 0 for the seed skill.
func (t *trainer) lastStep() int { return len(t.history.Steps) - 1 }

// soFar is the history as it stands.
func (t *trainer) soFar() History {
	h := t.history
	h.Drift = t.judge.drifts
	return h
}

func (t *trainer) result() *Result {
	r := &Result{
		History: t.soFar(), Seed: t.Skill, Best: t.skills.best.skill, Final: t.skills.current.skill, BestStep: t.skills.best.step,
		Accepted: t.counts.accepted, Rejected: t.counts.rejected, Skipped: t.counts.skipped, Lost: t.counts.lost,
		Baseline: t.seedArm, Parts: t.parts, Certificate: t.cert, ReadBefore: t.readBefore,
	}
	if t.skills.best.outcomes != nil {
		arm := t.skills.bestArm(t.fresh)
		r.Selection, r.Reported = &arm, t.skills.reported(t.fresh)
	}
	return r
}
