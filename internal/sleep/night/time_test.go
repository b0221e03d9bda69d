package night_test

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
)

// TestANightEndsAtItsTime: limits.time holds for a night over all documents, not for each of its runs anew. The same
// command continues with what is left to do.
func TestANightEndsAtItsTime(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	h.day(0, "near", true)
	h.day(1, "", true)
	limit := config.Duration(90 * time.Minute)
	var passed time.Duration
	inTime := func(o *night.Options) {
		began := o.Now()
		o.Config.Limits.Time = &limit
		// The first document takes two hours.
		o.Now = func() time.Time { return began.Add(passed) }
		o.Confirm = func(*night.Report) error { passed = 2 * time.Hour; return nil }
	}
	r, err := h.try(inTime)
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range r.Targets {
		if target.Outcome != night.Budget || !strings.Contains(target.Reason, "limits.time") {
			t.Errorf("%s: %s: %s", target.Target, target.Outcome, target.Reason)
		}
	}
	if len(r.Targets) == 0 || !r.Ended.IsZero() {
		t.Errorf("%d documents, ended %v", len(r.Targets), r.Ended)
	}
	passed = 0
	again := h.night(func(o *night.Options) {
		inTime(o)
		o.Confirm = nil
	})
	if again.ID != r.ID || again.Ended.IsZero() {
		t.Errorf("the night %s did not go on: %s, ended %v", r.ID, again.ID, again.Ended)
	}
	for _, target := range again.Targets {
		if target.Outcome == night.Budget {
			t.Errorf("%s: %s", target.Target, target.Reason)
		}
	}
}
