package rollout

import "context"

// Slots bounds by its capacity how many episodes are carried out at a time; nil
// bounds nothing. Who waits for a slot has not begun: nobody who stops the run waits
// for it.
type Slots chan struct{}

// take waits for a slot, and returns how to give it back.
func (s Slots) take(ctx context.Context) (leave func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	select {
	case s <- struct{}{}:
		return func() { <-s }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
