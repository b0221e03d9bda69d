package caller_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

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

// What is kept back is not spent until it is given free.
func TestReserve(t *testing.T) {
	t.Parallel()
	usd := 0.10
	b := setup(t, cent(), func(o *caller.Options) {
		priceAll(o)
		o.Limits.USD = &usd
		o.Concurrency = 1
	})
	until := func(prefix string) (n int, err error) {
		for ; err == nil; n++ {
			_, err = b.do(ask(fmt.Sprint(prefix, n), fmt.Sprint(prefix, n)))
		}
		return n - 1, err
	}
	b.Reserve(caller.Amount{Nano: 30_000_000})
	n, err := until("kept")
	if want := "limits.usd has no room for another call: $0.0600 of $0.1000 used, $0.0336 kept for the final evaluation, up to $0.0101 needed (models.*.max_tokens bounds it); raise it and run the same command again to continue"; n != 6 || err.Error() != want {
		t.Errorf("%d calls, then %v; want 6 and %s", n, err, want)
	}
	b.ReserveShare(0.2)
	if n, err := until("share"); n != 1 || !strings.Contains(err.Error(), "$0.0200 kept") {
		t.Errorf("%d calls, then %v; want 1, to 80 %%", n, err)
	}
	b.Reserve(caller.Amount{})
	if n, _ := until("free"); n != 2 {
		t.Errorf("%d calls, want the 2 that were kept", n)
	}
	// What the end takes is kept, whatever is left for the rest.
	b.Reserve(caller.Amount{Nano: 1e12, Calls: 1000})
	err = b.Affords(caller.Amount{})
	var over *caller.BudgetError
	if !errors.As(err, &over) || over.Kept != 0.10 {
		t.Errorf("%v, want the whole ceiling kept", err)
	}
}

func TestAffords(t *testing.T) {
	t.Parallel()
	tokens, calls := int64(10_000), int64(8)
	b := setup(t, cent(), func(o *caller.Options) {
		o.Limits.Tokens, o.Limits.Calls = &tokens, &calls
	})
	if _, err := b.do(ask("k", "q")); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		need caller.Amount
		want string
	}{
		"fits":   {caller.Amount{Tokens: 9000, Calls: 7}, ""},
		"tokens": {caller.Amount{Tokens: 9001}, "limits.tokens has no room for the next step: 1000 of 10000 used, about 9001 needed; raise it and run the same command again to continue"},
		"calls":  {caller.Amount{Calls: 8}, "limits.calls has no room for the next step: 1 of 8 used, about 8 needed; raise it and run the same command again to continue"},
		"money":  {caller.Amount{Nano: 1e12}, ""},
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
