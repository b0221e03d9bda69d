package caller

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/model"
)

// Direct returns a client for calls that are no steps of a run, such as those of
// an agent that somebody uses by hand: the caller has its own retries and
// wants what the server says. A call is sent once, within the limits and the
// ceilings, and goes into the ledger under key. It is never answered from the
// record, and its failure, a *model.Error, concerns no other call. One beyond a
// ceiling fails with model.Budget around a *BudgetError.
func (c *Caller) Direct(key, stage, roleName string) (model.Client, error) {
	r, err := c.role(roleName)
	if err != nil {
		return nil, err
	}
	return &direct{caller: c, role: r, key: key, stage: stage, session: c.journal.Attempts(key)}, nil
}

// direct is a client of Direct.
type direct struct {
	caller  *Caller
	role    *role
	key     string
	stage   string
	session int
	calls   atomic.Int64
}

// Passes implements model.Passer.
func (d *direct) Passes(wire string) bool { return model.Passes(d.role.Client, wire) }

// Generate implements model.Client.
func (d *direct) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	c := d.caller
	if err := c.meter.open(); err != nil {
		return model.Response{}, d.fault(err)
	}
	c.complete(d.role, d.stage, &req)
	e := &request{key: d.key, stage: d.stage, req: req, begun: true, direct: true, try: d.session}
	e.reserve(d.role)
	e.record = func(got *answer) error {
		return c.journal.Charge(context.WithoutCancel(ctx), journal.Record{
			Key: d.key, Kind: journal.Inner, Attempt: d.session, Ordinal: int(d.calls.Add(1)) - 1, Spend: got.spend,
		})
	}
	e.watch = c.sender.watch(d.role, e)
	got, failure, err := c.sender.tryOnce(ctx, d.role, e, false)
	got.spend.Role = d.role.name                 // also of one that was never sent
	c.meter.end(got.spend, false, e.reservation) // unless it was answered
	if failure != nil {
		err = errors.Join(err, c.sender.fault(ctx, e, got, faulted{code: string(failure.Code), billed: isBillable(failure), why: failure}))
	}
	if err == nil && failure != nil {
		e.watch.reportFailure(time.Now(), failure.Code)
		e.watch.reportEnd(time.Now(), got, failure)
	} else {
		e.watch.reportEnd(time.Now(), got, err)
	}
	switch {
	case err != nil:
		return model.Response{}, d.fault(err)
	case failure != nil:
		return model.Response{}, failure
	case got.reply.Limit != "":
		return model.Response{}, &model.Error{Code: got.reply.Limit, Endpoint: d.role.Endpoint, Err: errors.New(got.reply.Message)}
	}
	return got.reply.Response, nil
}

// fault returns err as a failure of our own. It keeps what the context says as it is.
func (d *direct) fault(err error) error {
	var over *BudgetError
	if errors.As(err, &over) {
		return &model.Error{Code: model.Budget, Endpoint: d.role.Endpoint, Err: over}
	}
	return fmt.Errorf("%s: %w", d.role.Endpoint, err)
}
