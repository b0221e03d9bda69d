package train

// The warm start: the first step rolls out the whole train split, or what a ceiling has room
// for, and may make as many edits as its failures call for. So most of what the seed skill
// lacks is seen at once, in groups of failures of a kind, and not a batch and a few edits at a
// time.

// warms reports whether a step is the warm start.
func (o Options) warms(number int) bool { return o.Warm > 0 && number == 1 }

// First returns how many rollouts the first step makes of n train tasks.
func (o Options) First(n int) int {
	batch := min(o.BatchSize, n) * o.Accumulation
	if !o.warms(1) {
		return batch
	}
	return max(batch, min(o.Warm, n))
}
