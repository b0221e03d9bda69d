package caller

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/journal"
)

// Replay answers steps instead of models, environments and programs. It may
// be called concurrently.
type Replay interface {
	// Find returns the result that was recorded under key for the input with that
	// digest (zero for a decision). With allowEqual an equal first attempt of the same
	// role may answer: the calls are deterministic and share answers. An error
	// ends the run.
	Find(key string, digest journal.Digest, role string, allowEqual bool) (journal.Record, error)
	// GivenUp returns the keys that recorded decisions were made without.
	GivenUp() []string
}

// ReplayError says that a replay has no answer for a step. It ends the run:
// whatever was asked instead would be another run.
type ReplayError struct {
	Key string
	Err error
}

func (e *ReplayError) Error() string { return fmt.Sprintf("replay: %v", e.Err) }

func (e *ReplayError) Unwrap() error { return e.Err }

// find answers a step from the replay.
func (c *Caller) find(key string, digest journal.Digest, role string, allowEqual bool) (journal.Record, error) {
	rec, err := c.opts.Replay.Find(key, digest, role, allowEqual)
	if err != nil {
		return rec, &ReplayError{Key: key, Err: err}
	}
	return rec, nil
}

// replayAttempt answers an attempt from the replay and records it as one that another
// run paid for.
func (c *Caller) replayAttempt(ctx context.Context, r *role, s *step) (reply, error) {
	if err := c.sender.admit(ctx, false); err != nil {
		return reply{}, err
	}
	allowEqual := s.attempt == 0 && c.opts.Reuse != ReuseNever && s.req.Deterministic()
	rec, err := c.find(s.key, s.digest, r.name, allowEqual)
	if err != nil {
		return reply{}, err
	}
	var rep reply
	if err := json.Unmarshal(rec.Result, &rep); err != nil {
		return rep, fmt.Errorf("read the replayed reply of %s: %w", s.key, err)
	}
	return rep, c.inherit(ctx, r, s, rep, journal.Origin{})
}

// replayedStep answers an episode or a check from the replay and records it.
func (c *Caller) replayedStep(ctx context.Context, rec journal.Record) ([]byte, error) {
	if err := c.sender.admit(ctx, false); err != nil {
		return nil, err
	}
	found, err := c.find(rec.Key, rec.Digest, rec.Role, false)
	if err != nil {
		return nil, err
	}
	rec.Code, rec.Result, rec.Replace = journal.CodeInherited, found.Result, c.opts.Forked
	return found.Result, c.journal.Append(context.WithoutCancel(ctx), rec)
}
