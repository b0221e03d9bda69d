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
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

func fail(code model.Code) error {
	return &model.Error{Code: code, Endpoint: "server", Err: fmt.Errorf("scripted %s", code)}
}

// slow answers like echo after d, or ends with ctx.
func slow(d time.Duration) func(context.Context, int, model.Request) (model.Response, error) {
	return func(ctx context.Context, n int, req model.Request) (model.Response, error) {
		select {
		case <-time.After(d):
			return echo(ctx, n, req)
		case <-ctx.Done():
			return model.Response{}, model.Interrupted(ctx, "server")
		}
	}
}

// last is the text of a request's last message.
func last(req model.Request) string { return req.Messages[len(req.Messages)-1].Content }

func TestTransientFailuresAreRetried(t *testing.T) {
	t.Parallel()
	codes := []model.Code{model.RateLimit, model.Overloaded, model.Server, model.Network, model.Timeout, model.Truncated, model.Malformed, ""}
	for _, code := range codes {
		synctest.Test(t, func(t *testing.T) {
			client := modeltest.New(func(ctx context.Context, n int, req model.Request) (model.Response, error) {
				switch {
				case n >= 3:
					return echo(ctx, n, req)
				case code == "":
					return model.Response{}, errors.New("an unclassified failure")
				}
				return model.Response{}, fail(code)
			})
			b := setup(t, client, nil)
			if text, err := b.do(ask("k", "q")); err != nil || text != "re: q" {
				t.Errorf("%s: %q, %v", code, text, err)
			}
			if client.Count() != 4 {
				t.Errorf("%s: %d requests, want 4", code, client.Count())
			}
			want := string(code)
			if code == "" {
				want = "server"
			}
			sum := b.Stats().Sum
			if sum.Faults[want] != 3 || sum.Retries() != 3 || sum.Calls != 1 {
				t.Errorf("%s: stats %+v", code, sum)
			}
			if b.journal.HighWater() != 4 {
				t.Errorf("%s: %d entries, want the three failures and the reply", code, b.journal.HighWater())
			}
		})
	}
}

func TestBackoffGrowsFromTheLatencyOfTheModel(t *testing.T) {
	t.Parallel()
	const latency = 100 * time.Millisecond
	var longest time.Duration
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			var at []time.Time
			client := modeltest.New(func(ctx context.Context, n int, req model.Request) (model.Response, error) {
				if last(req) == "warm" || len(at) == 5 {
					return slow(latency)(ctx, n, req)
				}
				at = append(at, time.Now())
				return model.Response{}, fail(model.Server)
			})
			b := setup(t, client, func(o *caller.Options) { o.JitterSeed = seed })
			for _, key := range []string{"warm", "k"} {
				if _, err := b.do(ask(key, key)); err != nil {
					t.Fatal(err)
				}
			}
			for i := range len(at) - 1 {
				pause := at[i+1].Sub(at[i])
				longest = max(longest, pause)
				if bound := latency / 4 << i; pause > bound || pause <= 0 {
					t.Errorf("pause %d is %s, want at most %s", i+1, pause, bound)
				}
			}
		})
	}
	if longest < latency {
		t.Errorf("the longest of 80 pauses is %s: they do not grow", longest)
	}
}

func TestAHintOfTheServerIsObeyedAndTheSlotGivenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hint := 30 * time.Second
		client := modeltest.New(func(ctx context.Context, n int, req model.Request) (model.Response, error) {
			if n == 0 {
				return model.Response{}, &model.Error{Code: model.RateLimit, RetryAfter: hint, Err: errors.New("later")}
			}
			return echo(ctx, n, req)
		})
		b := setup(t, client, func(o *caller.Options) { o.Concurrency = 1 })
		start := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := b.do(ask("limited", "q")); err != nil {
				t.Error(err)
			}
			if took := time.Since(start); took < hint || took > hint+time.Second {
				t.Errorf("tried again after %s, the server asked for %s", took, hint)
			}
		})
		synctest.Wait()
		if _, err := b.do(ask("other", "r")); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("another call had to wait %s for the slot of one that waits", took)
		}
		wg.Wait()
	})
}

