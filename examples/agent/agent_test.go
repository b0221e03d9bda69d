// Package agent_test trains the example as it is. It knows nothing about how
// agents work.
package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
)

func TestMain(m *testing.M) {
	skillopt.RunHelper(os.Args)
	os.Exit(m.Run())
}

func TestTrain(t *testing.T) {
	t.Parallel()
	if s := sandbox.Supports(); s.Kind == "" {
		t.Skip("programs cannot be confined here: " + s.Why)
	}
	cfg, err := config.LoadFile(".")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	run := filepath.Join(t.TempDir(), "run")
	sum, err := skillopt.Train(ctx, cfg, skillopt.WithRunDir(run))
	if err != nil {
		t.Fatal(err)
	}
	if sum.Test.Seed == nil || sum.Test.Seed.Hard > 0.1 || sum.Test.Best == nil || sum.Test.Best.Hard < 0.9 {
		t.Errorf("test scores: seed %+v, best %+v", sum.Test.Seed, sum.Test.Best)
	}
	best, err := os.ReadFile(filepath.Join(run, "best_skill.md"))
	if err != nil || strings.Count(string(best), "\n- ") < 5 {
		t.Errorf("best skill:\n%s%v", best, err)
	}
	batch, err := os.ReadFile(filepath.Join(run, "steps", "step_0001", "rollout.json"))
	if err != nil || !strings.Contains(string(batch), `"tool_call"`) || !strings.Contains(string(batch), "answer.txt") {
		t.Errorf("the trajectories do not show what the agent did: %v\n%.2000s", err, batch)
	}
}
