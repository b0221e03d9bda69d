package acceptance_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
	"github.com/seed-f4525e22/skillopt/internal/testset"
	"github.com/seed-f4525e22/skillopt/result"
)

// Sibling runs of one folder read the same test at falling levels. All else is the same,
// byte for byte, and what a run said it says again.
func TestSiblingsSpendTheirLevels(t *testing.T) {
	t.Parallel()
	dir, cfg := t.TempDir(), worldConfig(serve(t, wiretest.Options{Seed: 1}).URL())
	run := func(name string) *result.Summary { return trained(t, cfg, filepath.Join(dir, name)) }
	levels := map[string]float64{"a": 0.04, "b": 0.005, "c": 0.0025}
	said := map[string]*result.Summary{}
	for i, name := range []string{"a", "b", "c"} {
		said[name] = run(name)
		c := said[name].Certificate
		if c.Reading != i+1 || c.Level == nil || *c.Level != levels[name] || c.Test != "exact" || c.PGreater == nil || c.Assumes == "" {
			t.Errorf("%s: %+v", name, c)
		}
		sameResults(t, results(t, filepath.Join(dir, "a")), filepath.Join(dir, name))
	}
	for _, name := range []string{"a", "b"} {
		if diff := cmp.Diff(said[name].Certificate, run(name).Certificate); diff != "" {
			t.Errorf("%s, resumed (-first +again):\n%s", name, diff)
		}
	}
	replay := trained(t, cfg, filepath.Join(dir, "replay"), skillopt.WithReplay(exported(t, filepath.Join(dir, "b"))))
	if diff := cmp.Diff(said["b"].Certificate, replay.Certificate); diff != "" {
		t.Errorf("b, replayed (-run +replay):\n%s", diff)
	}
	sameResults(t, results(t, filepath.Join(dir, "b")), filepath.Join(dir, "replay"))
}

// A ledger that cannot say how often the tasks were read is no reason to lose a run, and
// none to take it for the first one.
func TestWithoutALedgerNothingIsCertified(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, testset.File), []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	c := trained(t, worldConfig("http://in.process/v1"), filepath.Join(dir, "run"), inProcess(t)...).Certificate
	if c.Certified || c.Level != nil || c.Reading != 0 || c.AtLeast != nil || !strings.Contains(c.Words, "how often the test set was read before, and that is not known") || !strings.Contains(c.Words, "not a database") {
		t.Errorf("%+v", c)
	}
}

// Soft scores have no McNemar test.
func TestSoftScoresHaveABound(t *testing.T) {
	t.Parallel()
	cfg := worldConfig("http://in.process/v1")
	cfg.Gate.Metric = "soft"
	dir := filepath.Join(t.TempDir(), "run")
	c := trained(t, cfg, dir, inProcess(t)...).Certificate
	if c.Test != "bound" || c.P != nil || c.PGreater != nil || c.EValue == nil || !strings.Contains(c.Words, "bound for one look") {
		t.Errorf("%+v", c)
	}
	text, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	if err != nil || !strings.Contains(string(text), `"mcnemar_p": null`) {
		t.Errorf("%v: %s", err, text)
	}
}
