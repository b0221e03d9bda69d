package agent

import (
	"context"
	"errors"
	"testing"
	"time"
)

var errStopped = errors.New("stopped by the test")

// contextThatEnds is cancelled after a moment.
func contextThatEnds(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	timer := time.AfterFunc(200*time.Millisecond, func() { cancel(errStopped) })
	return ctx, func() { timer.Stop(); cancel(nil) }
}
