package acceptance_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
)

// A forecast takes of a finished run of another configuration in the folder how long the
// replies of the same models are, says so, and comes nearer; of a run with another model it
// takes nothing, and what cannot be read does not matter.
func TestForecastLearnsFromOtherRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	planned := func(settings ...string) *result.Forecast {
		t.Helper()
		cfg, err := config.LoadFile(filepath.Join("..", "..", "examples", "quickstart"), settings...)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Run.Dir = dir
		p, err := skillopt.Plan(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		return p.Forecast
	}
	second := []string{"train.epochs=2", "train.seed=7", "train.second_try=false"} // of which a dry run makes none
	before := planned(second...)
	if before.Basis != result.Estimated || before.Learned != nil || before.Accuracy == nil {
		t.Errorf("in an empty folder: %q, %+v, %+v", before.Basis, before.Learned, before.Accuracy)
	}
	train := func(settings ...string) *result.Summary {
		t.Helper()
		cfg, err := config.LoadFile(filepath.Join("..", "..", "examples", "quickstart"), settings...)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Run.Dir = dir
		sum, err := skillopt.Train(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	train("train.epochs=1", "train.second_try=false", "run.name=first")
	after := planned(second...)
	if after.Basis != result.LearnedBasis || after.Learned == nil || len(after.Learned.Runs) != 1 || len(after.Learned.Replies) == 0 {
		t.Fatalf("after a run: %q, %+v", after.Basis, after.Learned)
	}
	if other := planned(append(second, "models.target.max_tokens=77", "models.optimizer.max_tokens=77")...); other.Basis != result.Estimated || other.Learned != nil || other.Output.Expected != before.Output.Expected {
		t.Errorf("with other models: %q, %+v, %v tokens, %v without a run", other.Basis, other.Learned, other.Output, before.Output)
	}

	for name, file := range map[string]string{"damaged": run.DBFile, "odd": "manifest.json"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join(dir, "first-1"))); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, file), []byte("{nothing"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if again := planned(second...); again.Output != after.Output || len(again.Learned.Runs) != 1 {
		t.Errorf("beside damaged runs: %+v, %v; %v before", again.Learned, again.Output, after.Output)
	}

	sum := train(append(second, "run.name=second")...)
	took := 0.0
	for _, st := range sum.Stages {
		took += float64(st.Output)
	}
	off := func(f *result.Forecast) float64 { return math.Abs(f.Output.Expected/took - 1) }
	t.Logf("output tokens %.0f: forecast %.0f, learned %.0f", took, before.Output.Expected, after.Output.Expected)
	if off(after) > 0.2 && off(after) > 0.6*off(before) { // an estimate may be right by chance
		t.Errorf("off by %.0f %%, without the run by %.0f %%", 100*off(after), 100*off(before))
	}
}
