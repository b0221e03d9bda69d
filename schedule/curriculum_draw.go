package schedule

import (
	"slices"
)

// Window is a place in a run.
type Window struct {
	Step  int // steps done so far
	Total int // steps of the run
}

// Draw returns the indices, into keys, of a train batch of size tasks. For each
// place in the batch a bin is drawn and then one of its tasks, all alike; a bin
// without tasks is replaced by the nearest one that has some, the easier of two.
// No task comes twice before every task came once. The same keys, scores and
// generator give the same batch.
func (c *Curriculum) Draw(rng Rand, keys []string, size int, at Window) []int {
	if len(keys) == 0 {
		return nil
	}
	var bins [][]int // indices not drawn yet, by bin
	batch := make([]int, 0, max(0, size))
	for range cap(batch) {
		if len(batch)%len(keys) == 0 {
			bins = c.groupByBin(keys)
		}
		bin := nearestFilled(bins, c.SampleBin(rng, at.Step, at.Total))
		i := rng.RandBelow(len(bins[bin]))
		batch = append(batch, bins[bin][i])
		bins[bin] = slices.Delete(bins[bin], i, i+1)
	}
	return batch
}

// groupByBin returns the indices of the keys by the bin of their task.
func (c *Curriculum) groupByBin(keys []string) [][]int {
	bins := make([][]int, c.cfg.Bins)
	for i, key := range keys {
		bin := c.Bin(key)
		bins[bin] = append(bins[bin], i)
	}
	return bins
}

// nearestFilled returns the bin nearest to from that holds something; at least
// one does.
func nearestFilled(bins [][]int, from int) int {
	for distance := range bins {
		if i := from - distance; i >= 0 && len(bins[i]) > 0 {
			return i
		}
		if i := from + distance; i < len(bins) && len(bins[i]) > 0 {
			return i
		}
	}
	return from
}
