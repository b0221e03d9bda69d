package caller_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

func (b *bench) direct() func() (string, error) {
	b.t.Helper()
	c, err := b.Direct("gateway/1", "gateway", model.Target)
	if err != nil {
		b.t.Fatal(err)
	}
	return func() (string, error) {
		resp, err := c.Generate(b.t.Context(), model.Request{Messages: []model.Message{{Role: model.User, Content: "q"}}})
		return resp.Text, err
	}
}

// A failure is the caller's own, is sent once, and ends nothing.
func TestDirectCallsFailByThemselves(t *testing.T) {
	t.Parallel()
	for _, code := range []model.Code{model.Auth, model.BadRequest, model.RateLimit, model.Server, model.ContextLength} {
		t.Run(string(code), func(t *testing.T) {
			t.Parallel()
			client := modeltest.New(func(_ context.Context, n int, _ model.Request) (model.Response, error) {
				if n == 0 {
					return model.Response{}, &model.Error{Code: code, Err: errors.New("no")}
				}
				return model.Response{Text: "yes", Finish: model.FinishStop, Usage: trajectory.Usage{Input: 10, Output: 1}}, nil
			})
			b := setup(t, client, nil)
			call := b.direct()
			if _, err := call(); model.CodeOf(err) != code || client.Count() != 1 {
				t.Errorf("error %v after %d requests", err, client.Count())
			}
			if text, err := call(); text != "yes" || err != nil {
				t.Errorf("then %q, %v", text, err)
			}
			if text, err := b.do(ask("k", "q")); text != "yes" || err != nil {
				t.Errorf("a step beside it: %q, %v", text, err)
			}
		})
	}
}

// Ceilings hold over all sessions, and the ledger knows every call.
func TestDirectCallsAreMetered(t *testing.T) {
	t.Parallel()
	client := modeltest.New(func(context.Context, int, model.Request) (model.Response, error) {
		return model.Response{Text: "yes", Finish: model.FinishStop, Usage: trajectory.Usage{Input: 1e6, Output: 1}}, nil
	})
	usd := 2.0
	price := &caller.Price{Rates: caller.Rates{Input: 1}}
	b := setup(t, client, func(o *caller.Options) {
		for name, r := range o.Roles {
			r.Price = price
			o.Roles[name] = r
		}
		o.Limits.USD = &usd
	})
	for range 2 {
		if _, err := b.direct()(); err != nil {
			t.Fatal(err)
		}
		b.resume(nil)
	}
	_, err := b.direct()()
	var over *caller.BudgetError
	if model.CodeOf(err) != model.Budget || !errors.As(err, &over) || over.Limit != "limits.usd" {
		t.Errorf("beyond the ceiling: %v", err)
	}
	sum := journal.Sum(b.journal.Totals())
	if client.Count() != 2 || sum.Calls != 2 || sum.Usage.Input != 2e6 || sum.CostNano != 2e9 {
		t.Errorf("%d requests, ledger %+v", client.Count(), sum)
	}
	if cost, known := price.USD(trajectory.Usage{Input: 5e5}); !known || cost != 0.5 {
		t.Errorf("%v, %v", cost, known)
	}
	if _, known := (*caller.Price)(nil).USD(trajectory.Usage{Input: 1}); known {
		t.Error("a cost without a price")
	}
	if _, err := b.Direct("k", "gateway", "nobody"); err == nil {
		t.Error("a role without a model")
	}
}
