package acceptance_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/model"
)

var reserveSeeds = flag.Int("reserve-seeds", 0, "how many seeds TestFinishAlwaysReadsTheTest tries under every ceiling; 0 = a few")

// ceilingsTried are ceilings that pay for scoring the seed skill and for the test,
// and stop the run somewhere on its way.
func ceilingsTried() []string {
	return []string{
		"limits.calls=300", "limits.calls=400", "limits.calls=500", "limits.calls=700", "limits.calls=1000",
		"limits.tokens=120000", "limits.tokens=170000", "limits.tokens=250000", "limits.tokens=400000",
		"limits.usd=0.2", "limits.usd=0.3", "limits.usd=0.5",
	}
}

// quickStart is a copy of the quick start whose models answer at once.
func quickStart(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", "quickstart"))); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "world.yaml")
	world, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(world), "latency_ms: 8", "latency_ms: 0", 1)
	if text == string(world) {
		t.Fatal("the quick start has another latency")
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// finishes trains until the ceiling, then asks for what there is: the test must be
// read whatever the seed, and the ceiling must hold. It reports whether a ceiling
// was met at all.
func finishes(t *testing.T, dir string, seed int, ceiling string) (met bool) {
	t.Helper()
	opts := []skillopt.Option{skillopt.WithRunDir(filepath.Join(t.TempDir(), "run")), skillopt.WithKeepOpen()}
	settings := []string{fmt.Sprint("train.seed=", seed), ceiling, "train.epochs=10", "reflect.minibatch_size=40"}
	if strings.HasPrefix(ceiling, "limits.usd=") {
		more, own := charging(t, dir)
		settings, opts = append(settings, more...), append(opts, own...)
	}
	cfg, err := config.LoadFile(dir, settings...)
	if err != nil {
		t.Fatal(err)
	}
	stopped, err := skillopt.Train(t.Context(), cfg, opts...)
	if err == nil {
		return false
	}
	var over *caller.BudgetError
	if !errors.As(err, &over) {
		t.Fatalf("seed %d, %s: %v", seed, ceiling, err)
	}
	ended, err := skillopt.Train(t.Context(), cfg, append(opts, skillopt.WithFinish())...)
	if err != nil || ended.Test.Best == nil || ended.Test.Seed == nil {
		t.Errorf("seed %d, %s: stopped after step %d with %d calls (%v), and --finish: %v", seed, ceiling, stopped.Steps, stopped.Calls.Total, over, err)
		return true
	}
	if n := cfg.Limits.Calls; n != nil && ended.Calls.Total > *n {
		t.Errorf("seed %d, %s: %d calls", seed, ceiling, ended.Calls.Total)
	}
	if n := cfg.Limits.Tokens; n != nil && ended.Tokens.Input+ended.Tokens.Output > *n {
		t.Errorf("seed %d, %s: %d tokens", seed, ceiling, ended.Tokens.Input+ended.Tokens.Output)
	}
	if usd := cfg.Limits.USD; usd != nil && (ended.CostUSD == nil || *ended.CostUSD > *usd) {
		t.Errorf("seed %d, %s: %v dollars", seed, ceiling, ended.CostUSD)
	}
	return true
}

// charging has the models of the quick start answer for money.
func charging(t *testing.T, dir string) (settings []string, opts []skillopt.Option) {
	t.Helper()
	w, err := sim.Load(filepath.Join(dir, "world.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	settings = []string{"prices.w={input: 1, output: 4}", "models.target.max_tokens=256", "models.optimizer.max_tokens=2048"}
	for _, role := range []string{model.Target, model.Optimizer} {
		at := "models." + role + "."
		settings = append(settings, at+"provider=compatible", at+"model=w", at+"base_url=http://localhost/v1", at+`api_key_env=""`)
		opts = append(opts, skillopt.WithClient(role, "w", sim.New(w)))
	}
	return settings, opts
}

// Whatever a step finds out, what is kept for the end pays for it: --finish reads
// the test split within the ceiling.
func TestFinishAlwaysReadsTheTest(t *testing.T) {
	t.Parallel()
	dir := quickStart(t)
	t.Run("asked again, a task is answered otherwise", func(t *testing.T) {
		t.Parallel()
		finishes(t, dir, 4, "limits.calls=500")
	})
	seeds := *reserveSeeds
	for i, ceiling := range ceilingsTried() {
		t.Run(ceiling, func(t *testing.T) {
			t.Parallel()
			first, last := 1, seeds
			if seeds == 0 {
				first = 7*i + 1
				last = first
			}
			met := 0
			for seed := first; seed <= last; seed++ {
				if finishes(t, dir, seed, ceiling) {
					met++
				}
			}
			t.Logf("%d of %d runs met %s", met, last-first+1, ceiling)
		})
	}
}

// Whatever the ceiling, a run ends with its result and within it, and the same again asks
// for nothing.
func TestARunUnderACeilingEndsWithItsResult(t *testing.T) {
	t.Parallel()
	dir := quickStart(t)
	for seed, ceiling := range append(ceilingsTried(), "limits.calls=120", "limits.calls=180", "limits.calls=240") {
		t.Run(ceiling, func(t *testing.T) {
			t.Parallel()
			opts := []skillopt.Option{skillopt.WithRunDir(filepath.Join(t.TempDir(), "run"))}
			settings := []string{fmt.Sprint("train.seed=", seed), ceiling, "train.epochs=10"}
			if strings.HasPrefix(ceiling, "limits.usd=") {
				more, own := charging(t, dir)
				settings, opts = append(settings, more...), append(opts, own...)
			}
			cfg, err := config.LoadFile(dir, settings...)
			if err != nil {
				t.Fatal(err)
			}
			sum, err := skillopt.Train(t.Context(), cfg, opts...)
			if err != nil || sum.Status != "completed" || sum.Steps == 0 && cfg.Limits.Calls != nil {
				t.Fatalf("%v, %+v", err, sum)
			}
			passed := cfg.Limits.Calls != nil && sum.Calls.Total > *cfg.Limits.Calls || cfg.Limits.USD != nil && *sum.CostUSD > *cfg.Limits.USD ||
				cfg.Limits.Tokens != nil && sum.Tokens.Input+sum.Tokens.Output > *cfg.Limits.Tokens
			if passed {
				t.Errorf("%d calls, %d tokens", sum.Calls.Total, sum.Tokens.Input+sum.Tokens.Output)
			}
			again, err := skillopt.Train(t.Context(), cfg, opts...)
			if err != nil || again.Calls.Total != sum.Calls.Total || again.Ceiling != sum.Ceiling || again.Steps != sum.Steps {
				t.Errorf("again: %v, %+v", err, again)
			}
			t.Logf("%d steps, %d calls, %q", sum.Steps, sum.Calls.Total, sum.Ceiling)
		})
	}
}
