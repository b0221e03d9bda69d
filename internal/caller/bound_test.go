package caller_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// bill is a server that charges for every call that reaches it, at 10 dollars a
// million tokens, whatever it says about that.
type bill struct {
	charged chan int64 // tokens
	says    func(n int, truth trajectory.Usage) (trajectory.Usage, error)
}

func (s *bill) generate(_ context.Context, n int, req model.Request) (model.Response, error) {
	u := trajectory.Usage{Input: 600 + int64(n%100), Output: 1 + int64(n*37%300)}
	s.charged <- u.Input + u.Output
	said, err := s.says(n, u)
	if err != nil {
		return model.Response{}, err
	}
	return model.Response{Text: "yes", Finish: model.FinishStop, Usage: said}, nil
}

// Whatever a server says that a call used, a ceiling of a dollar is never passed, with
// 64 calls at once and over several sessions.
func TestADollarIsNeverPassed(t *testing.T) {
	t.Parallel()
	all := func(u trajectory.Usage) func(int, trajectory.Usage) (trajectory.Usage, error) {
		return func(int, trajectory.Usage) (trajectory.Usage, error) { return u, nil }
	}
	for name, tt := range map[string]struct {
		says    func(int, trajectory.Usage) (trajectory.Usage, error)
		unknown bool
	}{
		"the truth":   {func(_ int, u trajectory.Usage) (trajectory.Usage, error) { return u, nil }, false},
		"nothing":     {all(trajectory.Usage{}), true},
		"less than 0": {all(trajectory.Usage{Input: -5, Output: -1}), true},
		"more than anything": {
			all(trajectory.Usage{Input: math.MaxInt64, Output: math.MaxInt64, Cached: math.MaxInt64}), true,
		},
		"no output": {func(_ int, u trajectory.Usage) (trajectory.Usage, error) {
			return trajectory.Usage{Input: u.Input}, nil
		}, true},
		"far too much": {func(_ int, u trajectory.Usage) (trajectory.Usage, error) {
			return trajectory.Usage{Input: u.Input, Output: 5000}, nil
		}, true},
		"every third cut": {func(n int, u trajectory.Usage) (trajectory.Usage, error) {
			if n%3 == 0 {
				return u, &model.Error{Code: model.Truncated, Err: errors.New("cut")}
			}
			return u, nil
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			usd := 1.0
			s := &bill{charged: make(chan int64, 10_000), says: tt.says}
			b := setup(t, modeltest.New(s.generate), func(o *caller.Options) {
				priceAll(o)
				o.Concurrency, o.Limits.USD = 64, &usd
			})
			for session := range 3 {
				_, failures := askAtOnce(b, fmt.Sprintf("session %d, ", session), 150)
				for _, err := range failures {
					var over *caller.BudgetError
					if !errors.As(err, &over) {
						t.Fatal(err)
					}
				}
				b.resume(nil)
			}
			close(s.charged)
			var tokens int64
			for n := range s.charged {
				tokens += n
			}
			if spent := float64(tokens) * 10 / 1e6; spent > 1 || spent < 0.5 {
				t.Errorf("$%.4f are spent under a ceiling of $1", spent)
			}
			sum := b.Stats().Sum
			if got := sum.Unknown > 0; got != tt.unknown || sum.Unknown != 0 && sum.Unknown != sum.Calls {
				t.Errorf("of %d calls the usage of %d is not known", sum.Calls, sum.Unknown)
			}
			if tt.unknown && (sum.Bounded.CostNano == 0 || sum.CostNano != 0) {
				t.Errorf("ledger: %+v", sum.Total)
			}
		})
	}
}

