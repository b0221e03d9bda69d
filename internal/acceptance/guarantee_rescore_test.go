package acceptance_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
)

// laxChecks pass what only holds the answer.
var laxChecks = []any{map[string]any{"type": "icontains", "value": "$gold"}}

// A wrong check is put right without a call, and the scores are those of a fresh evaluation
// at temperature 0, to the last bit.
func TestRescoringIsAFreshEvaluation(t *testing.T) {
	t.Parallel()
	server := wiretest.Start(wiretest.Options{Client: sim.New(simulated(t))})
	t.Cleanup(server.Close)
	dir := t.TempDir()
	right := worldConfig(server.URL())
	wrong := right
	wrong.Tasks.Checks, wrong.Tasks.Extract = laxChecks, "all"
	before, err := skillopt.Evaluate(t.Context(), wrong, "selection", skillopt.WithRunDir(filepath.Join(dir, "before")))
	if err != nil {
		t.Fatal(err)
	}
	asked := server.Stats().Calls
	rescored, err := skillopt.Rescore(t.Context(), right, filepath.Join(dir, "before"), skillopt.RescoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if more := server.Stats().Calls - asked; more != 0 || asked == 0 {
		t.Errorf("rescoring made %d of %d requests", more, asked)
	}
	fresh, err := skillopt.Evaluate(t.Context(), right, "selection", skillopt.WithRunDir(filepath.Join(dir, "fresh")))
	if err != nil {
		t.Fatal(err)
	}
	sheet := rescored.Sheets[0]
	if d := cmp.Diff(before.Splits["selection"].Score, sheet.Before.Score); d != "" {
		t.Error("before: ", d)
	}
	if d := cmp.Diff(fresh.Splits["selection"].Score, sheet.After.Score); d != "" {
		t.Error("after: ", d)
	}
	if len(sheet.Changed) == 0 || len(sheet.NotRescored) > 0 || sheet.Before.Hard == sheet.After.Hard {
		t.Errorf("%d answers change, %d are not rescored, %v -> %v", len(sheet.Changed), len(sheet.NotRescored), sheet.Before, sheet.After)
	}
}

// By the checks that a run had its gate decides as it did, with the same words, and no
// score changes.
func TestRescoringByTheSameChecksChangesNothing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*config.Config){
		"strict":     func(*config.Config) {},
		"second try": func(c *config.Config) { c.Train.SecondTry = true },
		"observe":    func(c *config.Config) { c.Gate.Mode = "observe" },
		"soft":       func(c *config.Config) { c.Gate.Metric = "soft" },
		"reuse":      func(c *config.Config) { c.Record.Reuse, c.Eval.Selection = "auto", "train" },
	} {
		for _, temperature := range []float64{0, 1} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				cfg := worldConfig("http://unused.invalid/v1")
				cfg.Models.Target.Temperature = &temperature
				change(&cfg)
				dir := filepath.Join(t.TempDir(), "run")
				if _, err := skillopt.Train(t.Context(), cfg, append(inProcess(t), skillopt.WithRunDir(dir))...); err != nil {
					t.Fatal(err)
				}
				r, err := skillopt.Rescore(t.Context(), cfg, dir, skillopt.RescoreOptions{Test: true})
				if err != nil {
					t.Fatal(err)
				}
				if len(r.Decisions) == 0 || len(r.NotRescored) > 0 || r.Undecided != "" {
					t.Errorf("%d decisions, not rescored %v, undecided %q", len(r.Decisions), r.NotRescored, r.Undecided)
				}
				unchanged(t, r)
			})
		}
	}
}

func unchanged(t *testing.T, r *result.Rescore) {
	t.Helper()
	for _, d := range r.Decisions {
		if d.Now == nil || *d.Now != d.Then || d.NowReason != d.ThenReason {
			t.Errorf("%s: %s, %q; now %v, %q, %s", d.At, d.Then, d.ThenReason, d.Now, d.NowReason, d.Unknown)
		}
	}
	for _, s := range r.Sheets {
		if d := cmp.Diff(s.Before, s.After); d != "" || len(s.Changed) > 0 {
			t.Errorf("%s: %d answers change\n%s", s.Where, len(s.Changed), d)
		}
	}
}

// Of a fork with other checks no answer is asked again that the run had asked, until
// analysts read other scores: those to the seed skill and of the first batch.
func TestForkWithOtherChecksPaysForNoAnswerAgain(t *testing.T) {
	t.Parallel()
	server := wiretest.Start(wiretest.Options{Client: sim.New(simulated(t))})
	t.Cleanup(server.Close)
	dir := t.TempDir()
	wrong := worldConfig(server.URL())
	wrong.Train.Epochs = 1
	right := wrong
	wrong.Tasks.Checks = laxChecks
	if _, err := skillopt.Train(t.Context(), wrong, skillopt.WithRunDir(filepath.Join(dir, "a")), skillopt.WithAcceptedSeed()); err != nil {
		t.Fatal(err)
	}
	before := server.Stats()
	sum, err := skillopt.Train(t.Context(), right, skillopt.WithRunDir(filepath.Join(dir, "a")), skillopt.WithFork(filepath.Join(dir, "b")), skillopt.WithReopenTest(true))
	if err != nil {
		t.Fatal(err)
	}
	asked := int64(server.Stats().Calls - before.Calls)
	if asked != sum.Calls.Total || sum.Calls.Inherited == 0 {
		t.Errorf("%d requests for %d calls, %d taken over", asked, sum.Calls.Total, sum.Calls.Inherited)
	}
	if n := askedAt(t, filepath.Join(dir, "b"), "seed/selection/"); n != 0 {
		t.Errorf("%d answers to the seed skill were asked again", n)
	}
	if n := askedAt(t, filepath.Join(dir, "b"), "e1/s1/mb0/rollout/"); n != 0 {
		t.Errorf("%d answers of the first batch were asked again", n)
	}
}

// An environment that scores by itself is not scored by checks.
func TestOwnScoresAreNotRescored(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	cfg := worldConfig("http://unused.invalid/v1")
	opts := []skillopt.Option{skillopt.WithTasks(envTasks(20)), skillopt.WithEnv("chancy", &chancyEnv{}), skillopt.WithClient(model.Target, "none", fixed{}), skillopt.WithSkill(solving(50)), skillopt.WithRunDir(dir)}
	if _, err := skillopt.Evaluate(t.Context(), cfg, "selection", opts...); err != nil {
		t.Fatal(err)
	}
	r, err := skillopt.Rescore(t.Context(), cfg, dir, skillopt.RescoreOptions{}, opts[:1]...)
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Sheets[0]; s.Rescored != 0 || s.After != nil || r.NotRescored["the environment has scored it by itself"] == 0 {
		t.Errorf("%+v", r)
	}
}

// askedAt is how many answers under a prefix a run has paid for itself.
func askedAt(t *testing.T, dir, prefix string) int {
	t.Helper()
	j, err := journal.Open(t.Context(), filepath.Join(dir, "run.db"), journal.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	n, taken := 0, 0
	for r, err := range j.Results(t.Context(), 0) {
		switch {
		case err != nil:
			t.Fatal(err)
		case r.Kind != journal.Call || !strings.HasPrefix(r.Key, prefix):
		case r.Code == journal.CodeInherited:
			taken++
		default:
			n++
		}
	}
	if taken == 0 {
		t.Errorf("no answer under %s was taken over", prefix)
	}
	return n
}
