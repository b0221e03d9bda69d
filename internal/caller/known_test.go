package caller_test

import (
	"context"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// counting answers every request with a price on it.
func counting() *modeltest.Fake {
	return modeltest.New(func(_ context.Context, _ int, req model.Request) (model.Response, error) {
		text := "answer to " + last(req)
		if last(req) == "nothing" {
			text = " "
		}
		return model.Response{Text: text, Finish: model.FinishStop, Usage: trajectory.Usage{Input: 10, Output: 5}}, nil
	})
}

// recorded returns what a run has recorded of its calls.
func (b *bench) recorded() map[caller.Asked][]byte {
	known := map[caller.Asked][]byte{}
	for rec, err := range b.journal.Results(b.t.Context(), 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		known[caller.Asked{Endpoint: "server", Digest: rec.Digest}] = rec.Result
	}
	return known
}

// What another run has recorded answers the same question of the same sample at the same endpoint, and
// is not charged. A reply that cannot be used, or is damaged, is asked for again.
func TestKnownAnswers(t *testing.T) {
	t.Parallel()
	seeds := []int64{1, 2}
	first := setup(t, counting(), nil)
	call := ask("k", "q")
	call.Seed = &seeds[0]
	if _, err := first.do(call); err != nil {
		t.Fatal(err)
	}
	nothing := ask("n", "nothing")
	nothing.Reask = caller.Reask{Same: -1}
	if _, err := first.do(nothing); err == nil {
		t.Fatal("an empty reply was taken")
	}
	known, damaged := first.recorded(), map[caller.Asked][]byte{}
	for asked := range known {
		damaged[asked] = []byte("{cut")
	}
	elsewhere := first.role(model.Target, func(r *caller.Role) { r.Endpoint = "another server" })
	sample := call
	sample.Seed = &seeds[1]
	for name, tt := range map[string]struct {
		call   caller.Call
		known  map[caller.Asked][]byte
		change func(*caller.Options)
		sent   int
	}{
		"the same":         {call, known, nil, 0},
		"another sample":   {sample, known, nil, 1},
		"another endpoint": {call, known, elsewhere, 1},
		"a damaged entry":  {call, damaged, nil, 1},
		"an empty reply":   {nothing, known, nil, 1},
	} {
		client := counting()
		b := setup(t, client, func(o *caller.Options) {
			o.Known, o.Reuse = tt.known, caller.ReuseNever
			if tt.change != nil {
				tt.change(o)
			}
		})
		tt.call.Key = "other/place"
		got, err := b.do(tt.call)
		if n := client.Count(); n != tt.sent || (err == nil) != (name != "an empty reply") || err == nil && got != "answer to q" {
			t.Errorf("%s: %q, %v after %d calls, want %d", name, got, err, n, tt.sent)
		}
		if sum := b.Stats().Sum; tt.sent == 0 && (sum.Calls != 0 || sum.Inherited != 1 || sum.Usage.Input != 0) {
			t.Errorf("%s: a known answer is charged: %+v", name, sum)
		}
		b.resume(func(o *caller.Options) { o.Known = nil })
		if again, err := b.do(tt.call); err == nil && again != got || client.Count() > 1 && name != "an empty reply" {
			t.Errorf("%s, resumed without the other run: %q, %v, %d calls", name, again, err, client.Count())
		}
	}
}
