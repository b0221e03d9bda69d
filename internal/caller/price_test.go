package caller_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// rising costs twice as much for prompts of more than 1000 tokens.
func rising() *caller.Price {
	return &caller.Price{
		Rates: caller.Rates{Input: 1, Output: 4, Cached: 0.5, CacheWrite: 1},
		UpTo:  1000, Long: caller.Rates{Input: 2, Output: 8, Cached: 1, CacheWrite: 2},
	}
}

// priced is a bench whose calls use as many tokens as their request says, ten
// of them cached, and ten more of output.
func priced(t *testing.T, change func(*caller.Options)) (*bench, *modeltest.Fake) {
	client := modeltest.New(func(_ context.Context, _ int, req model.Request) (model.Response, error) {
		var n int64
		_, err := fmt.Sscan(req.Messages[len(req.Messages)-1].Content, &n)
		return model.Response{Text: "yes", Finish: model.FinishStop, Usage: trajectory.Usage{Input: n, Cached: 10, Output: 10}}, err
	})
	return setup(t, client, func(o *caller.Options) {
		for name, r := range o.Roles {
			r.Price = rising()
			o.Roles[name] = r
		}
		if change != nil {
			change(o)
		}
	}), client
}

// A call costs by the length of its own prompt, whatever others had.
func TestLongPromptsCostWhatTheyCost(t *testing.T) {
	t.Parallel()
	b, _ := priced(t, nil)
	for key, n := range map[string]int{"a": 990, "b": 1000, "c": 1001} {
		if _, err := b.do(ask(key, fmt.Sprint(n))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.do(optimizer("d", "2000")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Episode(t.Context(), episode("e"), func(ctx context.Context, c model.Client) (caller.EpisodeResult, error) {
		var errs []error
		for range 2 {
			_, err := c.Generate(ctx, model.Request{Messages: []model.Message{{Role: model.User, Content: "600"}}})
			errs = append(errs, err)
		}
		return result("done"), errors.Join(errs...)
	}); err != nil {
		t.Fatal(err)
	}
	direct, err := b.Direct("gateway/1", "gateway", model.Target)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := direct.Generate(t.Context(), model.Request{Messages: []model.Message{{Role: model.User, Content: "3000"}}}); err != nil {
		t.Fatal(err)
	}
	b.resume(nil) // what is charged without a result is durable then
	want := map[string]int64{
		"rollout/target":  1000 * (980 + 5 + 40 + 990 + 5 + 40 + 2*991 + 10 + 80 + 2*(590+5+40)),
		"merge/optimizer": 1000 * (2*1990 + 10 + 80),
		"gateway/target":  1000 * (2*2990 + 10 + 80),
	}
	for _, s := range b.Stats().Stages {
		if name := s.Stage + "/" + s.Role; s.CostNano != want[name] || s.Unpriced != 0 {
			t.Errorf("%s cost %d, want %d", name, s.CostNano, want[name])
		}
		delete(want, s.Stage+"/"+s.Role)
	}
	if len(want) > 0 {
		t.Errorf("no cost of %v", want)
	}
}

func TestACeilingOfCostSeesLongPrompts(t *testing.T) {
	t.Parallel()
	usd := 0.015
	b, client := priced(t, func(o *caller.Options) { o.Limits.USD = &usd })
	var err error
	for n := 0; err == nil && n < 20; n++ {
		_, err = b.do(ask(fmt.Sprint("k", n), fmt.Sprint(2000+n))) // some 0.004 each, 0.002 by the first rates
		b.resume(nil)
	}
	var over *caller.BudgetError
	if !errors.As(err, &over) || over.Limit != "limits.usd" || client.Count() != 4 {
		t.Errorf("%d calls, then %v", client.Count(), err)
	}
}

// Of an agent that reports a sum only, nobody knows how long its prompts were.
func TestASumBeyondThePriceIsUnknownAndHeldToTheCeiling(t *testing.T) {
	t.Parallel()
	usd := 0.02
	b, _ := priced(t, func(o *caller.Options) { o.Limits.USD = &usd })
	report := func(key string, input int64) error {
		_, err := b.Episode(t.Context(), episode(key), func(context.Context, model.Client) (caller.EpisodeResult, error) {
			return caller.EpisodeResult{Data: []byte("{}"), Usage: trajectory.Usage{Input: input}}, nil
		})
		return err
	}
	if err := errors.Join(report("short", 1000), report("long", 10_000)); err != nil {
		t.Fatal(err)
	}
	sum := journal.Sum(b.journal.Totals())
	if sum.CostNano != 1e6 || sum.Unpriced != 1 || sum.Usage.Input != 11_000 {
		t.Errorf("ledger: %+v", sum)
	}
	for range 2 { // in this session and in the next
		var over *caller.BudgetError
		if err := report("more", 1); !errors.As(err, &over) || over.Limit != "limits.usd" {
			t.Errorf("beyond the ceiling: %v", err)
		}
		b.resume(nil)
	}
}

// What a server or a program counts wrongly lowers no sum, and so raises no ceiling.
func TestOddCountsEarnNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		odd := rapid.Int64Range(-1e6, 1e6)
		u := trajectory.Usage{
			Input: odd.Draw(rt, "input"), Output: odd.Draw(rt, "output"), Cached: odd.Draw(rt, "cached"), CacheWrite: odd.Draw(rt, "written"),
		}
		if cost, known := rising().USD(u); !known || cost < 0 {
			rt.Errorf("%+v costs %v", u, cost)
		}
	})
	tokens := int64(2000) // a call counts for 60 and the limit of 300
	client := modeltest.New(func(context.Context, int, model.Request) (model.Response, error) {
		return model.Response{Text: "yes", Finish: model.FinishStop, Usage: trajectory.Usage{Input: 60, Output: -1000, Cached: 90}}, nil
	})
	b := setup(t, client, func(o *caller.Options) { o.Limits.Tokens = &tokens })
	var err error
	for n := 0; err == nil && n < 10; n++ {
		_, err = b.do(ask(fmt.Sprint("k", n), fmt.Sprint("q", n)))
	}
	var over *caller.BudgetError
	if !errors.As(err, &over) || client.Count() != 3 {
		t.Errorf("%d calls, then %v", client.Count(), err)
	}
}
