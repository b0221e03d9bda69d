package caller

import (
	"context"
	"encoding/json"

	"github.com/seed-f4525e22/skillopt/internal/journal"
)

// Others finds what other runs have recorded. It may be called concurrently.
type Others interface {
	// May reports whether the step under key may be answered from another run, in a role.
	May(key, role string) bool
	// Find returns a recorded answer, and where it was paid for. It is that to an equal
	// request, sent to the same endpoint.
	Find(ctx context.Context, q Question) (result []byte, from journal.Origin, found bool)
	// Answered receives the name of the model that has answered when one was asked for.
	Answered(role, model, served string)
}

// Question is a request that another run may have sent.
type Question struct {
	Key    string // of the step
	Role   string
	Model  string // that is asked for
	Input  journal.Input
	Digest journal.Digest // of Input
}

// fromOthers answers a deterministic first attempt with what another run was answered, and
// records it with its origin. What could not be used is no answer.
func fromOthers(ctx context.Context, c *Caller, r *role, s *step) (rep reply, found bool, err error) {
	if s.attempt > 0 || c.opts.Reuse == ReuseNever || !s.req.Deterministic() || !may(c, r, s) {
		return rep, false, nil
	}
	if err := c.sender.admit(ctx, false); err != nil {
		return rep, false, err
	}
	result, from, found := c.opts.Others.Find(ctx, Question{Key: s.key, Role: r.name, Model: s.req.Model, Input: s.input, Digest: s.digest})
	if !found || json.Unmarshal(result, &rep) != nil || rep.Limit != "" || s.call.refuses(rep.Response) != nil {
		return reply{}, false, nil
	}
	s.elsewhere = true
	return rep, true, c.inherit(ctx, r, s, rep, from)
}

// may reports whether a step may be answered from another run.
func may(c *Caller, r *role, s *step) bool {
	return c.opts.Others != nil && c.opts.Others.May(s.key, r.name)
}

// counts reports whether an answer to an equal step of this run is one to this step: one
// that came from another run answers no step that has to be asked in this one.
func counts(c *Caller, elsewhere bool, r *role, s *step) bool {
	return !elsewhere || may(c, r, s)
}