func TestAnEndpointThatOnlyFailsStopsTheRun(t *testing.T) {
	t.Parallel()
	// A server that was never there gets a quarter of the patience, one that asks to wait all of it.
	for hint, patience := range map[time.Duration]time.Duration{0: 15 * time.Second, 20 * time.Second: time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			client := modeltest.New(func(context.Context, int, model.Request) (model.Response, error) {
				return model.Response{}, &model.Error{Code: model.Network, RetryAfter: hint, Err: errors.New("connection refused")}
			})
			b := setup(t, client, func(o *caller.Options) { o.Patience = time.Minute })
			start := time.Now()
			var wg sync.WaitGroup
			for i := range 20 {
				wg.Go(func() {
					_, err := b.do(ask(fmt.Sprint("k", i), fmt.Sprint("q", i)))
					var stopped *caller.StoppedError
					if !errors.As(err, &stopped) || stopped.Endpoint != "server" || model.CodeOf(err) != model.Network {
						t.Errorf("got %v", err)
					} else if !strings.Contains(err.Error(), "nothing but failures for "+patience.String()) {
						t.Errorf("message %q", err)
					}
				})
			}
			wg.Wait()
			if took := time.Since(start); took < patience || took > patience+time.Second {
				t.Errorf("stopped after %s, the patience is %s", took, patience)
			}
			sent := client.Count()
			if hint > 0 && sent > 80 {
				t.Errorf("%d requests although the server asked to wait for %s", sent, hint)
			}
			_, err := b.do(ask("later", "q"))
			var stopped *caller.StoppedError
			if !errors.As(err, &stopped) || client.Count() != sent {
				t.Errorf("a later call got %v", err)
			}
			// Whoever comes back has patience again.
			b.resume(func(o *caller.Options) {
				o.Roles = map[string]caller.Role{model.Target: {Client: modeltest.New(echo), Endpoint: "server", Model: "m"}}
			})
			if _, err := b.do(ask("later", "q")); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAHintLongerThanPatienceOfOneCallIsNotForAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hint := 10 * time.Minute
		limited := true
		client := modeltest.New(func(ctx context.Context, n int, req model.Request) (model.Response, error) {
			if last(req) == "limited" && limited {
				limited = false
				return model.Response{}, &model.Error{Code: model.RateLimit, RetryAfter: hint, Err: errors.New("later")}
			}
			return slow(5*time.Second)(ctx, n, req)
		})
		b := setup(t, client, func(o *caller.Options) { o.Patience = time.Minute })
		start := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := b.do(ask("limited", "limited")); err != nil {
				t.Error(err)
			}
			if took := time.Since(start); took < 5*time.Second || took > time.Minute+5*time.Second {
				t.Errorf("tried again after %s: neither at once nor within the patience", took)
			}
		})
		for i := range 10 {
			if _, err := b.do(ask(fmt.Sprint("k", i), fmt.Sprint("q", i))); err != nil {
				t.Error(err)
			}
		}
		wg.Wait()
	})
}

func TestPatienceIsForAnEndpointThatIsAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := modeltest.New(func(ctx context.Context, n int, req model.Request) (model.Response, error) {
			if n == 0 || n == 2 {
				return model.Response{}, fail(model.Server)
			}
			if n == 1 {
				return slow(10*time.Second)(ctx, n, req)
			}
			return echo(ctx, n, req)
		})
		b := setup(t, client, func(o *caller.Options) { o.Patience = 20 * time.Second })
		// The first call fails and is then cancelled while it is tried again.
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := b.Do(ctx, ask("cut", "q")); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
		<-time.After(time.Hour) // the run is busy elsewhere
		if _, err := b.do(ask("k", "q")); err != nil {
			t.Errorf("a failure of an hour ago was held against the endpoint: %v", err)
		}
		if got := b.Stats().Sum.Faults["cancelled"]; got != 1 {
			t.Errorf("%d cancelled attempts in the ledger, want 1", got)
		}
	})
}

