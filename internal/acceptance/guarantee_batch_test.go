package acceptance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
)

// quick is the configuration of the quick start, whose train split has 80 tasks.
func quick(t *testing.T, calls int64) config.Config {
	t.Helper()
	cfg, err := config.LoadFile("../../examples/quickstart", "train.batch_size=auto")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Eval.Test, cfg.Limits.Reserve = false, "none"
	cfg.Edits.Examples = 0 // they take a tenth of a ceiling, and batches follow what is left
	if calls > 0 {
		cfg.Limits.Calls = &calls
	}
	return cfg
}

// A batch that a ceiling made smaller stays as large when the run continues with another
// one, in forks, and in replays: the run is the one that was begun.
func TestTheBatchOfARunStays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "run")
	if sum, err := skillopt.Train(t.Context(), quick(t, 250), skillopt.WithRunDir(path)); kind(err) != skillopt.OverBudget {
		t.Fatalf("%+v, %v", sum, err)
	}
	whole := trained(t, quick(t, 0), path)
	first := rolledOutIn(t, path)
	if want := 20; first != want {
		t.Errorf("the first batch of the run that went on has %d tasks, want the %d that it began with", first, want)
	}
	fork := filepath.Join(dir, "fork")
	forked := trained(t, quick(t, 0), path, skillopt.WithFork(fork))
	if n := rolledOutIn(t, fork); n != first || forked.Calls.Total != 0 {
		t.Errorf("the fork has batches of %d tasks and paid for %d calls", n, forked.Calls.Total)
	}
	again := filepath.Join(dir, "replay")
	if sum := trained(t, quick(t, 0), again, skillopt.WithReplay(exported(t, path))); !cmp.Equal(sum.Best, whole.Best) || rolledOutIn(t, again) != first {
		t.Errorf("the replay: %+v, batches of %d tasks", sum.Best, rolledOutIn(t, again))
	}
	fresh := filepath.Join(dir, "fresh")
	trained(t, quick(t, 0), fresh)
	if n := rolledOutIn(t, fresh); n != 80 {
		t.Errorf("without a ceiling the first batch has %d tasks, want all", n)
	}
}

// What is left of a ceiling and too little for a whole step goes into a smaller one, which
// stays as it is when the run continues with more, in forks, and in replays.
func TestTheRestOfACeilingIsASmallerStep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	quick := func(t *testing.T, calls int64) config.Config {
		cfg := quick(t, calls)
		cfg.Limits.Reserve = "auto"
		cfg.Gate.Mode = "strict" // what a race has asked when it stops is chance, and a fork may ask it
		return cfg
	}
	var path string
	var last, first, cut int
	for calls := int64(480); calls < 800 && (cut == 0 || cut >= first); calls += 20 {
		path = filepath.Join(dir, fmt.Sprint("run", calls))
		sum, err := skillopt.Train(t.Context(), quick(t, calls), skillopt.WithRunDir(path))
		if err != nil || sum.Ceiling != "limits.calls" || sum.Calls.Total > calls {
			t.Fatalf("%+v, %v", sum, err)
		}
		last = sum.Steps
		first, cut = rolledOutIn(t, path), rolledOutAt(t, path, last)
	}
	if cut < 10 || cut >= first {
		t.Fatalf("the last of %d steps rolled out %d tasks, the first %d", last, cut, first)
	}
	whole := trained(t, quick(t, 3000), path)
	if n := rolledOutAt(t, path, last); n != cut || rolledOutAt(t, path, last+1) <= cut {
		t.Errorf("with more room step %d has %d tasks, and the next %d", last, n, rolledOutAt(t, path, last+1))
	}
	fork := filepath.Join(dir, "fork")
	if sum := trained(t, quick(t, 3000), path, skillopt.WithFork(fork)); sum.Calls.Total != 0 || rolledOutAt(t, fork, last) != cut {
		t.Errorf("the fork paid for %d calls, step %d has %d tasks", sum.Calls.Total, last, rolledOutAt(t, fork, last))
	}
	again := filepath.Join(dir, "replay")
	if sum := trained(t, quick(t, 3000), again, skillopt.WithReplay(exported(t, path))); !cmp.Equal(sum.Best, whole.Best) || rolledOutAt(t, again, last) != cut {
		t.Errorf("the replay: %+v, step %d has %d tasks", sum.Best, last, rolledOutAt(t, again, last))
	}
}

// rolledOutIn counts the tasks of the first batch.
func rolledOutIn(t *testing.T, dir string) int { return rolledOutAt(t, dir, 1) }

func rolledOutAt(t *testing.T, dir string, step int) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "steps", fmt.Sprintf("step_%04d", step), "rollout.json"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(data), `"id":`)
}
