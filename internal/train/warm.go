package train

import (
	"context"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/pyrand"
)

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
	if o.warms(1) && o.Gate != "off" {
		return o.Warm.Drafts
	}
	return o.made()
}

// made is how many candidates the step makes at most.
func (s *step) made() int {
	if s.number == 1 {
		return s.madeFirst()
	}
	return s.Options.made()
}

// hands are the patches of each of several candidates.
func (s *step) hands(ctx context.Context, budget int, all hand) ([]hand, error) {
	if !s.warms(s.number) {
		return s.deal(all), nil
	}
	hands := []hand{all}
	for i := 2; i <= s.Warm.Drafts; i++ {
		h, err := s.draft(ctx, i, budget)
		if err != nil {
			return nil, err
		}
		hands = append(hands, h)
	}
	return hands, nil
}

// draft has analysts read the rollouts of a warm start once more, in another order.
func (s *step) draft(ctx context.Context, i, budget int) (h hand, err error) {
	again := *s.variant(i, s.Warm.Drafts).step
	again.reflected = nil
	outcomes := s.outcomes
	for k, b := range s.batches {
		n := len(b.Items)
		seed := seedOf(b.Seed, fmt.Sprintf("draft %d", i))
		mixed := pick(outcomes[:n], pyrand.New(seed).Perm(n))
		r, err := again.reflect(ctx, k, seed, mixed, budget, told{})
		if err != nil {
			return h, err
		}
		again.reflected, outcomes = append(again.reflected, r), outcomes[n:]
		s.record.LostReplies += len(r.Lost)
	}
	s.files[fmt.Sprintf("p%d/patches.json", i)] = again.reflected
	h.failures, h.successes = again.patches()
	return h, nil
}
