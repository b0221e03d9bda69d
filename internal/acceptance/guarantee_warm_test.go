package acceptance_test

import (
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt/config"
)

// Whoever chose how many trajectories an analyst reads, or how many edits a step makes, gets a
// warm start only by asking for it: 33 analysts of eight failures each, and no budget that
// leaves out what they get wrong, cost a run with 400 train tasks .27 of its score.
func TestSmallStepsHaveNoWarmStart(t *testing.T) {
	t.Parallel()
	first := func(path string, settings ...string) int {
		t.Helper()
		cfg, err := config.LoadFile("../../examples/quickstart", append(settings, "train.batch_size=20", "train.epochs=1", "eval.test=false")...)
		if err != nil {
			t.Fatal(err)
		}
		trained(t, cfg, path)
		return rolledOutIn(t, path)
	}
	dir := t.TempDir()
	for name, tt := range map[string]struct {
		settings []string
		want     int
	}{
		"defaults":    {nil, 80},
		"minibatches": {[]string{"reflect.minibatch_size=8"}, 20},
		"few edits":   {[]string{"edits.budget=4"}, 20},
		"asked for":   {[]string{"reflect.minibatch_size=8", "edits.budget=4", "train.warm=on"}, 80},
		"none":        {[]string{"train.warm=off"}, 20},
	} {
		if got := first(filepath.Join(dir, name), tt.settings...); got != tt.want {
			t.Errorf("%s: the first step has %d tasks, want %d", name, got, tt.want)
		}
	}
}
