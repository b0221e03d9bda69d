package schedule

import "github.com/seed-f4525e22/skillopt/internal/pyrand"

// epochStride keeps the seeds of different epochs apart.
const epochStride = 1000

// Batch is one batch of train tasks: the unit of a rollout.
type Batch struct {
	Seed  int64 // for everything drawn within the batch
	Items []int // indices into the train split
}

// EpochConfig describes one pass over the train split.
type EpochConfig struct {
	Train        int   // tasks in the train split
	BatchSize    int   // tasks of a batch, at least 1
	Accumulation int   // batches of a step, at least 1
	Steps        int   // steps of the epoch; see StepsPerEpoch
	Epoch        int   // from 1
	Seed         int64 // of the run
}

// StepsPerEpoch returns how many steps one pass over the train split takes.
func StepsPerEpoch(train, batchSize, accumulation int) int {
	perStep := max(1, batchSize) * max(1, accumulation)
	return (max(0, train) + perStep - 1) / perStep
}

// Epoch returns the batches of an epoch, Steps * Accumulation of them in order:
// the shuffled train split in slices of BatchSize, the last one possibly
// shorter. When the pass ends before the epoch does, as happens with
// accumulation, each further batch comes from a shuffle of its own.
func Epoch(cfg EpochConfig) []Batch {
	base := cfg.Seed + int64(cfg.Epoch)*epochStride
	order := pyrand.New(base).Perm(max(0, cfg.Train))
	size := max(1, cfg.BatchSize)
	batches := make([]Batch, 0, max(0, cfg.Steps*cfg.Accumulation))
	for i := range cap(batches) {
		b := Batch{Seed: base + int64(i) + 1}
		start := i * size
		if start < len(order) {
			b.Items = append(b.Items, order[start:min(start+size, len(order))]...)
		} else {
			b.Items = reshuffle(order, b.Seed)[:min(size, len(order))]
		}
		batches = append(batches, b)
	}
	return batches
}

// reshuffle returns a shuffled copy.
func reshuffle(items []int, seed int64) []int {
	shuffled := append([]int{}, items...)
	pyrand.New(seed).Shuffle(len(shuffled), func(i, j int) {
		shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
	})
	return shuffled
}

// TrainBatch returns one batch of at most size of the train indices 0..n-1,
// drawn with a seed of its own, outside of any epoch.
func TrainBatch(n, size int, seed int64) []int {
	n = max(0, n)
	return pyrand.New(seed).Perm(n)[:min(max(0, size), n)]
}

// EvalBatch returns the indices of the tasks that an evaluation of a split
// takes: its first limit tasks, all of them if limit < 1. name may be an alias;
// an unknown one is an error.
func EvalBatch(c Counts, name string, limit int) ([]int, error) {
	split, err := ParseSplit(name)
	if err != nil {
		return nil, err
	}
	n := c.Of(split)
	if limit > 0 {
		n = min(n, limit)
	}
	items := make([]int, n)
	for i := range items {
		items[i] = i
	}
	return items, nil
}

// SeedPlan returns the seeds of the batches of an epoch for environments that
// make their tasks from a seed: the same base seeds in every epoch, and those
// in another order for each epoch.
func SeedPlan(cfg EpochConfig) (base, shuffled []int64) {
	n := max(0, cfg.Steps*cfg.Accumulation)
	base, shuffled = make([]int64, n), make([]int64, n)
	order := pyrand.New(cfg.Seed + int64(cfg.Epoch)*epochStride).Perm(n)
	for i := range base {
		base[i] = cfg.Seed + int64(i) + 1
		shuffled[i] = cfg.Seed + int64(order[i]) + 1
	}
	return base, shuffled
}
