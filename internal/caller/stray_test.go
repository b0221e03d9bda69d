package caller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// One reply of a kind that no retry is known to help against ends no run once the endpoint
// has answered: it is asked once more, then the item is not measured. Three items in a row
// end the run.
func TestStrayRefusals(t *testing.T) {
	t.Parallel()
	type call struct {
		item string
		said string // of each try: a is an answer, r a refusal
		want string // answer, unmeasured, stopped
	}
	good := call{"good", "a", "answer"}
	for name, calls := range map[string][]call{
		"the first reply":                  {{"1", "r", "stopped"}},
		"one stray":                        {good, {"1", "ra", "answer"}, good},
		"one item":                         {good, {"1", "rr", "unmeasured"}, good},
		"two items":                        {good, {"1", "rr", "unmeasured"}, {"2", "rr", "unmeasured"}, {"3", "ra", "answer"}, {"4", "rr", "unmeasured"}},
		"three items":                      {good, {"1", "rr", "unmeasured"}, {"2", "rr", "unmeasured"}, {"3", "rr", "stopped"}},
		"one item again and again":         {good, {"1", "rr", "unmeasured"}, {"1", "rr", "unmeasured"}, {"1", "rr", "unmeasured"}, {"1", "rr", "unmeasured"}},
		"items that were left for others":  {good, {"1", "rr", "unmeasured"}, {"2", "rr", "unmeasured"}, good, {"3", "rr", "unmeasured"}, {"1", "rr", "unmeasured"}, {"2", "rr", "unmeasured"}},
		"items left for others, and three": {good, {"1", "rr", "unmeasured"}, good, {"1", "rr", "unmeasured"}, {"2", "rr", "unmeasured"}, {"3", "rr", "unmeasured"}, {"4", "rr", "stopped"}},
	} {
		for _, code := range []model.Code{model.BadRequest, model.Auth, model.Credit, model.NotFound} {
			t.Run(fmt.Sprint(name, ", ", code), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					var script []string
					client := modeltest.New(func(ctx context.Context, n int, req model.Request) (model.Response, error) {
						if script[n] == "r" {
							return model.Response{}, fail(code)
						}
						return echo(ctx, n, req)
					})
					b := setup(t, client, nil)
					for n, c := range calls {
						script = append(script, strings.Split(c.said, "")...)
						_, err := b.do(ask(fmt.Sprintf("p%d/%s/sample0", n, c.item), fmt.Sprint("q", n)))
						var stopped *caller.StoppedError
						got := "answer"
						switch {
						case errors.As(err, &stopped):
							got = "stopped"
						case errors.Is(err, caller.ErrUnmeasured):
							got = "unmeasured"
						case err != nil:
							got = err.Error()
						}
						if got != c.want || client.Count() != len(script) {
							t.Fatalf("call %d of %s: %s after %d requests, want %s after %d: %v", n, c.item, got, client.Count(), c.want, len(script), err)
						}
					}
				})
			})
		}
	}
}

// The optimizer has no items: what it is refused twice ends the run, as nothing can be decided
// without it.
func TestStrayRefusalsOfTheOptimizer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, modeltest.Script(modeltest.Text("a"), modeltest.Fails(model.BadRequest), modeltest.Text("b"), modeltest.Fails(model.BadRequest), modeltest.Fails(model.BadRequest)), nil)
		var got []bool
		for i := range 3 {
			call := ask(fmt.Sprint("e1/merge", i), fmt.Sprint("q", i))
			call.Role = model.Optimizer
			_, err := b.do(call)
			var stopped *caller.StoppedError
			got = append(got, errors.As(err, &stopped))
		}
		if !slices.Equal(got, []bool{false, false, true}) {
			t.Errorf("it stops: %v", got)
		}
	})
}
