package train

import "github.com/seed-f4525e22/skillopt/gate"

// Warm is the warm start: the first step rolls out the whole train split, or what a
// ceiling has room for, and may make as many edits as its failures call for. What the
// seed skill lacks most is seen at once, in groups of failures of a kind, and not a
// batch and a few edits at a time.
type Warm struct {
	Drafts int // candidates of the first step, each from analysts of its own; 0: no warm start
	Tasks  int // train tasks of it
}

// warms reports whether a step is the warm start.
func (o Options) warms(number int) bool { return o.Warm.Drafts > 0 && number == 1 }

// First is how many rollouts the first step makes of n train tasks.
func (o Options) First(n int) int {
	batch := min(o.BatchSize, n) * o.Accumulation
	if !o.warms(1) {
		return batch
	}
	return max(batch, min(o.Warm.Tasks, n))
}

// madeFirst is how many candidates the first step makes at most. Without a gate nothing
// tells them apart.
func (o Options) madeFirst() int {
	if o.warms(1) && o.Gate != gate.ModeOff {
		return o.Warm.Drafts
	}
	return o.made()
}
