package caller

import (
	"bytes"
	"context"

	"github.com/seed-f4525e22/skillopt/internal/journal"
)

// Unmeasured records a decision that is made without some items, and those
// items as given up, in one transaction. From then on calls and episodes with
// these keys get an *UnmeasuredError without being sent. A decision that is
// recorded already must be the same; then nothing is written.
func (c *Caller) Unmeasured(ctx context.Context, decisionKey string, decision []byte, keys []string) error {
	if rec, ok := c.journal.Decision(decisionKey); ok {
		return sameDecision(rec, decision)
	}
	records := []journal.Record{{Key: decisionKey, Kind: journal.Decision, Result: decision}}
	for _, key := range keys {
		// An episode may be on record under the key, and only its score be missing; or
		// a fork has taken over one that it could not use.
		records = append(records, journal.Record{Key: key, Kind: journal.Unmeasured, Replace: true})
	}
	if err := c.journal.Append(ctx, records...); err != nil {
		return err
	}
	c.given.add(keys)
	return nil
}

func sameDecision(rec journal.Record, decision []byte) error {
	if bytes.Equal(rec.Result, decision) {
		return nil
	}
	e := &DivergedError{Key: rec.Key, Part: "the decision"}
	e.Recorded, e.Now = excerpts(string(rec.Result), string(decision))
	return e
}

// Decided returns the decision recorded under key, in a replay also that of the
// run that is replayed; false if there is none.
func (c *Caller) Decided(key string) ([]byte, bool) {
	rec, ok := c.journal.Decision(key)
	if !ok && c.opts.Replay != nil {
		found, err := c.find(key, journal.Digest{}, "", false)
		rec, ok = found, err == nil
	}
	return rec.Result, ok
}

// Decision returns the decision recorded under key, or computes it and records
// it before it is returned. It is for what depends on the clock or on money,
// which a resumed run could not decide in the same way again.
func (c *Caller) Decision(ctx context.Context, key string, compute func() ([]byte, error)) ([]byte, error) {
	if rec, ok := c.journal.Decision(key); ok {
		return rec.Result, nil
	}
	if c.opts.Replay != nil {
		compute = func() ([]byte, error) {
			rec, err := c.find(key, journal.Digest{}, "", false)
			return rec.Result, err
		}
	}
	decision, err := compute()
	if err != nil {
		return nil, err
	}
	err = c.journal.Append(ctx, journal.Record{Key: key, Kind: journal.Decision, Result: decision})
	if err != nil {
		return nil, err
	}
	return decision, nil
}
