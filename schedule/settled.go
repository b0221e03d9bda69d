package schedule

// SettledConfig says when a task is settled and how rarely it is drawn then.
type SettledConfig struct {
	After  int     // looks in a row with the same end after which a task is settled; below 1: never
	Weight float64 // share of its draws that a settled task keeps, 0..1
}

// Settled follows which tasks have nothing to tell: solved by every one of the
// last looks, or by none. A look is a measured rollout in a train batch. One look
// that ends otherwise makes a task worth drawing again. Keys are task ids. It is
// not safe for concurrent use.
type Settled struct {
	cfg     SettledConfig
	streaks map[string]streak
}

// streak is how often a task ended the same way, at last.
type streak struct {
	solved bool
	looks  int
}

// NewSettled returns one that has seen nothing. The weight is clamped to 0..1.
func NewSettled(cfg SettledConfig) *Settled {
	cfg.Weight = min(1, max(0, cfg.Weight))
	return &Settled{cfg: cfg, streaks: map[string]streak{}}
}

// Look takes in how a task ended: its hard score, 0..1. Only what was measured
// may be handed in. A score between 0 and 1 is neither, and ends a streak.
func (s *Settled) Look(key string, hard float64) {
	if hard > 0 && hard < 1 {
		delete(s.streaks, key)
		return
	}
	now := streak{solved: hard >= 1, looks: 1}
	if was, known := s.streaks[key]; known && was.solved == now.solved {
		now.looks += was.looks
	}
	s.streaks[key] = now
}

// Is reports whether a task is settled.
func (s *Settled) Is(key string) bool {
	return s.cfg.After >= 1 && s.streaks[key].looks >= s.cfg.After
}

// Count returns how many tasks are settled, by how they end.
func (s *Settled) Count() (solved, failed int) {
	for key, st := range s.streaks {
		switch {
		case !s.Is(key):
		case st.solved:
			solved++
		default:
			failed++
		}
	}
	return solved, failed
}

// Thin takes a batch, indices into keys, and puts a task that is not settled in
// the place of a settled one, in as many cases as the weight leaves: each settled
// task keeps its place with that probability. What is put in is drawn alike from
// all that are neither settled nor in the batch; when there are none left, the
// settled stay. The size of the batch and the order of the others do not change.
// replaced is how many places were taken. The same keys, looks and generator give
// the same batch.
func (s *Settled) Thin(rng Rand, keys []string, batch []int) (thinned []int, replaced int) {
	in := make(map[int]bool, len(batch))
	for _, i := range batch {
		in[i] = true
	}
	var open []int
	for i, key := range keys {
		if !in[i] && !s.Is(key) {
			open = append(open, i)
		}
	}
	thinned = append([]int{}, batch...)
	for at, i := range batch {
		if len(open) == 0 {
			break
		}
		if !s.Is(keys[i]) || rng.Random() < s.cfg.Weight {
			continue
		}
		n := rng.RandBelow(len(open))
		thinned[at] = open[n]
		open = append(open[:n], open[n+1:]...)
		replaced++
	}
	return thinned, replaced
}
