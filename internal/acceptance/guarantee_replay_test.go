package acceptance_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/provider/cassette"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/wiretest"
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

// exportedBefore is the cassette that a program wrote that did not say what a run was
// begun with.
func exportedBefore(t *testing.T, dir string) *skillopt.Cassette {
	t.Helper()
	j, err := journal.Open(t.Context(), filepath.Join(dir, "run.db"), journal.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	path := filepath.Join(t.TempDir(), "run.cassette.jsonl")
	if _, err := cassette.Export(j.Results(t.Context(), 0), path, nil, redact.New()); err != nil {
		t.Fatal(err)
	}
	c, err := skillopt.LoadCassette(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A run with the defaults of an older program is replayed by the configuration that says
// nothing of them, from a cassette of that program and of this one.
func TestOlderDefaultsAreReplayed(t *testing.T) {
	t.Parallel()
	url := serve(t, wiretest.Options{Seed: 1}).URL()
	older := wide(url, 0)
	older.Train.BatchSize, older.Reflect.MinibatchSize, older.Edits.Budget, older.Train.Stop.Perfect, older.Edits.Tidy = 0, 8, 4, false, false
	older.Gate.Confirm, older.Gate.Risk, older.Gate.Fresh, older.Reflect.View = "auto", 0.5, false, "task"
	dir := t.TempDir()
	path := filepath.Join(dir, "run")
	trained(t, older, path)
	for name, c := range map[string]*skillopt.Cassette{"before": exportedBefore(t, path), "now": exported(t, path)} {
		again := filepath.Join(dir, name)
		now := wide(url, 0)
		now.Gate.Confirm, now.Gate.Risk, now.Gate.Fresh, now.Reflect.View = "measured", 0, true, "agent"
		now.Train.Warm.Drafts, now.Edits.Tidy = config.AutoCount, name == "before" // the other cassette names it
		trained(t, now, again, skillopt.WithReplay(c))
		sameResults(t, results(t, path), again)
	}
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
