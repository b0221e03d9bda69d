package caller

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/model"
)

// small is a server that works on a few requests at once and takes 30 s for each, also for
// those whose clients are gone.
type small chan struct{}

func (s small) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	done := make(chan struct{})
	go func() {
		s <- struct{}{}
		<-time.After(30 * time.Second)
		<-s
		close(done)
	}()
	return reply30(ctx, done)
}

func slotsOf(n int) func() model.Client { return func() model.Client { return make(small, n) } }

func reply30(ctx context.Context, done <-chan struct{}) (model.Response, error) {
	select {
	case <-done:
		return model.Response{Text: "a", Finish: model.FinishStop}, nil
	case <-ctx.Done():
		return model.Response{}, &model.Error{Code: model.Timeout, Err: ctx.Err()}
	}
}

// fickle is a server that breaks off an answer when another request comes in.
type fickle struct {
	mu    sync.Mutex
	other chan struct{} // closed when one does
}

func (f *fickle) Generate(ctx context.Context, _ model.Request) (model.Response, error) {
	f.mu.Lock()
	if f.other != nil {
		close(f.other)
	}
	mine := make(chan struct{})
	f.other = mine
	f.mu.Unlock()
	done := make(chan struct{})
	timer := time.AfterFunc(30*time.Second, func() { close(done) })
	defer timer.Stop()
	select {
	case <-mine:
		return model.Response{}, &model.Error{Code: model.Truncated, Err: errors.New("no finish_reason")}
	case <-done:
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.other == mine {
		f.other = nil
	}
	return reply30(ctx, done)
}

// A server that answers few requests at a time is not sent more than it can answer in
// time, and one that answers many gets them.
func TestFewInFlight(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		client   func() model.Client
		local    bool
		timeout  time.Duration
		most     int // requests that are sent for 200 calls
		low, top int // the limit at the end
	}{
		"one at a time, here":             {slotsOf(1), true, 10 * time.Minute, 200, 1, 3},
		"one at a time, elsewhere":        {slotsOf(1), false, 2 * time.Minute, 240, 1, 4},
		"one at a time, hardly any time":  {slotsOf(1), true, 50 * time.Second, 225, 1, 2},
		"many at a time, here":            {slotsOf(64), true, 2 * time.Minute, 200, 16, 16},
		"breaks off for another request":  {func() model.Client { return &fickle{} }, true, 10 * time.Minute, 210, 1, 1},
		"four at a time, little time":     {slotsOf(4), true, 50 * time.Second, 225, 3, 8},
		"four at a time, and time enough": {slotsOf(4), true, 10 * time.Minute, 200, 4, 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sent := &counting{Client: tc.client()}
				c := withRole(t, Role{Client: sent, Endpoint: "server", Model: "m", Timeout: tc.timeout, Local: tc.local})
				var wg sync.WaitGroup
				for i := range 200 {
					wg.Go(func() {
						_, err := c.Do(t.Context(), Call{Key: fmt.Sprint(i), Role: model.Target, Messages: []model.Message{{Role: "user", Content: fmt.Sprint(i)}}})
						if err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				if sent.n > tc.most {
					t.Errorf("%d requests were sent for 200 calls, want at most %d", sent.n, tc.most)
				}
				if got := c.roles[model.Target].end.limiter.limit; got < tc.low || got > tc.top {
					t.Errorf("the limit ended at %d, want %d to %d", got, tc.low, tc.top)
				}
				<-time.After(time.Hour) // until the server has nothing left
			})
		})
	}
}

type counting struct {
	model.Client

	mu sync.Mutex
	n  int
}

func (c *counting) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
	return c.Client.Generate(ctx, req)
}

func withRole(t *testing.T, r Role) *Caller {
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "run.db"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := New(Options{Journal: j, Concurrency: 16, Patience: time.Hour, Roles: map[string]Role{model.Target: r}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A divisible call whose time is over is sent again once; one that the server gives up, as often as others.
func TestDivisible(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		takes time.Duration
		sent  int
	}{"its time is over": {time.Hour, 2}, "the server gives up": {time.Second, 3}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sent := 0
				c := withRole(t, Role{Endpoint: "server", Model: "m", Timeout: time.Minute, Client: responder(func(ctx context.Context) (model.Response, error) {
					if sent++; sent == 3 {
						return model.Response{Text: "a", Finish: model.FinishStop}, nil
					}
					select {
					case <-ctx.Done():
					case <-time.After(tc.takes):
					}
					return model.Response{}, &model.Error{Code: model.Timeout, Err: errors.New("too late")}
				})})
				_, err := c.Do(t.Context(), Call{Key: "k", Role: model.Target, Divisible: true, Messages: []model.Message{{Role: "user", Content: "q"}}})
				var late *TimeoutError
				if sent != tc.sent || errors.As(err, &late) != (tc.sent == 2) {
					t.Errorf("sent %d times, %v", sent, err)
				}
			})
		})
	}
}

type responder func(context.Context) (model.Response, error)

func (g responder) Generate(ctx context.Context, _ model.Request) (model.Response, error) {
	return g(ctx)
}
