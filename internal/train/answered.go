package train

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/taskgroup"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// With several answers to each train task (Reflection.Rollouts) a task is by itself by
// one outcome: its first answer that could be measured, with the mean scores of all of them.
// That is what scores of training, the curriculum and the memory of earlier steps go by. An
// answer that infrastructure kept from being measured is left out; a task without any is
// unmeasured.

// answered are the answers to some train tasks.
type answered struct {
	tasks []trajectory.Outcome   // one a task
	all   [][]trajectory.Outcome // by task, by sample; nil: a task has one answer
}

// answersEach returns how many answers each train task gets.
func (o Options) answersEach() int { return max(1, o.Rollouts) }

// answeredBy makes it of the answers by sample, each in the order of the tasks.
func answeredBy(samples [][]trajectory.Outcome) answered {
	if len(samples) == 1 {
		return answered{tasks: samples[0]}
	}
	var out answered
	for i := range samples[0] {
		of := make([]trajectory.Outcome, len(samples))
		for k := range samples {
			of[k] = samples[k][i]
		}
		out.all, out.tasks = append(out.all, of), append(out.tasks, standIn(of))
	}
	return out
}

// standIn returns the outcome that represents a task by itself: the first measured answer with the mean scores of all measured ones.
func standIn(answers []trajectory.Outcome) trajectory.Outcome {
	out := answers[0]
	var pairs []score.Pair
	for _, o := range answers {
		if !o.Status.Measured() {
			continue
		}
		if pairs == nil {
			out = o
		}
		pairs = append(pairs, score.Pair{Hard: o.Hard, Soft: o.Soft})
	}
	if pairs != nil {
		mean := score.Mean(pairs)
		out.Hard, out.Soft = mean.Hard, mean.Soft
	}
	return out
}

func (a answered) plus(b answered) answered {
	return answered{append(a.tasks, b.tasks...), append(a.all, b.all...)}
}

// flat returns all answers, those of a sample one after the other.
func (a answered) flat() []trajectory.Outcome {
	if a.all == nil {
		return a.tasks
	}
	out := make([]trajectory.Outcome, 0, len(a.all)*len(a.all[0]))
	for k := range a.all[0] {
		for _, of := range a.all {
			out = append(out, of[k])
		}
	}
	return out
}

// preferFailures returns the tasks, each with the first of its answers that failed if there is one.
func (a answered) preferFailures() []trajectory.Outcome {
	if a.all == nil {
		return a.tasks
	}
	out := slices.Clone(a.tasks)
	for i, of := range a.all {
		for _, o := range of {
			if countFailures([]trajectory.Outcome{o}) > 0 {
				out[i] = o
				break
			}
		}
	}
	return out
}

// countFailedTasks returns how many tasks have an answer that failed.
func (a answered) countFailedTasks() int { return countFailures(a.preferFailures()) }

// read returns what analysts read: contrasts, and of the other tasks their first answers.
func (a answered) read(p score.Projection) (single []trajectory.Outcome, contrasts []optimize.Contrast) {
	if a.all == nil {
		return a.tasks, nil
	}
	contrasts, rest := optimize.Contrasts(a.all, p)
	for _, i := range rest {
		single = append(single, firstMeasured(a.all[i]))
	}
	return single, contrasts
}

func firstMeasured(answers []trajectory.Outcome) trajectory.Outcome {
	for _, o := range answers {
		if o.Status.Measured() {
			return o
		}
	}
	return answers[0]
}

// samples rolls out tasks with the current skill, all samples at the same time. first is
// what is known of the first sample; open are the tasks of which nothing is.
func (r *batcher) samples(ctx context.Context, place rollout.Place, tasks []task.Task, first []trajectory.Outcome, open []int) ([][]trajectory.Outcome, error) {
	sets, out := r.sampleSets(place, tasks, open), make([][]trajectory.Outcome, r.opts.answersEach())
	total := 0
	for _, set := range sets {
		total += len(set.tasks)
	}
	done := r.rollouts.counter("rollout", total)
	g, gctx := taskgroup.WithContext(ctx)
	for k, set := range sets {
		if len(set.tasks) == 0 {
			continue
		}
		g.Go(func() (err error) {
			out[k], err = r.rollouts.all(gctx, set, done)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for j, k := range open {
		first[k] = out[0][j]
	}
	out[0] = first
	return out, r.rollouts.healthy()
}

// sampleSets returns the rollouts of each sample. The first sample has those of the open tasks alone.
func (r *batcher) sampleSets(place rollout.Place, tasks []task.Task, open []int) []rolloutSet {
	sets := expandSamples(rolloutSet{place, tasks, r.skills.current.skill}, r.opts.answersEach())
	sets[0].tasks = pick(tasks, open)
	return sets
}

// expandSamples returns the rollouts of each of n samples.
func expandSamples(set rolloutSet, n int) []rolloutSet {
	out := make([]rolloutSet, n)
	for k := range out {
		out[k] = set
		out[k].place.Sample += k
	}
	return out
}

// coverSamples records that a step continues without the answers that could not be measured,
// and notes the tasks of which there is none.
func (r *batcher) coverSamples(ctx context.Context, b *batch, place rollout.Place, tasks []task.Task, a answered) error {
	for k := range a.all[0] {
		set := rolloutSet{place: rollout.Place{Prefix: place.Prefix, Sample: place.Sample + k}, tasks: tasks}
		var out []trajectory.Outcome
		for _, of := range a.all {
			out = append(out, of[k])
		}
		key := place.Prefix + "/without"
		if k > 0 {
			key = fmt.Sprintf("%s/%d", key, k)
		}
		if missing := findMissing(out); len(missing) > 0 {
			if err := r.rollouts.giveUp(ctx, key, set.place, pick(tasks, missing)); err != nil {
				return err
			}
		}
	}
	b.unmeasured = append(b.unmeasured, taskIDs(pick(tasks, findMissing(a.tasks)))...)
	return nil
}
