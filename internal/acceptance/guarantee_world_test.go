package acceptance_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
)

// guaranteeDir holds a small world, its tasks and a seed skill.
const guaranteeDir = "testdata/guarantee"

func simulated(t testing.TB) *sim.World {
	t.Helper()
	w, err := sim.Load(filepath.Join(guaranteeDir, "world.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// serve starts a server of the simulated world.
func serve(t testing.TB, o wiretest.Options) *wiretest.Server {
	t.Helper()
	o.Client = sim.New(simulated(t))
	s := wiretest.Start(o)
	t.Cleanup(s.Close)
	return s
}

// worldConfig is a small run: 2 epochs of 2 steps over 20 + 10 + 10 tasks, every
// stage in use, every call sent.
func worldConfig(url string) config.Config {
	cfg := config.Default()
	cfg.Skill = filepath.Join(guaranteeDir, "SKILL.md")
	cfg.Tasks.Path = filepath.Join(guaranteeDir, "tasks.jsonl")
	cfg.Tasks.Extract = "tag:answer"
	cfg.Tasks.Checks = []any{map[string]any{"type": "equals", "value": "$gold"}}
	m := config.Model{
		Provider: "openai", Model: "world", BaseURL: url, APIKeyEnv: new(string), Temperature: new(float64),
		Headers: map[string]string{wiretest.StageHeader: "{{stage}}"}, Structured: "off", Timeout: config.Duration(time.Minute),
	}
	cfg.Models.Target, cfg.Models.Optimizer = m, m
	cfg.Train.Epochs, cfg.Train.BatchSize, cfg.Train.Seed = 2, 10, 3
	cfg.Train.Warm = "off" // steps as small as the others: a ceiling ends a run in any of them
	cfg.Reflect.MinibatchSize = 3
	cfg.Aggregate.FanIn = 2
	cfg.Edits.Budget, cfg.Edits.MinBudget = 3, 2
	cfg.SlowUpdate.Samples = 8
	cfg.Record.Reuse = "never"
	cfg.Limits.Concurrency = 8
	return cfg
}

// inProcess makes the world answer without a server.
func inProcess(t testing.TB) []skillopt.Option {
	c := sim.New(simulated(t))
	return []skillopt.Option{skillopt.WithClient(model.Target, "world", c), skillopt.WithClient(model.Optimizer, "world", c)}
}

// trained trains in dir and returns the summary.
func trained(t testing.TB, cfg config.Config, dir string, opts ...skillopt.Option) *result.Summary {
	t.Helper()
	sum, err := skillopt.Train(t.Context(), cfg, append(opts, skillopt.WithRunDir(dir))...)
	if err != nil {
		t.Fatalf("train: %v", err)
	}
	if sum.Status != "completed" {
		t.Fatalf("the run ended as %s: %s", sum.Status, sum.Reason)
	}
	return sum
}

// results reads what must be equal for equal seeds: the history, the best skill
// and every version.
func results(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	paths, err := filepath.Glob(filepath.Join(dir, "skills", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(paths, filepath.Join(dir, "best_skill.md"), filepath.Join(dir, "history.json")) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		out[rel] = string(data)
	}
	return out
}

// sameResults compares the results of a run with those of another.
func sameResults(t testing.TB, want map[string]string, dir string) {
	t.Helper()
	got := results(t, dir)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if want[name] != got[name] {
			t.Errorf("%s differs (-want +got):\n%s", name, cmp.Diff(strings.Split(want[name], "\n"), strings.Split(got[name], "\n")))
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
}

// kind returns the kind of an error of Train.
func kind(err error) skillopt.ErrorKind {
	var e *skillopt.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// copyRun copies the files of a run directory.
func copyRun(t testing.TB, from string) string {
	t.Helper()
	to := t.TempDir()
	for _, name := range []string{"run.db", "run.db-wal", "manifest.json"} {
		data, err := os.ReadFile(filepath.Join(from, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}
