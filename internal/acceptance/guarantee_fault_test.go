package acceptance_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
)

// Faults of a server cost attempts, and change nothing in what is decided.
func TestFaultsChangeNothing(t *testing.T) {
	t.Parallel()
	cfg := worldConfig("http://in.process/v1")
	clean := filepath.Join(t.TempDir(), "run")
	total := trained(t, cfg, clean, inProcess(t)...).Calls.Total
	want := results(t, clean)

	for name, f := range map[string]wiretest.Faults{
		"429":                   {RateLimit: 0.2},
		"429 with a retry time": {RateLimit: 0.2, RetryAfter: "0.02"},
		"500":                   {Server: 0.2},
		"cut bodies":            {Cut: 0.2},
		"empty replies":         {Empty: 0.2},
		"malformed replies":     {Malformed: 0.2},
		"hangs":                 {Hang: 0.05},
		"all at once":           {RateLimit: 0.06, Server: 0.06, Cut: 0.06, Empty: 0.06, Malformed: 0.06, Hang: 0.02},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, wiretest.Options{Faults: f, Seed: 11})
			cfg := worldConfig(server.URL())
			if f.Hang > 0 {
				cfg.Models.Target.Timeout = config.Duration(200 * time.Millisecond)
				cfg.Models.Optimizer.Timeout = config.Duration(time.Second) // an analyst reads less when it passes twice in a row
			}
			dir := filepath.Join(t.TempDir(), "run")
			sum := trained(t, cfg, dir)
			sameResults(t, want, dir)
			stats := server.Stats()
			faults := 0
			for _, n := range stats.ByFault {
				faults += n
			}
			if faults < 5 {
				t.Errorf("only %d faults were injected", faults)
			}
			if sum.Lost != 0 {
				t.Errorf("%d replies were lost", sum.Lost)
			}
			// A deadline may pass on a busy machine without a hang.
			if extra := stats.Calls - int(total); extra < faults || extra > faults && f.Hang == 0 {
				t.Errorf("%d calls more than without faults, for %d faults", extra, faults)
			}
		})
	}
}

// A server that gives nothing but failures stops the run when its patience is
// spent. Nothing is scored, what was paid for is kept, and a later session with
// a server that works ends as if nothing had happened.
func TestDeadEndpointStopsTheRun(t *testing.T) {
	t.Parallel()
	clean := filepath.Join(t.TempDir(), "run")
	total := trained(t, worldConfig("http://in.process/v1"), clean, inProcess(t)...).Calls.Total
	want := results(t, clean)

	for name, f := range map[string]wiretest.Faults{
		"from the first call":  {Server: 1},
		"from the middle":      {RateLimit: 1, After: 50},
		"with an endless hint": {RateLimit: 1, RetryAfter: "3600", After: 30},
		"from the analysts on": {Cut: 1, After: 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, wiretest.Options{Faults: f})
			cfg := worldConfig(server.URL())
			cfg.Limits.Patience = config.Duration(150 * time.Millisecond)
			dir := filepath.Join(t.TempDir(), "run")
			sum, err := skillopt.Train(t.Context(), cfg, skillopt.WithRunDir(dir))
			var stopped *caller.StoppedError
			if kind(err) != skillopt.Unmeasurable || !errors.As(err, &stopped) {
				t.Fatalf("the run ended with %v (%s), want a stop as unmeasurable", err, kind(err))
			}
			if !strings.Contains(err.Error(), "limits.patience") {
				t.Errorf("the message does not name limits.patience: %v", err)
			}
			if sum.Status != "failed" || sum.Reason == "" {
				t.Errorf("the summary says %s: %s", sum.Status, sum.Reason)
			}
			if sum.Test.Best != nil || sum.Test.Seed != nil || f.After == 0 && sum.Best.Selection != nil {
				t.Errorf("something was scored: %+v, %+v", sum.Best, sum.Test)
			}
			if n := recordedCalls(t, dir); n > f.After {
				t.Errorf("%d calls are recorded as answered, %d were", n, f.After)
			}

			healthy := serve(t, wiretest.Options{})
			paid := recordedCalls(t, dir)
			trained(t, worldConfig(healthy.URL()), dir)
			sameResults(t, want, dir)
			if sent := healthy.Stats().Calls; sent != int(total)-paid {
				t.Errorf("%d calls were sent to continue, %d of %d were paid for", sent, paid, total)
			}
		})
	}
}

// What no retry can fix is not retried.
func TestRefusalsAreNotRetried(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"key": 401, "rights": 403, "model": 404, "request": 400} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, wiretest.Options{Faults: wiretest.Faults{Status: status}})
			cfg := worldConfig(server.URL())
			cfg.Limits.Concurrency = 1
			dir := filepath.Join(t.TempDir(), "run")
			_, err := skillopt.Train(t.Context(), cfg, skillopt.WithRunDir(dir))
			var stopped *caller.StoppedError
			if !errors.As(err, &stopped) || kind(err) != skillopt.Unmeasurable {
				t.Fatalf("the run ended with %v (%s)", err, kind(err))
			}
			if n := server.Stats().Calls; n != 1 {
				t.Errorf("%d calls were made, want 1", n)
			}
			if _, err := os.Stat(filepath.Join(dir, "best_skill.md")); err == nil {
				t.Error("there is a best skill though nothing was measured")
			}
		})
	}
}
