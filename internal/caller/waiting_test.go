package caller_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// An endpoint that fails is told of once, within seconds, and again when it has
// answered and fails anew. A failure that passes is not worth a word.
func TestAnOutageIsTold(t *testing.T) {
	t.Parallel()
	type outage struct{ from, to time.Duration }
	tests := []struct {
		name string
		down []outage
		dial time.Duration // until a connection is refused
		hint time.Duration
		want []time.Duration // of patience that is reported
	}{
		{"never", nil, 0, 0, nil},
		{"for a moment", []outage{{0, 100 * time.Millisecond}}, 0, 0, nil},
		{"before the first answer", []outage{{0, 25 * time.Second}}, 0, 0, []time.Duration{30 * time.Second}},
		{"refused slowly", []outage{{0, 25 * time.Second}}, 400 * time.Millisecond, 0, []time.Duration{30 * time.Second}},
		{"twice", []outage{{0, 25 * time.Second}, {40 * time.Second, 80 * time.Second}}, 0, 0, []time.Duration{30 * time.Second, 2 * time.Minute}},
		{"with a long hint", []outage{{0, time.Second}}, 0, 20 * time.Second, []time.Duration{2 * time.Minute}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				client := modeltest.Func(func(context.Context, model.Request) (model.Response, error) {
					for _, o := range tc.down {
						if at := time.Since(start); at >= o.from && at < o.to {
							<-time.After(tc.dial)
							return model.Response{}, &model.Error{Code: model.Network, RetryAfter: tc.hint, Err: errors.New("connection refused")}
						}
					}
					return model.Response{Text: "a", Finish: model.FinishStop}, nil
				})
				var mu sync.Mutex
				var told []caller.Outage
				b := setup(t, client, func(o *caller.Options) {
					o.Waiting = func(o caller.Outage) {
						mu.Lock()
						defer mu.Unlock()
						told = append(told, o)
						if o.Failing > 6*time.Second {
							t.Errorf("told after %s", o.Failing)
						}
					}
				})
				for round := range 2 {
					var wg sync.WaitGroup
					for i := range 4 {
						wg.Go(func() {
							if _, err := b.do(ask(fmt.Sprint(round, i), fmt.Sprint(round, i))); err != nil {
								t.Error(err)
							}
						})
					}
					wg.Wait()
					if rest := 40*time.Second - time.Since(start); rest > 0 {
						<-time.After(rest)
					}
				}
				if len(told) != len(tc.want) {
					t.Fatalf("told %d times, want %d: %+v", len(told), len(tc.want), told)
				}
				for i, o := range told {
					if o.Endpoint != "server" || o.Patience != tc.want[i] || o.Err == nil {
						t.Errorf("told %+v", o)
					}
				}
			})
		})
	}
}
