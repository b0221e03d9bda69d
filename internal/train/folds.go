package train

import (
	"context"
	"slices"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/schedule"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// With few tasks a fixed split leaves too few to learn from and too few to judge by. In
// folds each task does both, never in the same step: a step draws its batch outside of one
// fold, its candidate is judged by that fold alone, and the folds take turns.

// InFolds reports whether train and selection tasks are one pool in folds.
func (d Data) InFolds() bool { return d.Folds != nil }

// Crossed is the data with train and selection tasks as one pool in so many folds.
func (d Data) Crossed(folds int, seed int64) Data {
	pool := slices.Concat(d.Train, d.Selection)
	types, _ := Strata(pool, "")
	d.Train, d.Selection = pool, pool
	d.Folds = schedule.Folds(len(pool), schedule.FoldConfig{Folds: folds, Types: types, Seed: seed})
	return d
}

// NumFolds is how many folds there are, 0 where there are none.
func (d Data) NumFolds() int {
	if !d.InFolds() {
		return 0
	}
	return slices.Max(d.Folds) + 1
}

// Sizes are those of the splits.
func (d Data) Sizes() Sizes {
	return Sizes{Train: d.Drawable(), Selection: len(d.Selection), Test: len(d.Test), Fold: d.largest()}
}

// fold is the one that a step is judged by.
func (d Data) fold(step int) int { return (step - 1) % d.NumFolds() }

// drawn are the tasks that a step may draw.
func (d Data) drawn(step int) []task.Task {
	if !d.InFolds() {
		return d.Train
	}
	var out []task.Task
	for i, t := range d.Train {
		if d.Folds[i] != d.fold(step) {
			out = append(out, t)
		}
	}
	return out
}

// judging are the selection tasks that a step is judged by; nil: all.
func (d Data) judging(step int) []int {
	if !d.InFolds() {
		return nil
	}
	var out []int
	for i, f := range d.Folds {
		if f == d.fold(step) {
			out = append(out, i)
		}
	}
	return out
}

// Drawable is how many train tasks a step has to draw from, at least.
func (d Data) Drawable() int { return len(d.Train) - d.largest() }

// Judges is how many selection tasks a candidate is judged by, at most.
func (d Data) Judges() int {
	if !d.InFolds() {
		return len(d.Selection)
	}
	return d.largest()
}

// Pass is how many rollouts it takes at most to judge a candidate once: in folds the
// incumbent is as new to them.
func (d Data) Pass() int {
	if !d.InFolds() {
		return len(d.Selection)
	}
	return 2 * d.largest()
}

// largest is the size of the largest fold, 0 without folds.
func (d Data) largest() int {
	sizes := make([]int, len(d.Folds)+1)
	for _, f := range d.Folds {
		sizes[f]++
	}
	return slices.Max(sizes)
}

// rollBatch rolls out the tasks of a batch. In folds, what gates have measured of the
// current skill and no analyst has read yet is not asked for again.
func (s *step) rollBatch(ctx context.Context, place rollout.Place, tasks []task.Task) ([]trajectory.Outcome, error) {
	if !s.Data.InFolds() {
		return s.rollouts.batch(ctx, "rollout", rolloutSet{place, tasks, s.skills.current.skill})
	}
	e, out := s.skills.entry(&s.skills.current), make([]trajectory.Outcome, len(tasks))
	var open []int
	for k, t := range tasks {
		i := slices.Index(s.skills.store.items, t.ID)
		if e.read[i] || !e.outcomes[i].Status.Measured() {
			open = append(open, k)
			continue
		}
		out[k], e.read[i] = e.outcomes[i], true
	}
	if len(open) == 0 {
		return out, nil
	}
	rolled, err := s.rollouts.batch(ctx, "rollout", rolloutSet{place, pick(tasks, open), s.skills.current.skill})
	if err != nil {
		return nil, err
	}
	for j, k := range open {
		out[k] = rolled[j]
	}
	return out, nil
}

// folded notes which fold judges the step.
func (s *step) folded() {
	if s.Data.InFolds() {
		fold := s.Data.fold(s.number)
		s.record.Fold = &fold
	}
}

// wholePool measures what is shipped on the tasks of the pool that no gate has asked it,
// unless a fresh pass has: its score is told over all of them.
func (t *trainer) wholePool(ctx context.Context) error {
	if !t.Data.InFolds() || t.fresh != nil || !t.skills.known(t.skills.best) {
		return nil
	}
	e, place := t.skills.entry(&t.skills.best), rollout.Place{Prefix: "final/pool"}
	var open []int
	for i, p := range e.Pooled {
		if p.N == 0 {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return nil
	}
	tasks := pick(t.Data.Selection, open)
	t.Events(event.StageStarted{Epoch: t.Epochs, Step: t.lastStep(), Stage: "rest of the pool", Total: len(open)})
	out, err := t.rollouts.batch(ctx, "rest of the pool", rolloutSet{place, tasks, e.skill})
	if err != nil {
		return err
	}
	if missing := missingOf(out); len(missing) > 0 {
		if err := t.rollouts.giveUp(ctx, place.Prefix+"/without", place, pick(tasks, missing)); err != nil {
			return err
		}
	}
	for k, i := range open {
		t.skills.store.add(e, i, 0, out[k])
	}
	t.skills.refresh(&t.skills.best)
	t.skills.refresh(&t.skills.current)
	return nil
}