func TestACallThatFailsWhileOthersSucceedIsGivenUp(t *testing.T) {
	t.Parallel()
	poison := func(ctx context.Context, n int, req model.Request) (model.Response, error) {
		if last(req) == "poison" {
			return model.Response{}, fail(model.Server)
		}
		return slow(10*time.Second)(ctx, n, req)
	}
	tests := []struct {
		name   string
		others int // calls beside it
		most   int // requests for it
	}{
		{"others go on", 2000, 21},
		{"it is the last of its phase", 1, 100},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := modeltest.New(poison)
				b := setup(t, client, nil)
				var wg sync.WaitGroup
				wg.Go(func() {
					_, err := b.do(ask("poison", "poison"))
					var lost *caller.UnmeasuredError
					if !errors.As(err, &lost) || lost.Key != "poison/attempt0/turn0" {
						t.Errorf("got %v", err)
					}
				})
				for i := range tt.others {
					wg.Go(func() {
						if _, err := b.do(ask(fmt.Sprint("k", i), fmt.Sprint("q", i))); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				if n := int(b.Stats().Sum.Retries()); n > tt.most || (tt.others > 1 && n < 20) {
					t.Errorf("it was sent %d times", n)
				}
				// A fault is nobody's result: the next try measures it.
				if ok := b.journal.Has("poison/attempt0/turn0"); ok {
					t.Error("the failure is recorded as a result")
				}
			})
		})
	}
}

func TestRefusalsAreNotRetried(t *testing.T) {
	t.Parallel()
	for code, advice := range map[model.Code]string{
		model.Auth: "api_key_env", model.NotFound: "models.*.model", model.BadRequest: "sampling",
	} {
		client := modeltest.Script(modeltest.Fails(code))
		b := setup(t, client, nil)
		for range 2 {
			_, err := b.do(ask("k", "q"))
			var stopped *caller.StoppedError
			if !errors.As(err, &stopped) || model.CodeOf(err) != code || !strings.Contains(err.Error(), advice) {
				t.Errorf("%s: got %v", code, err)
			}
		}
		if client.Count() != 1 {
			t.Errorf("%s: %d requests, want 1", code, client.Count())
		}
	}
	b := setup(t, modeltest.Script(modeltest.Fails(model.Budget)), nil)
	if _, err := b.do(ask("k", "q")); model.CodeOf(err) != model.Budget {
		t.Errorf("got %v", err)
	}
}

func TestAnEmptyAnswerAsAnErrorIsAReply(t *testing.T) {
	t.Parallel()
	client := modeltest.Script(modeltest.Fails(model.Empty), modeltest.Text("full"))
	b := setup(t, client, nil)
	if text, err := b.do(ask("k", "q")); err != nil || text != "full" {
		t.Errorf("%q, %v", text, err)
	}
	if b.journal.HighWater() != 2 {
		t.Errorf("%d entries, want both replies", b.journal.HighWater())
	}
}

func TestAHangingAttemptTimesOut(t *testing.T) {
	t.Parallel()
	for _, heedless := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			client := modeltest.New(func(ctx context.Context, n int, req model.Request) (model.Response, error) {
				if n > 0 {
					return echo(ctx, n, req)
				}
				<-ctx.Done()
				if heedless {
					return model.Response{}, errors.New("something broke")
				}
				return model.Response{}, ctx.Err()
			})
			b := setup(t, client, nil)
			b.resume(b.role(model.Target, func(r *caller.Role) { r.Timeout = 2 * time.Second }))
			start := time.Now()
			if _, err := b.do(ask("k", "q")); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took < 2*time.Second || took > 5*time.Second {
				t.Errorf("it took %s", took)
			}
			if n := b.Stats().Sum.Faults["timeout"]; n != 1 {
				t.Errorf("%d timeouts in the ledger, want 1", n)
			}
		})
	}
}

func TestStopFinishesWhatIsInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := modeltest.New(func(ctx context.Context, n int, req model.Request) (model.Response, error) {
			if last(req) == "failing" {
				return model.Response{}, &model.Error{Code: model.RateLimit, RetryAfter: 20 * time.Second, Err: errors.New("later")}
			}
			return slow(10*time.Second)(ctx, n, req)
		})
		b := setup(t, client, func(o *caller.Options) { o.Concurrency = 2 })
		errs := make(map[string]error)
		var mu sync.Mutex
		var wg sync.WaitGroup
		start := func(key string) {
			wg.Go(func() {
				_, err := b.do(ask(key, key))
				mu.Lock()
				defer mu.Unlock()
				errs[key] = err
			})
			synctest.Wait()
		}
		for _, key := range []string{"failing", "flying1", "flying2", "queued"} {
			start(key)
		}
		b.Stop()
		start("new")
		wg.Wait()
		for key, want := range map[string]error{
			"failing": caller.ErrStopping, "flying1": nil, "flying2": nil, "queued": caller.ErrStopping, "new": caller.ErrStopping,
		} {
			if !errors.Is(errs[key], want) {
				t.Errorf("%s: %v, want %v", key, errs[key], want)
			}
			if ok := b.journal.Has(key + "/attempt0/turn0"); ok != (want == nil) {
				t.Errorf("%s: recorded = %v", key, ok)
			}
		}
		if client.Count() != 3 {
			t.Errorf("%d requests, want 3", client.Count())
		}
	})
}

func TestACancelledCallIsChargedAndEndsWithItsCause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, modeltest.New(slow(time.Hour)), func(o *caller.Options) { o.Concurrency = 1 })
		// A cause that looks like a failed call must not pass for one.
		cause := &caller.StoppedError{Err: fail(model.Auth)}
		ctx, cancel := context.WithCancelCause(t.Context())
		var wg sync.WaitGroup
		for _, key := range []string{"flying", "queued"} {
			wg.Go(func() {
				if _, err := b.Do(ctx, ask(key, key)); !errors.Is(err, cause) {
					t.Errorf("%s: got %v", key, err)
				}
			})
			synctest.Wait()
		}
		cancel(cause)
		wg.Wait()
		if _, err := b.Do(ctx, ask("late", "late")); !errors.Is(err, cause) {
			t.Errorf("late: got %v", err)
		}
		if err := b.journal.Append(t.Context(), journal.Record{Key: "flush", Kind: journal.Decision}); err != nil {
			t.Fatal(err)
		}
		if sum := b.Stats().Sum; sum.Faults["cancelled"] != 1 || sum.Retries() != 1 {
			t.Errorf("ledger: %+v", sum.Faults)
		}
	})
}

func TestCeilings(t *testing.T) {
	t.Parallel()
	calls, tokens, usd := int64(5), int64(1500), 0.0024
	price := &caller.Price{Rates: caller.Rates{Input: 1, Output: 4, Cached: 0.25}} // a call of echo costs 60 + 10 + 40 millionths
	tests := []struct {
		limit  string
		limits caller.Limits
		want   int64
	}{
		{"limits.calls", caller.Limits{Calls: &calls}, 5},
		{"limits.tokens", caller.Limits{Tokens: &tokens}, 5}, // 110 a call, 1008 at most
		{"limits.usd", caller.Limits{USD: &usd}, 5},          // 0.00011 a call, 0.0019 at most
	}
	for _, tt := range tests {
		t.Run(tt.limit, func(t *testing.T) {
			t.Parallel()
			b := setup(t, modeltest.New(echo), nil)
			b.resume(func(o *caller.Options) {
				b.role(model.Target, func(r *caller.Role) { r.Price = price })(o)
				b.role(model.Optimizer, func(r *caller.Role) { r.Price = price })(o)
				o.Limits = tt.limits
			})
			var err error
			n := 0
			for ; err == nil && n < 20; n++ {
				if n == 3 {
					b.resume(nil) // the ceiling is the run's, not the session's
				}
				_, err = b.do(ask(fmt.Sprint("k", n), fmt.Sprint("q", n)))
			}
			var budget *caller.BudgetError
			if !errors.As(err, &budget) || budget.Limit != tt.limit || !budget.Call && budget.Used < budget.Of {
				t.Fatalf("after %d calls: %v", n, err)
			}
			if sum := b.Stats().Sum; sum.Calls != tt.want {
				t.Errorf("%d calls were made, want %d", sum.Calls, tt.want)
			}
			_, err = b.Episode(t.Context(), caller.EpisodeCall{Key: "e", Role: model.Target}, func(ctx context.Context, client model.Client) (caller.EpisodeResult, error) {
				_, err := client.Generate(ctx, model.Request{Messages: []model.Message{{Role: "user", Content: strings.Repeat("q", 1000)}}})
				return caller.EpisodeResult{}, err
			})
			if !errors.As(err, &budget) {
				t.Errorf("an episode beyond the ceiling: %v", err)
			}
			if cost, all := b.Stats().Sum.USD(); !all || cost < 0.00054 || cost > 0.00056 {
				t.Errorf("cost %v, all %v", cost, all)
			}
			if _, err := b.do(ask("k0", "q0")); err != nil {
				t.Errorf("a recorded answer was refused: %v", err)
			}
		})
	}
}

func TestACeilingOfCallsHoldsForThoseInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := int64(10)
		client := modeltest.New(slow(time.Second))
		b := setup(t, client, func(o *caller.Options) { o.Limits.Calls, o.Concurrency = &calls, 64 })
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() { _, _ = b.do(ask(fmt.Sprint("k", i), fmt.Sprint("q", i))) })
		}
		wg.Wait()
		if client.Count() != 10 {
			t.Errorf("%d requests were sent, the ceiling is 10", client.Count())
		}
	})
}

func TestCallsThatWaitNoticeACeilingReachedMeanwhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tokens := int64(2500)
		client := modeltest.New(func(ctx context.Context, n int, req model.Request) (model.Response, error) {
			resp, err := slow(time.Second)(ctx, n, req)
			resp.Usage = trajectory.Usage{Input: 700, Output: 300}
			return resp, err
		})
		b := setup(t, client, func(o *caller.Options) { o.Limits.Tokens, o.Concurrency = &tokens, 1 })
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() { _, _ = b.do(ask(fmt.Sprint("k", i), fmt.Sprint("q", i))) })
		}
		wg.Wait()
		if client.Count() != 2 {
			t.Errorf("%d requests were sent, want 2", client.Count())
		}
	})
}

func TestWhatIsUnderWayOutlivesItsPhaseButNotTheRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		run, hard := context.WithCancelCause(t.Context())
		b := setup(t, modeltest.New(slow(time.Hour)), func(o *caller.Options) { o.Concurrency, o.Lifetime = 1, run })
		phase, sibling := context.WithCancelCause(run)
		var wg sync.WaitGroup
		wg.Go(func() {
			if resp, err := b.Do(phase, ask("flying", "flying")); err != nil || resp.Text != "re: flying" {
				t.Errorf("flying: %q, %v", resp.Text, err)
			}
		})
		synctest.Wait()
		sibling(errors.New("a sibling failed"))
		wg.Wait()
		if ok := b.journal.Has("flying/attempt0/turn0"); !ok {
			t.Error("a reply that was paid for is not recorded")
		}
		if _, err := b.Do(phase, ask("late", "late")); err == nil {
			t.Error("a phase that has ended made another request")
		}
		stopped := errors.New("stopped at once")
		wg.Go(func() {
			if _, err := b.Do(run, ask("second", "second")); !errors.Is(err, stopped) {
				t.Errorf("second: %v", err)
			}
		})
		synctest.Wait()
		hard(stopped)
		wg.Wait()
	})
}

// A question whose answer comes later is neither a fault nor the end of others.
func TestWaitingIsNoFault(t *testing.T) {
	t.Parallel()
	why := errors.New("questions/0001.md")
	b := setup(t, modeltest.Func(func(_ context.Context, req model.Request) (model.Response, error) {
		if req.Messages[0].Content == "1" {
			return model.Response{}, &model.Error{Code: model.Waiting, Err: why}
		}
		return model.Response{Text: "a", Finish: model.FinishStop}, nil
	}), nil)
	for i, err := range b.ask(3) {
		var waiting *caller.WaitingError
		if errors.As(err, &waiting) != (i == 1) || (i != 1 && err != nil) {
			t.Errorf("call %d ended with %v", i, err)
		}
		if i == 1 && (!errors.Is(err, why) || waiting.Key == "") {
			t.Errorf("call %d: %v does not say where the question is", i, err)
		}
	}
	if faults := b.Stats().Sum.Faults; len(faults) != 0 {
		t.Errorf("%v are counted as faults", faults)
	}
}