// An attempt that never reached the server is not held against a ceiling, one that
// may have been charged for is.
func TestOnlyWhatMayBeChargedForCounts(t *testing.T) {
	t.Parallel()
	dial := &net.OpError{Op: "dial", Err: errors.New("refused")}
	for name, tt := range map[string]struct {
		err  *model.Error
		want bool
	}{
		"cut":            {&model.Error{Code: model.Truncated, Err: errors.New("x")}, true},
		"late":           {&model.Error{Code: model.Timeout, Err: errors.New("x")}, true},
		"reset":          {&model.Error{Code: model.Network, Err: &net.OpError{Op: "read", Err: errors.New("reset")}}, true},
		"behind a proxy": {&model.Error{Code: model.Server, Status: 504, Err: errors.New("x")}, true},
		"refused":        {&model.Error{Code: model.Network, Err: dial}, false},
		"no such host":   {&model.Error{Code: model.Network, Err: &net.DNSError{}}, false},
		"too many":       {&model.Error{Code: model.RateLimit, Status: 429, Err: errors.New("x")}, false},
		"down":           {&model.Error{Code: model.Server, Status: 500, Err: errors.New("x")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := modeltest.New(func(_ context.Context, n int, _ model.Request) (model.Response, error) {
				if n == 0 {
					return model.Response{}, tt.err
				}
				return model.Response{Text: "yes", Finish: model.FinishStop, Usage: trajectory.Usage{Input: 700, Output: 300}}, nil
			})
			b := setup(t, client, priceAll)
			if _, err := b.do(ask("k", "q")); err != nil {
				t.Fatal(err)
			}
			sum := b.Stats().Sum
			if sum.CostNano != 10_000_000 || (sum.Failed.CostNano > 0) != tt.want {
				t.Errorf("ledger: %+v", sum.Total)
			}
			b.resume(nil)
			if again := b.Stats().Sum; again.Failed != sum.Failed || again.Unknown != 0 {
				t.Errorf("the next session reads %+v", again.Total)
			}
		})
	}
}

// What is held back for a call is no less than what the call can take, whatever is
// sent.
func TestTheBoundOfARequestGrowsWithIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.String().Draw(rt, "text")
		output := rapid.Int64Range(1, 300).Draw(rt, "output")
		tokens := int64(len(text)) + output
		ceiling := tokens - 1
		client := modeltest.New(func(context.Context, int, model.Request) (model.Response, error) {
			return model.Response{Text: "yes", Finish: model.FinishStop, Usage: trajectory.Usage{Input: max(1, int64(len(text))), Output: output}}, nil
		})
		b := setup(t, client, func(o *caller.Options) { o.Limits.Tokens = &ceiling })
		if _, err := b.do(caller.Call{Key: "k", Role: model.Target, Messages: []model.Message{{Role: model.User, Content: text}}}); err == nil {
			rt.Errorf("a call of %d tokens passed a ceiling of %d", tokens, ceiling)
		}
	})
}

// A ceiling for a run that has calls of which nobody knows anything is refused.
func TestACeilingOverWhatNobodyCounted(t *testing.T) {
	t.Parallel()
	client := modeltest.New(func(context.Context, int, model.Request) (model.Response, error) {
		return model.Response{Text: "yes", Finish: model.FinishStop}, nil
	})
	b := setup(t, client, func(o *caller.Options) { r := o.Roles[model.Target]; r.MaxOutput = 0; o.Roles[model.Target] = r })
	if _, err := b.do(ask("k", "q")); err != nil {
		t.Fatal(err)
	}
	if sum := b.Stats().Sum; sum.Unknown != 1 || sum.Unbounded != 1 || sum.Unpriced != 1 {
		t.Errorf("ledger: %+v", sum.Total)
	}
	tokens := int64(1e6)
	b.opts.Limits.Tokens = &tokens
	var open *caller.UnboundedError
	if _, err := caller.New(b.opts); !errors.As(err, &open) || open.Limit != "limits.tokens" || open.Role != model.Target {
		t.Errorf("without a limit of the output: %v", err)
	}
	r := b.opts.Roles[model.Target]
	r.MaxOutput = 300
	b.opts.Roles[model.Target] = r
	var uncounted *caller.UncountedError
	if _, err := caller.New(b.opts); !errors.As(err, &uncounted) || uncounted.Calls != 1 {
		t.Errorf("over a call that nobody counted: %v", err)
	}
}

// What the provider says that a call cost goes before the prices, if it can be true.
func TestTheProvidersOwnCostCounts(t *testing.T) {
	t.Parallel()
	const byPrice = 10_000_000
	for _, tt := range []struct {
		said float64
		want int64
	}{{0.0123, 12_300_000}, {0, 0}, {-1, byPrice}, {math.NaN(), byPrice}, {math.Inf(1), byPrice}} {
		client := modeltest.New(func(context.Context, int, model.Request) (model.Response, error) {
			return model.Response{Text: "yes", Finish: model.FinishStop, Usage: trajectory.Usage{Input: 700, Output: 300}, CostUSD: &tt.said}, nil
		})
		b := setup(t, client, priceAll)
		if _, err := b.do(ask("k", "q")); err != nil {
			t.Fatal(err)
		}
		if sum := b.Stats().Sum; sum.CostNano != tt.want || sum.Unknown != 0 {
			t.Errorf("said $%v: counted %d, want %d", tt.said, sum.CostNano, tt.want)
		}
	}
}
