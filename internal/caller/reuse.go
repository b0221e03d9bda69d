package caller

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/journal"
)

// reuse answers equal deterministic calls once. Since equal calls have equal
// answers it does not matter whose key is in the record: a resumed run
// finds the answer by the digest of the input.
type reuse struct {
	mu       sync.Mutex
	known    map[equalKey]int64 // number of the entry with the answer
	inFlight map[equalKey]*inFlightCall
}

// equalKey represents what makes two calls equal: the digest of the input, and the role,
// which represents the endpoint, whose address may change between sessions.
type equalKey [16]byte

func newEqualKey(role string, digest journal.Digest) equalKey {
	sum := sha256.Sum256(append([]byte(role+"\x00"), digest[:]...))
	return equalKey(sum[:])
}

// inFlightCall is a call under way that equal ones wait for.
type inFlightCall struct {
	done  chan struct{}
	reply reply
	err   error

	abandoned bool // the context of the call that led it ended
	elsewhere bool // another run has answered it
}

func newReuse() *reuse {
	return &reuse{known: make(map[equalKey]int64), inFlight: make(map[equalKey]*inFlightCall)}
}

// learn takes in a recorded result.
func (u *reuse) learn(r *journal.Record) {
	if r.Kind != journal.Call || !FirstAttempt(r.Key) {
		return
	}
	t := newEqualKey(r.Role, r.Digest)
	if _, ok := u.known[t]; !ok {
		u.known[t] = r.Seq
	}
}

// merge answers a step from an equal one: recorded, or in flight. The first of
// several equal steps is sent.
func (c *Caller) merge(ctx context.Context, r *role, s *step) (reply, error) {
	t := newEqualKey(r.name, s.digest)
	for {
		seq, f, first := c.reuse.join(t)
		switch {
		case seq > 0:
			rec, ok, err := c.journal.At(seq)
			if err != nil {
				return reply{}, err
			}
			if !ok || rec.Digest != s.digest || !counts(c, rec.Origin != journal.Origin{}, r, s) {
				c.reuse.forget(t, seq) // a fork has replaced the record, or it does not count here
				continue
			}
			c.live.add(s.call.Stage, r.name, reused)
			s.inherited = rec.Code == journal.CodeInherited
			return decodeReply(&rec)
		case first:
			f.reply, f.err = c.ask(ctx, r, s)
			f.elsewhere = s.elsewhere
			f.abandoned = f.err != nil && ctx.Err() != nil
			seq, _ := c.journal.Row(s.key)
			c.reuse.land(t, f, seq)
			return f.reply, f.err
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return reply{}, context.Cause(ctx)
		}
		if f.abandoned || f.err == nil && !counts(c, f.elsewhere, r, s) {
			continue
		}
		if f.err == nil {
			c.live.add(s.call.Stage, r.name, reused)
		}
		return f.reply, ownError(f.err, s.key)
	}
}

// ownError returns the error of another call as the error of the call with key.
func ownError(err error, key string) error {
	switch e := err.(type) {
	case *UnmeasuredError:
		return &UnmeasuredError{Key: key, Err: e.Err}
	case *WaitingError:
		return &WaitingError{Key: key, Err: e.Err}
	}
	return err
}

// join returns the number of the entry with the answer, or the flight to wait for, or
// a new flight that the caller is the first of.
func (u *reuse) join(t equalKey) (seq int64, f *inFlightCall, first bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if seq, ok := u.known[t]; ok {
		return seq, nil, false
	}
	if f, ok := u.inFlight[t]; ok {
		return 0, f, false
	}
	f = &inFlightCall{done: make(chan struct{})}
	u.inFlight[t] = f
	return 0, f, true
}

// land ends a flight. Its answer, if there is one, is entry seq.
func (u *reuse) land(t equalKey, f *inFlightCall, seq int64) {
	u.mu.Lock()
	delete(u.inFlight, t)
	if f.err == nil {
		u.known[t] = seq
	}
	u.mu.Unlock()
	close(f.done)
}

// forget drops an answer, unless another one has taken its place.
func (u *reuse) forget(t equalKey, seq int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.known[t] == seq {
		delete(u.known, t)
	}
}
