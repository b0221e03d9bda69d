package caller

import (
	"context"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/journal"
)

// reuse answers equal deterministic calls once. Since equal calls have equal
// answers it does not matter whose key stands in the record: a resumed run
// finds the answer by the digest of the input.
type reuse struct {
	mu      sync.Mutex
	known   map[twin]string // key of the record with the answer
	flights map[twin]*flight
}

// twin is what makes two calls equal. The role stands for the endpoint, whose
// address may change between sessions.
type twin struct {
	role   string
	digest journal.Digest
}

// flight is a call under way that its twins wait for.
type flight struct {
	done  chan struct{}
	reply reply
	err   error

	abandoned bool // the context of whoever led it ended
}

func newReuse(results []journal.Record) *reuse {
	u := &reuse{known: make(map[twin]string), flights: make(map[twin]*flight)}
	for _, r := range results {
		if r.Kind != journal.Call || !firstAttempt(r.Key) {
			continue
		}
		t := twin{r.Role, r.Digest}
		if _, ok := u.known[t]; !ok {
			u.known[t] = r.Key
		}
	}
	return u
}

// merge answers a step from an equal one: recorded, or in flight. The first of
// several equal steps is sent.
func (c *Caller) merge(ctx context.Context, r *role, s *step) (reply, error) {
	t := twin{r.name, s.digest}
	for {
		key, f, first := c.reuse.join(t)
		switch {
		case key != "":
			rec, ok := c.journal.Lookup(key)
			if !ok || rec.Digest != s.digest {
				c.reuse.forget(t) // a fork has replaced the record
				continue
			}
			c.live.add(s.call.Stage, r.name, reused)
			s.inherited = rec.Code == journal.CodeInherited
			return decodeReply(&rec)
		case first:
			f.reply, f.err = c.ask(ctx, r, s)
			f.abandoned = f.err != nil && ctx.Err() != nil
			c.reuse.land(t, f, s.key)
			return f.reply, f.err
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return reply{}, context.Cause(ctx)
		}
		if f.abandoned {
			continue
		}
		if f.err == nil {
			c.live.add(s.call.Stage, r.name, reused)
		}
		return f.reply, ownError(f.err, s.key)
	}
}

// ownError is the error of another call as that of the call with key.
func ownError(err error, key string) error {
	switch e := err.(type) {
	case *UnmeasuredError:
		return &UnmeasuredError{Key: key, Err: e.Err}
	case *WaitingError:
		return &WaitingError{Key: key, Err: e.Err}
	}
	return err
}

// join returns the key of the recorded answer, or the flight to wait for, or a
// new flight that the caller is the first of.
func (u *reuse) join(t twin) (key string, f *flight, first bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if key, ok := u.known[t]; ok {
		return key, nil, false
	}
	if f, ok := u.flights[t]; ok {
		return "", f, false
	}
	f = &flight{done: make(chan struct{})}
	u.flights[t] = f
	return "", f, true
}

// land ends a flight. Its answer, if there is one, is recorded under key.
func (u *reuse) land(t twin, f *flight, key string) {
	u.mu.Lock()
	delete(u.flights, t)
	if f.err == nil {
		u.known[t] = key
	}
	u.mu.Unlock()
	close(f.done)
}

func (u *reuse) forget(t twin) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.known, t)
}
