package cli

import (
	"context"
	"os"
	"time"
)

// reading reads what the user names, before anything is begun, or simulates. Nothing is lost
// by stopping it, so that the first signal ends it: softly, and if the work does not
// notice soon, it is left behind to end with the program.
func reading[T any](ctx context.Context, signals <-chan os.Signal, read func(context.Context) (T, error)) (T, error) {
	const grace = 500 * time.Millisecond
	type result struct {
		value T
		err   error
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan result, 1)
	go func() {
		value, err := read(ctx)
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
