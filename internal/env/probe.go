package env

import (
	"context"
	"fmt"
	"time"
)

// Probe starts a process as the first task would, and gives it settle to show
// that it waits for one: a process that ends before, or writes what it was not
// asked for, is an *Error, as it is in a rollout. Then its input ends. What it
// makes of that concerns no rollout, which have a task for it; parting says it,
// and is "" of a process that ends well, or that has to be ended.
func (e *Env) Probe(ctx context.Context, settle time.Duration) (parting string, err error) {
	release, err := e.acquire(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	p, err := e.start()
	if err != nil {
		return "", err
	}
	timer := time.NewTimer(settle)
	defer timer.Stop()
	select {
	case l, ok := <-p.lines:
		if !ok {
			return "", p.abandon(p.exitError())
		}
		if l.err != nil {
			return "", p.abandon(l.err)
		}
		return "", p.abandon(unaskedError(l))
	case <-p.done:
		return "", p.abandon(p.exitError())
	case <-ctx.Done():
		return "", p.abandon(fmt.Errorf("environment: %w", context.Cause(ctx)))
	case <-timer.C:
	}
	killed := p.dismiss()
	if p.exit == nil || killed {
		return "", nil
	}
	return p.exit.Error(), nil
}

func unaskedError(l line) *Error {
	return &Error{Kind: Rubbish, Detail: fmt.Sprintf("it wrote %s without being asked: one line for each task is allowed", excerpt(l.text))}
}
