package acceptance_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
)

// replaysWithoutAgents checks that a replay of the run of agents in dir runs none of them,
// nor the commands that check their work: the shell of the commands and all programs are
// out of reach.
func replaysWithoutAgents(t *testing.T, cfg config.Config, dir string) {
	t.Helper()
	want := results(t, dir)
	tape := exported(t, dir)
	again := filepath.Join(t.TempDir(), "run")
	sum := trained(t, cfg, again, skillopt.WithReplay(tape),
		skillopt.WithClient(model.Target, "world", noCalls{t}), skillopt.WithClient(model.Optimizer, "world", noCalls{t}))
	sameResults(t, want, again)
	if sum.Calls.Total != 0 || sum.Tokens.Input != 0 {
		t.Errorf("a replay used %+v, %+v", sum.Calls, sum.Tokens)
	}
	for _, key := range tape.Unused() {
		// The score that the command led to is a step by itself and answers for it.
		if !strings.HasSuffix(key, "/check1") {
			t.Errorf("the step %s was not asked for", key)
		}
	}
	if left, err := filepath.Glob(filepath.Join(again, "workspaces", "*")); err != nil || len(left) > 0 {
		t.Errorf("workspaces were made: %v, %v", left, err)
	}
}

// The secrets that a program knows are not in its cassette.
func TestExportCassetteTakesOutSecrets(t *testing.T) {
	t.Parallel()
	cfg := worldConfig("")
	cfg.Train.Epochs = 1
	dir := filepath.Join(t.TempDir(), "run")
	trained(t, cfg, dir, inProcess(t)...)
	path := filepath.Join(t.TempDir(), "cassette")
	plain, err := skillopt.ExportCassette(t.Context(), dir, path)
	if err != nil || plain.Steps == 0 || len(plain.Redacted) > 0 {
		t.Fatalf("%+v, %v", plain, err)
	}
	const secret = "<answer>"
	sum, err := skillopt.ExportCassette(t.Context(), dir, path, secret)
	if err != nil || sum.Steps != plain.Steps || len(sum.Redacted) == 0 {
		t.Fatalf("%+v, %v", sum, err)
	}
	data, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(data), secret) {
		t.Errorf("the secret is in the cassette: %v", err)
	}
	_, err = skillopt.ExportCassette(t.Context(), t.TempDir(), path)
	var e *skillopt.Error
	if !errors.As(err, &e) || e.Kind != skillopt.BadInput {
		t.Errorf("no run: %v", err)
	}
}
