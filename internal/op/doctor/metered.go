package doctor

import (
	"context"
	"errors"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/model"
)

// metered counts the calls of probes, which no record has, and holds them to the ceiling of an untrusted caller.
type metered struct {
	model.Client

	examiner *examiner
}

// errSpent is why a probe is not sent.
var errSpent = errors.New("limits.calls: the calls that this caller may make are made")

// Generate implements model.Client.
func (m metered) Generate(ctx context.Context, r model.Request) (model.Response, error) {
	e := m.examiner
	if left := e.remainingCalls(); left != nil && *left <= 0 {
		return model.Response{}, fault.Input(errSpent)
	}
	e.calls++
	out, err := m.Client.Generate(ctx, r)
	if used := e.session.Used; used != nil {
		used(event.Progress{Calls: 1, Input: out.Usage.Input, Output: out.Usage.Output})
	}
	return out, err
}

// remainingCalls returns how many calls an untrusted caller may still make, nil for any.
func (e *examiner) remainingCalls() *int64 {
	l := e.session.Loaded
	if l.Guard == nil || e.session.Config.Limits.Calls == nil {
		return nil
	}
	n := *e.session.Config.Limits.Calls - e.calls
	return &n
}
