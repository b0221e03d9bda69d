package caller_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// atOnce makes n calls at once and returns their errors.
func atOnce(b *bench, prefix string, n int) []error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { _, errs[i] = b.do(ask(fmt.Sprint(prefix, i), fmt.Sprint(prefix, i))) })
	}
	wg.Wait()
	return errs
}

func refusing(failure model.Error) *modeltest.Fake {
	return modeltest.New(func(context.Context, int, model.Request) (model.Response, error) {
		f := failure
		return model.Response{}, &f
	})
}

// An endpoint that tells everybody to come back tomorrow ends the run at once,
// with the moment until which it asks to wait.
func TestAWaitBeyondThePatienceStopsAtOnce(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 40} {
		synctest.Test(t, func(t *testing.T) {
			client := refusing(model.Error{Code: model.RateLimit, Status: 429, RetryAfter: 24 * time.Hour, Err: errors.New("quota of the day")})
			b := setup(t, client, nil)
			start := time.Now()
			for _, err := range atOnce(b, "k", n) {
				var stopped *caller.StoppedError
				if !errors.As(err, &stopped) || stopped.Wait != 24*time.Hour {
					t.Fatalf("%d calls: %v", n, err)
				}
				for _, part := range []string{"server (model m)", "at least 24h0m0s", "until 2000-01-02 00:00 UTC", "limits.patience", "run the same command again", "quota of the day"} {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("message %q lacks %q", err, part)
					}
				}
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("%d calls stopped after %s", n, took)
			}
		})
	}
}

// After an answer a single hint is asked about again within the patience, and
// only ends the run when nothing is answered for as long as that.
func TestAWaitBeyondThePatienceAfterAnAnswer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		calls   int
		hints   int // that the server gives before it answers again
		stopped bool
		atLeast time.Duration
		atMost  time.Duration
	}{
		"one call, once":       {1, 1, false, time.Second, time.Minute + 5*time.Second},
		"one call, for good":   {1, 1000, true, 2 * time.Minute, 3*time.Minute + 5*time.Second},
		"all calls, for good":  {8, 1000, true, 0, 10 * time.Second},
		"all calls, only once": {2, 2, false, time.Second, time.Minute + 5*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := modeltest.New(func(ctx context.Context, n int, req model.Request) (model.Response, error) {
					if n > 0 && n <= tc.hints {
						return model.Response{}, &model.Error{Code: model.RateLimit, RetryAfter: 10 * time.Hour, Err: errors.New("later")}
					}
					return echo(ctx, n, req)
				})
				b := setup(t, client, nil)
				if _, err := b.do(ask("first", "first")); err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				for _, err := range atOnce(b, "k", tc.calls) {
					var stopped *caller.StoppedError
					if errors.As(err, &stopped) != tc.stopped || !tc.stopped && err != nil {
						t.Errorf("got %v", err)
					}
				}
				if took := time.Since(start); took < tc.atLeast || took > tc.atMost {
					t.Errorf("took %s, want %s to %s", took, tc.atLeast, tc.atMost)
				}
			})
		})
	}
}

// A wait within the patience is obeyed as it is.
func TestAWaitWithinALongPatienceIsObeyed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := modeltest.New(func(ctx context.Context, n int, req model.Request) (model.Response, error) {
			if n == 0 {
				return model.Response{}, &model.Error{Code: model.RateLimit, RetryAfter: 5 * time.Hour, Err: errors.New("later")}
			}
			return echo(ctx, n, req)
		})
		b := setup(t, client, func(o *caller.Options) { o.Patience = 6 * time.Hour })
		start := time.Now()
		if _, err := b.do(ask("k", "q")); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took < 5*time.Hour || took > 5*time.Hour+time.Second || client.Count() != 2 {
			t.Errorf("asked %d times, answered after %s", client.Count(), took)
		}
	})
}

// A redirect that passes is tried again. One that an endpoint gives from the
// beginning means that the address is wrong.
func TestRedirects(t *testing.T) {
	t.Parallel()
	away := &model.Error{Code: model.Redirect, Status: 302, Err: errors.New("the server redirects to https://login.example/: set base_url to the final address")}
	for name, tc := range map[string]struct {
		from, to int // of the requests that are redirected
		stopped  bool
	}{"passes": {0, 2, false}, "for good": {0, 1 << 20, true}, "between answers": {1, 12, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := modeltest.New(func(ctx context.Context, n int, req model.Request) (model.Response, error) {
					if n >= tc.from && n < tc.to {
						return model.Response{}, away
					}
					return echo(ctx, n, req)
				})
				b := setup(t, client, nil)
				start := time.Now()
				var err error
				for i := range 3 {
					_, derr := b.do(ask(fmt.Sprint(i), fmt.Sprint(i)))
					err = errors.Join(err, derr)
				}
				if !tc.stopped {
					if err != nil {
						t.Error(err)
					}
					return
				}
				var stopped *caller.StoppedError
				if !errors.As(err, &stopped) || !strings.Contains(err.Error(), "login.example") || !strings.Contains(err.Error(), "base_url") {
					t.Errorf("got %v", err)
				}
				if took := time.Since(start); took > 5*time.Second || client.Count() > 3 {
					t.Errorf("%d requests in %s", client.Count(), took)
				}
			})
		})
	}
}

// What no waiting fixes ends the run with the first request, and says what to do.
func TestFaultsOfTheAccountStopAtOnce(t *testing.T) {
	t.Parallel()
	for code, advice := range map[model.Code]string{
		model.Credit: "check the plan, the credit and the billing", model.Certificate: "run the same command again", model.Auth: "check the key",
	} {
		client := refusing(model.Error{Code: code, Endpoint: "api.example.com", Err: errors.New("no")})
		b := setup(t, client, nil)
		_, err := b.do(ask("k", "q"))
		var stopped *caller.StoppedError
		if !errors.As(err, &stopped) || !strings.Contains(err.Error(), advice) || client.Count() != 1 {
			t.Errorf("%s: %d requests, %v", code, client.Count(), err)
		}
	}
}
