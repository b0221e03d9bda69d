package caller_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// cent is a model whose calls cost a cent each, at a price of 10 a million.
func cent() *modeltest.Fake {
	return modeltest.New(func(context.Context, int, model.Request) (model.Response, error) {
		return model.Response{Text: "yes", Finish: model.FinishStop, Usage: trajectory.Usage{Input: 700, Output: 300}}, nil
	})
}

func priceAll(o *caller.Options) {
	for name, r := range o.Roles {
		r.Price = &caller.Price{Rates: caller.Rates{Input: 10, Output: 10}}
		o.Roles[name] = r
	}
}

// askAtOnce sends n requests from many goroutines and returns what came back.
func askAtOnce(b *bench, prefix string, n int) (answered int, failures []error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			_, err := b.do(ask(fmt.Sprint(prefix, i), fmt.Sprint(prefix, i)))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				answered++
			} else {
				failures = append(failures, err)
			}
		})
	}
	wg.Wait()
	return answered, failures
}

// A ceiling of one dollar is never passed, however many calls are in flight when it
// is reached, also when the run is taken up again and again; and all but what one call
// can take is used.
func TestADollarIsADollar(t *testing.T) {
	t.Parallel()
	const concurrency, each = 16, 10_000_000
	usd := 1.0
	client := cent()
	limited := func(o *caller.Options) {
		priceAll(o)
		o.Concurrency, o.Limits.USD = concurrency, &usd
	}
	b := setup(t, client, limited)
	for session := range 5 {
		answered, failures := askAtOnce(b, fmt.Sprintf("session %d, ", session), 60)
		for _, err := range failures {
			var over *caller.BudgetError
			if !errors.As(err, &over) || over.Limit != "limits.usd" {
				t.Fatalf("session %d: %v, want the ceiling", session, err)
			}
		}
		if answered+len(failures) != 60 {
			t.Fatalf("session %d: %d answers and %d failures of 60 calls", session, answered, len(failures))
		}
		b.resume(limited)
	}
	spent := b.Stats().Sum.CostNano
	if n := int64(client.Count()); spent != n*each {
		t.Errorf("%d calls were sent and %d billionths counted, want %d for each", n, spent, each)
	}
	if spent > 1e9 || spent < 1e9-2*each {
		t.Errorf("%.4f dollars are spent, want 1 less a call", float64(spent)/1e9)
	}
	more := 1.5
	b.resume(func(o *caller.Options) { limited(o); o.Limits.USD = &more })
	if answered, _ := askAtOnce(b, "more", 10); answered != 10 {
		t.Errorf("with a larger ceiling %d of 10 calls are answered", answered)
	}
}

// A role's ceiling stops that role and no other.
func TestCeilingsOfRoles(t *testing.T) {
	t.Parallel()
	calls, tokens, usd, long := int64(3), int64(3100), 0.031, time.Nanosecond
	for name, tc := range map[string]struct {
		ceiling caller.Ceilings
		want    int
	}{
		"calls":  {caller.Ceilings{Calls: &calls}, 3},
		"tokens": {caller.Ceilings{Tokens: &tokens}, 3},
		"usd":    {caller.Ceilings{USD: &usd}, 3},
		"time":   {caller.Ceilings{Time: &long}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limited := func(o *caller.Options) {
				priceAll(o)
				o.Limits.Roles = map[string]caller.Ceilings{model.Target: tc.ceiling}
			}
			b := setup(t, cent(), limited)
			var err error
			n := 0
			for ; err == nil && n < 10; n++ {
				_, err = b.do(ask(fmt.Sprint("k", n), fmt.Sprint("q", n)))
				if name != "time" { // the record knows no less than microseconds
					b.resume(limited)
				}
			}
			var over *caller.BudgetError
			if !errors.As(err, &over) || over.Limit != "limits.roles.target."+name || n-1 != tc.want {
				t.Errorf("%d answers, then %v; want %d", n-1, err, tc.want)
			}
			if _, err := b.do(optimizer("o", "q")); err != nil {
				t.Errorf("the optimizer is stopped too: %v", err)
			}
		})
	}
}

// What is kept back is not spent until it is given free.
func TestReserve(t *testing.T) {
	t.Parallel()
	usd, calls := 0.10, int64(40)
	b := setup(t, cent(), func(o *caller.Options) {
		priceAll(o)
		o.Limits.USD, o.Limits.Roles = &usd, map[string]caller.Ceilings{model.Target: {Calls: &calls}}
		o.Concurrency = 1
	})
	until := func(prefix string) (n int, err error) {
		for ; err == nil; n++ {
			_, err = b.do(ask(fmt.Sprint(prefix, n), fmt.Sprint(prefix, n)))
		}
		return n - 1, err
	}
	b.Reserve(map[string]caller.Amount{model.Target: {Nano: 30_000_000}})
	n, err := until("kept")
	if want := "limits.usd has no room for another call: $0.0600 of $0.1000 used, $0.0336 kept for the final evaluation, up to $0.0101 needed (models.*.max_tokens bounds it); raise it and run the same command again to go on"; n != 6 || err.Error() != want {
		t.Errorf("%d calls, then %v; want 6 and %s", n, err, want)
	}
	b.ReserveShare(0.2)
	if n, err := until("share"); n != 1 || !strings.Contains(err.Error(), "$0.0200 kept") {
		t.Errorf("%d calls, then %v; want 1, to 80 %%", n, err)
	}
	b.Reserve(nil)
	if n, _ := until("free"); n != 2 {
		t.Errorf("%d calls, want the 2 that were kept", n)
	}
	// What the end takes is kept, whatever is left for the rest.
	b.Reserve(map[string]caller.Amount{model.Target: {Nano: 1e12, Calls: 1000}})
	err = b.Affords(nil)
	var over *caller.BudgetError
	if !errors.As(err, &over) || over.Kept != 0.10 {
		t.Errorf("%v, want the whole ceiling kept", err)
	}
}

func TestAffords(t *testing.T) {
	t.Parallel()
	tokens, calls := int64(10_000), int64(8)
	b := setup(t, cent(), func(o *caller.Options) {
		o.Limits.Tokens, o.Limits.Roles = &tokens, map[string]caller.Ceilings{model.Optimizer: {Calls: &calls}}
	})
	if _, err := b.do(ask("k", "q")); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		need map[string]caller.Amount
		want string
	}{
		"fits":       {map[string]caller.Amount{model.Target: {Tokens: 4000}, model.Optimizer: {Tokens: 5000, Calls: 8}}, ""},
		"in all":     {map[string]caller.Amount{model.Target: {Tokens: 4001}, model.Optimizer: {Tokens: 5000}}, "limits.tokens has no room for the next step: 1000 of 10000 used, about 9001 needed; raise it and run the same command again to go on"},
		"one's own":  {map[string]caller.Amount{model.Optimizer: {Calls: 9}}, "limits.roles.optimizer.calls has no room for the next step: 0 of 8 used, about 9 needed; raise it and run the same command again to go on"},
		"no ceiling": {map[string]caller.Amount{model.Judge: {Calls: 100}}, ""},
	} {
		err, text := b.Affords(tc.need), ""
		if err != nil {
			text = err.Error()
		}
		if diff := cmp.Diff(tc.want, text); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
