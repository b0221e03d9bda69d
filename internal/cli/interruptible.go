package cli

import (
	"context"
	"os"
	"time"
)

// interruptible does work that loses nothing when it is stopped: it reads what the user
// names, before anything is started, or simulates. The first signal ends it. Work that
// does not return soon after its context was canceled is not waited for: it ends with
// the program.
func interruptible[T any](ctx context.Context, signals <-chan os.Signal, work func(context.Context) (T, error)) (T, error) {
	const grace = 500 * time.Millisecond
	type result struct {
		value T
		err   error
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan result, 1)
	go func() {
		value, err := work(ctx)
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-signals:
		cancel(errInterrupted)
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
	}
	var none T
	return none, errInterrupted
}

// signalContext returns a context that the first signal ends, for work that returns soon after and
// is waited for, since it has to close what it has open. release ends the listening.
func (a *app) signalContext(ctx context.Context) (_ context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		select {
		case <-a.Signals:
			cancel(errInterrupted)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil); <-finished }
}

// stopError says what happened to work that the user stopped.
type stopError string

func (e stopError) Error() string { return string(e) }

func (stopError) Unwrap() error { return errInterrupted }
