package caller

import (
	"context"
	"errors"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/model"
)

// CheckCall is a check that cannot simply be computed again, since it runs a
// program or needs files that may be gone: a durable step without a model.
type CheckCall struct {
	Key    string // logical place: "e1/s3/rollout/item42/sample0/check1"
	Shared [][]byte
	Own    []byte // what the finding depends on
}

// Check runs a check, or answers it from the record. When run fails nothing is
// recorded. Errors are those of Episode.
func (c *Caller) Check(ctx context.Context, call CheckCall, run func(context.Context) ([]byte, error)) ([]byte, error) {
	in, err := c.episodeInput(&role{}, EpisodeCall{Key: call.Key, Shared: call.Shared, Own: call.Own})
	if err != nil {
		return nil, err
	}
	digest := in.Digest()
	rec, err := c.findRecord(ctx, call.Key, digest, in)
	if err != nil {
		return nil, err
	}
	if rec != nil {
		return rec.Result, nil
	}
	if err := errors.Join(c.given.check(call.Key), c.sender.admit(ctx, false)); err != nil {
		return nil, err
	}
	if c.opts.Replay != nil {
		return c.replayedStep(ctx, journal.Record{
			Key: call.Key, Kind: journal.Check, Input: in, Digest: digest, Spend: journal.Spend{Stage: model.StageCheck},
		})
	}
	result, err := run(c.sender.underway(ctx))
	if err != nil {
		return nil, err
	}
	return result, c.journal.Append(context.WithoutCancel(ctx), journal.Record{
		Key: call.Key, Kind: journal.Check, Input: in, Digest: digest, Result: result, Replace: c.opts.Forked,
		Spend: journal.Spend{Stage: model.StageCheck},
	})
}
