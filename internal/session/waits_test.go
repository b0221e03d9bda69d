package session

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/model"
)

func newTestWaits() *waits {
	return &waits{
		limit: 16, endpoints: map[string]string{"": "agent", model.Target: "host", model.Optimizer: "other"}, groups: map[purpose]map[*waitedFor]bool{},
		refused: map[refusalAt]*event.Refusals{}, took: map[string]time.Duration{}, room: func(string) int { return 8 },
	}
}

// TestWhatIsInFlight: requests are counted by purpose while they are out, with the age of
// the oldest that still is.
func TestWhatIsInFlight(t *testing.T) {
	t.Parallel()
	w, now := newTestWaits(), time.Unix(1000, 0)
	observe := w.observe(nil)
	begin := func(role, stage, key string, s int, episode bool) caller.Observation {
		return observe(caller.Activity{At: now.Add(time.Duration(s) * time.Second), Key: key, Role: role, Stage: stage, Episode: episode, Request: model.Request{Model: "m"}})
	}
	if _, ok := w.inFlight(now); ok {
		t.Error("nothing has changed")
	}
	a, b, c := begin(model.Target, "rollout", "a", 0, false), begin(model.Target, "rollout", "b", 1, false), begin(model.Target, "rollout", "c", 2, false)
	d, e := begin(model.Optimizer, "merge", "d", 3, false), begin(model.Target, "rollout", "e", 4, true)
	b.Ended(caller.Ended{Took: 1500 * time.Millisecond})
	look := func(want ...event.InFlightCalls) {
		t.Helper()
		got, ok := w.inFlight(now.Add(10 * time.Second))
		if want == nil {
			want = []event.InFlightCalls{}
		}
		if diff := cmp.Diff(event.InFlight{Calls: want, Limit: 16}, got); diff != "" || !ok {
			t.Error(ok, diff)
		}
	}
	look(event.InFlightCalls{Stage: "rollout", Role: "target", Model: "m", Endpoint: "host", Calls: 2, Oldest: 10},
		event.InFlightCalls{Stage: "merge", Role: "optimizer", Model: "m", Endpoint: "other", Calls: 1, Oldest: 7},
		event.InFlightCalls{Stage: "rollout", Role: "target", Model: "m", Endpoint: "agent", Calls: 1, Oldest: 6})
	a.Ended(caller.Ended{Err: errors.New("gone")})
	d.Ended(caller.Ended{})
	look(event.InFlightCalls{Stage: "rollout", Role: "target", Model: "m", Endpoint: "agent", Calls: 1, Oldest: 6},
		event.InFlightCalls{Stage: "rollout", Role: "target", Model: "m", Endpoint: "host", Calls: 1, Oldest: 8})
	c.Ended(caller.Ended{})
	e.Ended(caller.Ended{Took: time.Minute})
	look()
	if _, ok := w.inFlight(now); ok {
		t.Error("nothing has changed")
	}
	for key, want := range map[string]float64{"a": 0, "b": 1.5, "d": 0, "e": 60} {
		if got := w.seconds(key); got != want {
			t.Errorf("%s took %v s, want %v", key, got, want)
		}
	}
	if w.seconds("b") != 0 {
		t.Error("it is told once")
	}
}

// TestFollowing: what has changed is told twice a second, what was refused once, and the
// rest at the end.
func TestFollowing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestWaits()
		var told []string
		at, began := []time.Duration{}, time.Now()
		stop := w.follow(func(e event.Event) {
			told, at = append(told, e.Kind()), append(at, time.Since(began))
		}, time.Now)
		o := w.observe(nil)(caller.Activity{At: time.Now(), Role: model.Target})
		o.Failed(time.Now(), model.RateLimit)
		o.Failed(time.Now(), model.RateLimit)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		o.Failed(time.Now(), model.Network)
		o.Ended(caller.Ended{})
		stop()
		stop()
		if diff := cmp.Diff([]string{"in_flight", "refusals", "in_flight", "refusals"}, told); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]time.Duration{time.Second / 2, time.Second, 3 * time.Second, 3 * time.Second}, at); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRefusalsAreCounted(t *testing.T) {
	t.Parallel()
	w := newTestWaits()
	for i, code := range []model.Code{model.RateLimit, model.Network, model.RateLimit} {
		w.observe(nil)(caller.Activity{Key: string(rune('a' + i)), Role: model.Target}).Failed(time.Now(), code)
	}
	want := []event.Refusals{
		{Endpoint: "host", Role: "target", Code: string(model.Network), Count: 1, Key: "b", Limit: 8},
		{Endpoint: "host", Role: "target", Code: string(model.RateLimit), Count: 2, Key: "c", Limit: 8},
	}
	if diff := cmp.Diff(want, w.refusals()); diff != "" {
		t.Error(diff)
	}
	if got := w.refusals(); len(got) > 0 {
		t.Errorf("told again: %v", got)
	}
}

func TestHostsOfEndpoints(t *testing.T) {
	t.Parallel()
	for endpoint, want := range map[string]string{
		"https://api.example.com/v1":             "api.example.com",
		"http://127.0.0.1:8080/v1 (key of HOME)": "127.0.0.1:8080",
		"sim:quickstart":                         "sim:quickstart",
		"":                                       "",
		"bedrock eu-west-1":                      "bedrock eu-west-1",
		"https://user@host.example/openai/v1?x=1": "host.example",
	} {
		if got := endpointHost(endpoint); got != want {
			t.Errorf("%q: %q, want %q", endpoint, got, want)
		}
	}
}
