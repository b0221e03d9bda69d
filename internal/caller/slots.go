package caller

import (
	"container/list"
	"context"
	"sync"
)

// slots bounds how many requests are in flight. Who waits is served in order of
// arrival, but a request that is tried again goes before those that are new: it
// is what the end of a phase waits for. With grouped, requests that begin as the last one
// did go first: a server on this machine often keeps the beginning of one prompt alone.
type slots struct {
	mu      sync.Mutex
	limit   int
	used    int
	queue   list.List // of *waiter
	waited  int       // how many had to wait since the last look
	grouped bool
	last    string // the beginning of the prompt that was served last
}

// waiter is a request in the queue.
type waiter struct {
	entry
	ready chan struct{} // closed when its turn has come
}

func newSlots(limit int) *slots { return &slots{limit: limit} }

// entry says how a slot is waited for.
type entry struct {
	again  bool            // a request that is tried again
	begins string          // the beginning of its prompt, which requests with the same skill share
	quit   <-chan struct{} // ends the wait
	quit2  <-chan struct{} // so does this; may be nil
	reason func() error    // why quit or quit2 happened
}

// acquire takes a slot, or returns why it did not.
func (s *slots) acquire(ctx context.Context, e entry) error {
	s.mu.Lock()
	if s.used < s.limit && s.queue.Len() == 0 {
		s.used, s.last = s.used+1, e.begins
		s.mu.Unlock()
		return nil
	}
	ready := make(chan struct{})
	var place *list.Element
	if e.again {
		place = s.queue.PushFront(&waiter{e, ready})
	} else {
		place = s.queue.PushBack(&waiter{e, ready})
	}
	s.waited++
	s.mu.Unlock()

	var err error
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-e.quit:
		err = e.reason()
	case <-e.quit2:
		err = e.reason()
	}
	s.leave(place, ready)
	return err
}

// leave takes a waiter out of the queue, and passes on a slot that it was given
// in the meantime.
func (s *slots) leave(place *list.Element, ready chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-ready:
		s.used--
		s.grant()
	default:
		s.queue.Remove(place)
	}
}

func (s *slots) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used--
	s.grant()
}

// grant hands free slots to those who wait.
func (s *slots) grant() {
	for s.used < s.limit {
		next := s.next()
		if next == nil {
			return
		}
		w := s.queue.Remove(next).(*waiter)
		s.used, s.last = s.used+1, w.begins
		close(w.ready)
	}
}

// next returns the place of the request whose turn it is, nil if none waits.
func (s *slots) next() *list.Element {
	first := s.queue.Front()
	if first == nil || !s.grouped || first.Value.(*waiter).again {
		return first
	}
	for e := first; e != nil; e = e.Next() {
		if e.Value.(*waiter).begins == s.last {
			return e
		}
	}
	return first
}

// resize changes the limit. What is in flight above a smaller one finishes.
func (s *slots) resize(limit int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = limit
	s.grant()
}

// look returns how many requests had to wait since it was last called, those
// included that did so already then, and how many are in flight.
func (s *slots) look() (waited, used int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waited, s.waited = s.waited, s.queue.Len()
	return waited, s.used
}

// inFlight returns how many requests are in flight.
func (s *slots) inFlight() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}
