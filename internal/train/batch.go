package train

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/pyrand"
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

// batch is what a step's rollouts and analysts came to.
type batch struct {
	step       stepID
	prefix     string // of keys
	planned    []schedule.Batch
	outcomes   []trajectory.Outcome     // one a task
	answered   answered                 // the same, with all answers to each task
	reflected  []optimize.ReflectResult // by microbatch
	unmeasured []string                 // tasks that it goes on without
	replaced   int                      // settled tasks that made room for others
	grown      int                      // tasks that it grew by for want of failures
	lost       *lostReplies             // of analysts
}

// batchPlace is where the rollouts of a microbatch stand.
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
				seed: plan.Seed, budget: r.optimizer.analystBudget(id.number), told: r.memory.told(outcomes.failing()),
			})
			return err
		})
	}
	r.emit(event.StageStarted{Epoch: id.epoch, Step: id.number, Stage: "reflect"})
	return b, g.Wait()
}

// analystPrefix is where the requests about a microbatch stand.
func analystPrefix(prefix string, microbatch int) string {
	return fmt.Sprintf("%s/mb%d", prefix, microbatch)
}

// withAnalysts joins the end of the rollouts with that of the analysts. What
// ended both is told once.
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
	tasks, replaced := r.sampler.draw(b.step.number, plan)
	b.replaced += replaced
	place := batchPlace(b.prefix, i)
	outcomes, err := r.roll(gctx, place, tasks)
	if err != nil {
		return answered{}, err
	}
	if n := len(missingOf(outcomes.tasks)); n > 0 && n == len(outcomes.tasks) {
		return answered{}, &NothingMeasuredError{Place: place.Prefix, Reason: outcomes.tasks[0].FailReason}
	}
	if err := r.cover(ctx, b, place, tasks, outcomes); err != nil {
		return answered{}, err
	}
	if i < len(b.planned)-1 {
		return outcomes, nil
	}
	return r.grow(gctx, ctx, b, outcomes)
}

// roll rolls out tasks with the current skill. In folds, what gates have measured of it
// and no analyst has read yet is not asked for again.
func (r *batcher) roll(ctx context.Context, place rollout.Place, tasks []task.Task) (answered, error) {
	known, open := make([]trajectory.Outcome, len(tasks)), everyOf(tasks)
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

// everyOf are the indices of a list.
func everyOf(tasks []task.Task) []int {
	out := make([]int, len(tasks))
	for i := range out {
		out[i] = i
	}
	return out
}

// cover records that a step goes on without those tasks that could not be measured.
func (r *batcher) cover(ctx context.Context, b *batch, place rollout.Place, tasks []task.Task, outcomes answered) error {
	if outcomes.all != nil {
		return r.coverSamples(ctx, b, place, tasks, outcomes)
	}
	gone, err := r.rollouts.giveUpMissing(ctx, rolloutSet{place: place, tasks: tasks}, outcomes.tasks)
	b.unmeasured = append(b.unmeasured, idsOf(gone)...)
	return err
}

// grow rolls out more train tasks, a batch at a time in an order of this step's own, until
// a step has seen Enough failures, all tasks that it may draw, or there is no room for more.
// The analysts read all of it at once. outcomes are those of the last microbatch. A warm
// start has what there is.
func (r *batcher) grow(gctx, ctx context.Context, b *batch, outcomes answered) (answered, error) {
	if r.opts.Enough == 0 || r.opts.warms(b.step.number) {
		return outcomes, nil
	}
	rest := r.unseen(b, outcomes.tasks)
	for k := 1; len(rest) > 0 && b.answered.failed()+outcomes.failed() < r.opts.Enough; k++ {
		n := min(len(rest), r.opts.BatchSize)
		prefix := fmt.Sprintf("%s/more%d", analystPrefix(b.prefix, len(b.planned)-1), k)
		room, err := r.pacer.roomFor(ctx, prefix, Unit{Name: UnitMore, Step: b.step.number, Tasks: n})
		if err != nil || !room {
			return outcomes, err
		}
		place := rollout.Place{Prefix: prefix + "/rollout"}
		out, err := r.roll(gctx, place, rest[:n])
		if err != nil {
			return outcomes, err
		}
		if err := r.cover(ctx, b, place, rest[:n], out); err != nil {
			return outcomes, err
		}
		outcomes, rest = outcomes.plus(out), rest[n:]
		b.grown += n
	}
	return outcomes, nil
}

// unseen are the tasks that the step may draw and has not, shuffled.
func (r *batcher) unseen(b *batch, outcomes []trajectory.Outcome) []task.Task {
	seen := map[string]bool{}
	for _, o := range slices.Concat(b.outcomes, outcomes) {
		seen[o.ID] = true
	}
	all := r.data.drawn(b.step.number)
	var rest []task.Task
	for _, k := range pyrand.New(seedOf(r.opts.Seed, b.prefix+"/more")).Perm(len(all)) {
		if !seen[all[k].ID] {
			rest = append(rest, all[k])
		}
	}
	return rest
}

// patches are those of analysts, by what they were drawn from.
type patches struct{ failures, successes []optimize.Patch }

func (p patches) size() int { return len(p.failures) + len(p.successes) }

// patchesOf sorts the analysts' patches by what they were drawn from.
func patchesOf(reflected []optimize.ReflectResult, mode optimize.Mode) patches {
	var out patches
	for _, r := range reflected {
		failures, successes := r.Patches(mode)
		out.failures, out.successes = append(out.failures, failures...), append(out.successes, successes...)
	}
	return out
}

// failed is how many of the measured outcomes are failures.
func failed(outcomes []trajectory.Outcome) int {
	n := 0
	for _, p := range optimize.FailurePatterns(outcomes) {
		n += p.Count
	}
	return n
}
