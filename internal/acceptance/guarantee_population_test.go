package acceptance_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
)

// A run with several candidates a step, two of which are merged, comes to the same
// when a ceiling stops it in the middle and it goes on from its record, with
// another number of calls at once.
func TestPopulationGoesOnFromItsRecord(t *testing.T) {
	t.Parallel()
	load := func() config.Config {
		cfg, err := config.LoadFile("../../examples/quickstart", "train.population.size=2", "train.seed=1", "train.epochs=1",
			"train.batch_size=20", "reflect.minibatch_size=8", "edits.budget=4")
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	whole, parts := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	trained(t, load(), whole)
	if history := results(t, whole)["history.json"]; !strings.Contains(history, `"merged"`) {
		t.Error("nothing was merged: the run proves less than it should")
	}
	cfg := load()
	calls := int64(350)
	cfg.Limits.Calls, cfg.Limits.Reserve, cfg.Limits.Concurrency = &calls, "none", 1
	if _, err := skillopt.Train(t.Context(), cfg, skillopt.WithRunDir(parts)); err == nil || !strings.Contains(err.Error(), "limits.calls") {
		t.Fatalf("the run was not stopped by its ceiling: %v", err)
	}
	trained(t, load(), parts)
	if diff := cmp.Diff(results(t, whole), results(t, parts)); diff != "" {
		t.Errorf("the run differs (-at once +in parts):\n%s", diff)
	}
}
