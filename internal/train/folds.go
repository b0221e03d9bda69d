package train

import (
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/pyrand"
	"github.com/seed-f4525e22/skillopt/schedule"
	"github.com/seed-f4525e22/skillopt/task"
)

// With few tasks a fixed split leaves too few to learn from and too few to judge by. In one
// pool each task does both. In folds it does both, never in the same step: a step draws its
// batch outside of one fold, its candidate is judged by that fold alone, and the folds take
// turns. One pool is one fold that its steps draw from too.

// InFolds reports whether train and selection tasks are one pool, in one fold or several.
func (d Data) InFolds() bool { return d.Folds != nil }

// CrossFit returns the data with train and selection tasks as one pool in that many folds.
func (d Data) CrossFit(folds int, seed int64) Data {
	pool := slices.Concat(d.Train, d.Selection)
	types, copies := Strata(pool, "")
	d.Train, d.Selection = pool, pool
	d.Folds = schedule.Folds(len(pool), schedule.FoldConfig{Folds: folds, Types: types, Clusters: copies, Seed: seed})
	return d
}

// Fewer returns the data with that many selection tasks, drawn by a seed, or with all of them for 0.
func (d Data) Fewer(selection int, seed int64) Data {
	if selection == 0 || selection >= len(d.Selection) {
		return d
	}
	drawn := pyrand.New(deriveSeed(seed, "fewer selection tasks")).Perm(len(d.Selection))[:selection]
	slices.Sort(drawn)
	d.Selection = pick(d.Selection, drawn)
	return d
}

// NumFolds returns the number of folds, 0 where there are none.
func (d Data) NumFolds() int {
	if !d.InFolds() {
		return 0
	}
	return slices.Max(d.Folds) + 1
}

// Sizes returns the sizes of the splits.
func (d Data) Sizes() Sizes {
	return Sizes{
		Train: d.Drawable(), Selection: len(d.Selection), Test: len(d.Test), Fold: d.largest(),
		Triggers: TriggerSizes{Train: len(d.Triggers[task.Train]), Selection: len(d.Triggers[task.Selection]), Test: len(d.Triggers[task.Test])},
	}
}

// fold returns the fold that a step is judged by.
func (d Data) fold(step int) int { return (step - 1) % d.NumFolds() }

// trainTasks returns the tasks that a step may draw.
func (d Data) trainTasks(step int) []task.Task {
	if d.NumFolds() < 2 {
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

// selectionItems returns the selection tasks that a step is judged by, nil for all.
func (d Data) selectionItems(step int) []int {
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

// Drawable returns how many train tasks a step has to draw from, at least.
func (d Data) Drawable() int {
	if d.NumFolds() < 2 {
		return len(d.Train)
	}
	return len(d.Train) - d.largest()
}

// Judges returns how many selection tasks a candidate is judged by, at most.
func (d Data) Judges() int {
	if !d.InFolds() {
		return len(d.Selection)
	}
	return d.largest()
}

// Pass returns how many rollouts it takes at most to judge a candidate once: in several folds the
// incumbent is as new to them.
func (d Data) Pass() int {
	if d.NumFolds() < 2 {
		return len(d.Selection)
	}
	return 2 * d.largest()
}

// largest returns the size of the largest fold, 0 without folds.
func (d Data) largest() int {
	sizes := make([]int, len(d.Folds)+1)
	for _, f := range d.Folds {
		sizes[f]++
	}
	return slices.Max(sizes)
}
