package acceptance_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
)

// recordedRuns makes runs of different kinds in a folder, and returns the folder and their
// names: what is shown of runs is checked with them.
func recordedRuns(t *testing.T) (folder string, names []string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "runs")
	at := func(name string) string {
		names = append(names, name)
		return filepath.Join(folder, name)
	}
	quick := func(settings ...string) config.Config {
		cfg, err := config.LoadFile("../../examples/quickstart", append([]string{"train.epochs=1", "train.batch_size=20", "reflect.minibatch_size=8", "edits.budget=4", "train.warm=off"}, settings...)...)
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	trained(t, quick(), at("quick"))
	trained(t, quick("gate.mode=strict", "train.epochs=2"), at("strict"))
	trained(t, quick("train.seed=6", "train.batch_size=10"), at("tries"))
	trained(t, quick("eval.test=false"), at("no-test"))
	foldsOf(t, fewConfig(t, config.AutoCount, 0), at("folds"), "")
	calls := int64(300)
	over := quick()
	over.Limits.Calls, over.Limits.Reserve = &calls, "none"
	if _, err := skillopt.Train(t.Context(), over, skillopt.WithRunDir(at("ceiling"))); kind(err) != skillopt.OverBudget {
		t.Fatalf("a ceiling of %d calls: %v", calls, err)
	}
	trained(t, worldConfig("http://in.process/v1"), at("world"), inProcess(t)...)
	other := worldConfig("http://in.process/v1")
	other.Tasks.Threshold = 0.5
	if sum := trained(t, other, filepath.Join(folder, "world"), append(inProcess(t), skillopt.WithFork(at("refused")))...); !sum.Test.Refused {
		t.Fatalf("the test was opened: %+v", sum.Test)
	}
	recordedOthers(t, at, quick())
	return folder, names
}

// recordedOthers makes runs that do not train.
func recordedOthers(t *testing.T, at func(name string) string, cfg config.Config) {
	t.Helper()
	if _, err := skillopt.Evaluate(t.Context(), cfg, "test", skillopt.WithRunDir(at("eval"))); err != nil {
		t.Fatal(err)
	}
	silent := append(inProcess(t)[1:], skillopt.WithClient(model.Target, "world", silentOn{sim.New(simulated(t)), "Divide 65 by 13."}))
	if _, err := skillopt.Evaluate(t.Context(), worldConfig("http://in.process/v1"), "train", append(silent, skillopt.WithRunDir(at("eval-lost")))...); err != nil {
		t.Fatal(err)
	}
	if _, err := skillopt.Evaluate(t.Context(), cfg, "selection", skillopt.WithRunDir(at("eval-passes")), skillopt.WithPasses(3)); err != nil {
		t.Fatal(err)
	}
	world := forgetful(t)
	a, err := skill.ReadDocument(os.DirFS(filepath.Dir(world.Skill)), filepath.Base(world.Skill))
	if err != nil {
		t.Fatal(err)
	}
	b := a.WithText(a.Text() + "- Be brief.\n")
	if _, err := skillopt.Compare(t.Context(), world, a, b, skillopt.WithRunDir(at("compare")), skillopt.WithSplit("selection")); err != nil {
		t.Fatal(err)
	}
	if _, err := skillopt.Ablate(t.Context(), world, skillopt.PruneOptions{Passes: 2, Margin: 0.2}, skillopt.WithRunDir(at("ablate"))); err != nil {
		t.Fatal(err)
	}
	if _, err := skillopt.Prune(t.Context(), world, skillopt.PruneOptions{Passes: 4, Margin: 0.15}, skillopt.WithRunDir(at("prune"))); err != nil {
		t.Fatal(err)
	}
}

// silentOn is a model that has no word for some questions: they are not measured.
type silentOn struct {
	model.Client
	question string
}

func (s silentOn) Generate(ctx context.Context, r model.Request) (model.Response, error) {
	if strings.Contains(r.Messages[len(r.Messages)-1].Content, s.question) {
		return model.Response{Finish: model.FinishStop}, nil
	}
	return s.Client.Generate(ctx, r)
}
