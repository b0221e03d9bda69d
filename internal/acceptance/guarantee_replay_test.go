package acceptance_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/provider/cassette"
	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
)

// exported writes the cassette of the run in dir and loads it.
func exported(t *testing.T, dir string) *skillopt.Cassette {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.cassette.jsonl")
	sum, err := skillopt.ExportCassette(t.Context(), dir, path)
	if err != nil || len(sum.Redacted) > 0 {
		t.Fatalf("%+v, %v", sum, err)
	}
	c, err := skillopt.LoadCassette(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A run that is answered from the cassette of another gives the same bytes, and
// asks nobody.
func TestReplayGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	for _, reuse := range []string{"never", "auto"} {
		for name, o := range map[string]wiretest.Options{
			"sound":  {Seed: 1},
			"faulty": {Seed: 2, Faults: wiretest.Faults{Server: 0.1, Empty: 0.05, Cut: 0.05}},
		} {
			t.Run(reuse+" "+name, func(t *testing.T) {
				t.Parallel()
				server := serve(t, o)
				cfg := worldConfig(server.URL())
				cfg.Record.Reuse = reuse
				dir := filepath.Join(t.TempDir(), "run")
				trained(t, cfg, dir)
				want, asked := results(t, dir), server.Stats().Calls
				tape := exported(t, dir)
				for _, concurrency := range []int{1, 32} {
					cfg.Limits.Concurrency = concurrency
					again := filepath.Join(t.TempDir(), "run")
					sum := trained(t, cfg, again, skillopt.WithReplay(tape))
					sameResults(t, want, again)
					if got := server.Stats().Calls; got != asked || sum.Calls.Total != 0 {
						t.Errorf("%d requests, %d in the summary", got-asked, sum.Calls.Total)
					}
				}
				if left := tape.Unused(); len(left) > 0 {
					t.Errorf("%d steps were not asked for, %q among them", len(left), left[0])
				}
			})
		}
	}
}

// A replay that is not the recorded run ends at its first step that differs.
func TestReplayOfAnotherRun(t *testing.T) {
	t.Parallel()
	server := serve(t, wiretest.Options{Seed: 1})
	cfg := worldConfig(server.URL())
	cfg.Train.Epochs = 1
	dir := filepath.Join(t.TempDir(), "run")
	trained(t, cfg, dir)
	asked := server.Stats().Calls
	tape := exported(t, dir)
	cfg.Train.Seed++
	_, err := skillopt.Train(context.Background(), cfg, skillopt.WithRunDir(filepath.Join(t.TempDir(), "run")), skillopt.WithReplay(tape))
	var missing *cassette.MissingError
	if !errors.As(err, &missing) || missing.Key == "" {
		t.Errorf("error %v", err)
	}
	if got := server.Stats().Calls; got != asked {
		t.Errorf("%d requests were sent", got-asked)
	}
}
