package night_test

import (
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/result"
)

// What a night takes lies within what it was expected to take, its ceiling comes of that, and a night that was
// interrupted keeps both.
func TestANightIsForecast(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	h.day(30, "", true)
	h.cfg.Limits.Tokens, h.cfg.Limits.USD, h.cfg.Limits.Calls = nil, nil, nil
	var told *result.NightForecast
	confirm := func(o *night.Options) {
		o.Confirm = func(r *night.Report) error { told = r.Forecast; return nil }
	}
	r := h.night(confirm)
	f := r.Forecast
	if f == nil || told == nil || *f.Tokens != *told.Tokens || len(f.Unknown) > 0 {
		t.Fatalf("%+v, told %+v", f, told)
	}
	used, in, out := float64(r.Spent.Calls), float64(r.Spent.Input), float64(r.Spent.Output)
	if used < f.Calls.Low || used > f.Calls.High || in < f.Input.Low || in > f.Input.High || out > f.Output.High {
		t.Errorf("%+v was spent of %+v", r.Spent, f)
	}
	if r.Targets[0].Outcome == night.Budget {
		t.Error(r.Targets[0].Reason)
	}
	c := night.Ceilings(h.cfg, f)
	if c.Tokens == nil || *c.Tokens > 400_000 || *c.Tokens > *f.Tokens {
		t.Errorf("ceiling %v of %d", *c.Tokens, *f.Tokens)
	}
	usd := 3.0
	h.cfg.Limits.USD = &usd
	if c := night.Ceilings(h.cfg, f); c.Tokens != nil {
		t.Errorf("with limits of its own: %d tokens", *c.Tokens)
	}
}

// Of a first night it is known how many sessions there are. More of them take more, and of an agent's episodes nobody
// knows what they take.
func TestAFirstNightIsForecast(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	h.cfg.Limits.Tokens = nil
	var calls []float64
	for _, n := range []int{0, 5, 30, 400} {
		f, err := night.Expect(t.Context(), h.options(func(o *night.Options) { o.With = []skillopt.Option{} }), n)
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, f.Calls.Expected)
		if n > 0 && (f.Tokens == nil || f.Input.Expected == 0) {
			t.Errorf("%d sessions: %+v", n, f)
		}
	}
	for i := 1; i < len(calls); i++ {
		if calls[i] <= calls[i-1] {
			t.Errorf("calls %v", calls)
		}
	}
	h.cfg.Agent.Name = "builtin"
	h.cfg.Agent.Gateway = true
	f, err := night.Expect(t.Context(), h.options(), 20)
	if err != nil {
		t.Fatal(err)
	}
	if f.Tokens != nil || !strings.Contains(strings.Join(f.Unknown, " "), "target") {
		t.Errorf("with an agent %+v", f)
	}
	if c := night.Ceilings(h.cfg, f); *c.Tokens != 5_000_000 {
		t.Errorf("ceiling %d", *c.Tokens)
	}
}
