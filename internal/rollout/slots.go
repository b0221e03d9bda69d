package rollout

import "context"

// Slots bounds how many episodes are carried out at a time; nil bounds nothing. Who waits for a
// slot has not begun: no one who stops the run waits for it.
type Slots struct {
	free    chan struct{}
	several chan struct{} // held by who is about to take several
}

// NewSlots returns n slots.
func NewSlots(n int) *Slots {
	return &Slots{free: make(chan struct{}, n), several: make(chan struct{}, 1)}
}

// Size returns how many slots there are.
func (s *Slots) Size() int {
	if s == nil {
		return 0
	}
	return cap(s.free)
}

// take waits for a slot, and returns how to give it back. On a further try it takes half of all
// slots, then all of them, so that fewer others are at work.
func (s *Slots) take(ctx context.Context, try int) (leave func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	n := 1
	if try > 0 {
		n = max(1, cap(s.free)*min(try, 2)/2)
	}
	if n > 1 { // two that take several could wait for each other's
		if err := put(ctx, s.several); err != nil {
			return nil, err
		}
		defer func() { <-s.several }()
	}
	for taken := range n {
		if err := put(ctx, s.free); err != nil {
			s.give(taken)
			return nil, err
		}
	}
	return func() { s.give(n) }, nil
}

func (s *Slots) give(n int) {
	for range n {
		<-s.free
	}
}

func put(ctx context.Context, queue chan struct{}) error {
	select {
	case queue <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
