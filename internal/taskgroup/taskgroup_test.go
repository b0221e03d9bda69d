package taskgroup_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/taskgroup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errFailed = errors.New("failed")

func TestOnlyFailuresEndTheOthers(t *testing.T) {
	t.Parallel()
	later := fmt.Errorf("ask: %w", &caller.WaitingError{Key: "k", Err: errors.New("no answer yet")})
	tests := []struct {
		name        string
		first, want error
		ends        bool // the function beside it
	}{
		{"all is well", nil, nil, false},
		{"a failure", errFailed, errFailed, true},
		{"an answer that comes later", later, later, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			g, ctx := taskgroup.WithContext(t.Context())
			returned := make(chan struct{})
			g.Go(func() error { defer close(returned); return tc.first })
			ended := false
			g.Go(func() error {
				<-returned
				if tc.ends {
					<-ctx.Done()
				}
				ended = ctx.Err() != nil
				return nil
			})
			if err := g.Wait(); !errors.Is(err, tc.want) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
			if ended != tc.ends {
				t.Errorf("the function beside it was ended: %v", ended)
			}
		})
	}
}

// A failure stands before what comes later, whichever was first.
func TestAFailureGoesFirst(t *testing.T) {
	t.Parallel()
	g, ctx := taskgroup.WithContext(t.Context())
	g.Go(func() error { return &caller.WaitingError{Err: errors.New("later")} })
	g.Go(func() error { return errFailed })
	g.Go(func() error { <-ctx.Done(); return context.Cause(ctx) })
	if err := g.Wait(); !errors.Is(err, errFailed) {
		t.Errorf("error %v", err)
	}
}
