package acceptance_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
)

// fewConfig trains on 30 tasks that came without splits.
func fewConfig(t *testing.T, folds config.Auto, calls int64) config.Config {
	t.Helper()
	l, err := config.Load(config.Options{Path: "../../cmd/skillopt/testdata/small"})
	if err != nil {
		t.Fatal(err)
	}
	cfg := l.Config
	cfg.Split.CrossFit, cfg.Limits.Reserve = folds, "none"
	if calls > 0 {
		cfg.Limits.Calls = &calls
	}
	return cfg
}

// foldsOf trains and returns in how many folds.
func foldsOf(t *testing.T, cfg config.Config, dir string, want skillopt.ErrorKind) (folds int) {
	t.Helper()
	_, err := skillopt.Train(t.Context(), cfg, skillopt.WithRunDir(dir), skillopt.WithAcceptedSeed(), skillopt.WithEvents(func(e event.Event) {
		if s, ok := e.(event.RunStarted); ok {
			folds = s.Folds
		}
	}))
	if kind(err) != want {
		t.Fatalf("%v, want %q", err, want)
	}
	return folds
}

// A run that began before there were folds goes on without them, and comes to the same
// bytes; a new one of the same configuration has them, and goes on with them.
func TestARunWithoutFoldsGoesOnWithoutThem(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		begun config.Auto
		want  int
	}{"one pool": {config.AutoCount, 1}, "in folds": {4, 4}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, cut := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "cut")
			foldsOf(t, fewConfig(t, tt.begun, 0), whole, "")
			foldsOf(t, fewConfig(t, tt.begun, 60), cut, skillopt.OverBudget)
			if got := foldsOf(t, fewConfig(t, tt.begun, 0), cut, ""); got != tt.want {
				t.Errorf("it goes on in %d folds, want %d", got, tt.want)
			}
			for _, file := range []string{"history.json", "best_skill.md", "candidates.json"} {
				a, errA := os.ReadFile(filepath.Join(whole, file))
				b, errB := os.ReadFile(filepath.Join(cut, file))
				if diff := cmp.Diff(string(a), string(b)); diff != "" || errA != nil || errB != nil {
					t.Errorf("%s of a run that was cut off (-whole +cut): %v %v\n%s", file, errA, errB, diff)
				}
			}
		})
	}
}

// Nobody's own split is touched unless folds are asked for by number.
func TestFoldsLeaveOwnSplitsAlone(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		folds  config.Auto
		change func(*config.Config)
		want   int
	}{
		"nothing said":     {config.AutoCount, func(*config.Config) {}, 1},
		"a ratio":          {config.AutoCount, func(c *config.Config) { c.Split.Ratio = "1:1:1" }, 0},
		"strict":           {config.AutoCount, func(c *config.Config) { c.Gate.Mode = "strict" }, 1},
		"observe":          {config.AutoCount, func(c *config.Config) { c.Gate.Mode = "observe" }, 0},
		"forced guidance":  {config.AutoCount, func(c *config.Config) { c.SlowUpdate.Gated = false }, 0},
		"train judges":     {config.AutoCount, func(c *config.Config) { c.Eval.Selection = "train" }, 0},
		"ratio and number": {3, func(c *config.Config) { c.Split.Ratio = "1:1:1" }, 3},
		"own splits":       {config.AutoCount, ownSplits(t), 0},
		"own, and number":  {2, ownSplits(t), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := fewConfig(t, tt.folds, 0)
			tt.change(&cfg)
			plan, err := skillopt.Plan(t.Context(), cfg)
			if err != nil || plan.Folds != tt.want {
				t.Errorf("%d folds, want %d (%v)", plan.Folds, tt.want, err)
			}
		})
	}
}

// ownSplits gives 24 tasks splits of their own.
func ownSplits(t *testing.T) func(*config.Config) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tasks.csv")
	text := "id,prompt,gold,split\n"
	for i := range 24 {
		id := string(rune('a' + i))
		text += id + ",Say " + id + "," + id + "," + []string{"train", "selection", "test"}[i%3] + "\n"
	}
	write(t, path, text)
	return func(c *config.Config) { c.Tasks.Path = path }
}
