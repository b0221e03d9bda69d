package train

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/taskgroup"
	"github.com/seed-f4525e22/skillopt/schedule"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// batcher rolls out the batch of a step with the current skill and has analysts read it.
// It changes no skill.
type batcher struct {
	opts      Options
	data      Data
	sampler   *sampler
	rollouts  *rollouts
	skills    *skills
	optimizer *optimizer
	memory    *memory
	pacer     *pacer
	emit      event.Sink
}

// batch is the result of a step's rollouts and analysts.
type batch struct {
	step       stepID
	prefix     string // of keys
	planned    []schedule.Batch
	outcomes   []trajectory.Outcome     // one a task
	answered   answered                 // the same, with all answers to each task
	reflected  []optimize.ReflectResult // by microbatch
	unmeasured []string                 // tasks that it continues without
	lost       *lostReplies             // of analysts
}

// batchPlace returns the place of the rollouts of a microbatch.
func batchPlace(prefix string, microbatch int) rollout.Place {
	return rollout.Place{Prefix: fmt.Sprintf("%s/mb%d/rollout", prefix, microbatch)}
}

// run rolls out the microbatches of a step one after the other; the analysts of one read
// while the next is rolled out.
func (r *batcher) run(ctx context.Context, id stepID, prefix string, planned []schedule.Batch) (*batch, error) {
	b := &batch{step: id, prefix: prefix, planned: planned, reflected: make([]optimize.ReflectResult, len(planned)), lost: &lostReplies{}}
	g, gctx := taskgroup.WithContext(ctx)
	for i, plan := range planned {
		outcomes, err := r.microbatch(gctx, ctx, b, i)
		if err != nil {
			return nil, withAnalysts(err, g.Wait())
		}
		b.answered = b.answered.plus(outcomes)
		b.outcomes = b.answered.tasks
		g.Go(func() (err error) {
			b.reflected[i], err = r.optimizer.reflect(gctx, reading{
				ask: b.lost.heed(r.optimizer.ask(analystPrefix(prefix, i))), answered: outcomes, current: r.skills.current.skill,
				seed: plan.Seed, budget: r.optimizer.analystBudget(id.number), stepBuffer: r.memory.stepBuffer(),
			})
			return err
		})
	}
	r.emit(event.StageStarted{Epoch: id.epoch, Step: id.number, Stage: "reflect"})
	if err := g.Wait(); err != nil {
		return b, err
	}
	for _, read := range b.reflected {
		if o := r.optimizer; read.TooLong > 0 && (o.tooLong == 0 || read.TooLong < o.tooLong) {
			o.tooLong = read.TooLong // for the steps to come
		}
	}
	return b, nil
}

// analystPrefix returns the prefix of the requests about a microbatch.
func analystPrefix(prefix string, microbatch int) string {
	return fmt.Sprintf("%s/mb%d", prefix, microbatch)
}

// withAnalysts joins the end of the rollouts with that of the analysts. What
// ended both is reported once.
func withAnalysts(err, analysts error) error {
	if analysts == nil || errors.Is(err, analysts) || errors.Is(analysts, err) {
		return err
	}
	return errors.Join(err, analysts)
}

// microbatch rolls out microbatch i and returns its outcomes. Rollouts end with gctx, what
// is recorded of them with ctx.
func (r *batcher) microbatch(gctx, ctx context.Context, b *batch, i int) (answered, error) {
	plan := b.planned[i]
	r.emit(event.StageStarted{Epoch: b.step.epoch, Step: b.step.number, Stage: "rollout", Total: len(plan.Items)})
	tasks := r.data.Unshown(r.sampler.draw(b.step.number, plan), r.skills.current.skill)
	place := batchPlace(b.prefix, i)
	outcomes, err := r.roll(gctx, place, tasks)
	if err != nil {
		return answered{}, err
	}
	if n := len(findMissing(outcomes.tasks)); n > 0 && n == len(outcomes.tasks) {
		return answered{}, &NothingMeasuredError{Place: place.Prefix, Reason: outcomes.tasks[0].FailReason}
	}
	if err := r.cover(ctx, b, place, tasks, outcomes); err != nil {
		return answered{}, err
	}
	return outcomes, nil
}

// roll rolls out tasks with the current skill. In folds, what gates have measured of it
// and no analyst has read yet is not asked for again.
func (r *batcher) roll(ctx context.Context, place rollout.Place, tasks []task.Task) (answered, error) {
	known, open := make([]trajectory.Outcome, len(tasks)), allIndices(tasks)
	if r.data.InFolds() {
		known, open = r.skills.unread(tasks)
		r.skills.rolledOut(tasks, r.opts.answersEach())
	}
	if len(open) == 0 && r.opts.answersEach() == 1 {
		return answered{tasks: known}, nil
	}
	samples, err := r.samples(ctx, place, tasks, known, open)
	if err != nil {
		return answered{}, err
	}
	return answeredBy(samples), nil
}

// allIndices returns the indices of a list.
func allIndices(tasks []task.Task) []int {
	out := make([]int, len(tasks))
	for i := range out {
		out[i] = i
	}
	return out
}

// cover records that a step continues without those tasks that could not be measured.
func (r *batcher) cover(ctx context.Context, b *batch, place rollout.Place, tasks []task.Task, outcomes answered) error {
	if outcomes.all != nil {
		return r.coverSamples(ctx, b, place, tasks, outcomes)
	}
	gone, err := r.rollouts.giveUpMissing(ctx, rolloutSet{place: place, tasks: tasks}, outcomes.tasks)
	b.unmeasured = append(b.unmeasured, taskIDs(gone)...)
	return err
}

// patches are those of analysts, separated into those from failures and those from successes.
type patches struct{ failures, successes []optimize.Patch }

func (p patches) size() int { return len(p.failures) + len(p.successes) }

// groupPatches groups the analysts' patches according to what they were drawn from.
func groupPatches(reflected []optimize.ReflectResult, mode optimize.Mode) patches {
	var out patches
	for _, r := range reflected {
		failures, successes := r.Patches(mode)
		out.failures, out.successes = append(out.failures, failures...), append(out.successes, successes...)
	}
	return out
}

// countFailures returns how many of the measured outcomes are failures.
func countFailures(outcomes []trajectory.Outcome) int {
	n := 0
	for _, p := range optimize.FailurePatterns(outcomes) {
		n += p.Count
	}
	return n
}
