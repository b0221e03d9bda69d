package acceptance_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
)

// A reference of a skill is trained for a real coding agent: its model reads it where the
// agent finds skills, an edit of it is what the score on held-out tasks follows, and no
// other byte of the folder changes.
func TestRealAgentsUseAReference(t *testing.T) {
	t.Parallel()
	dir := realAgents(t)
	for _, name := range []string{"pi", "codex", "claude", "copilot", "gemini", "opencode", "qwen"} {
		t.Run(name, func(t *testing.T) {
			program, _ := realProgram(t, dir, name)
			t.Parallel()
			trainReference(t, name, program)
		})
	}
}

func trainReference(t *testing.T, name, program string) {
	files := map[string]string{
		"SKILL.md":            "---\nname: desk\ndescription: How every task is answered. Load it before any task.\n---\n\n# Desk\n\nThe rules stand in references/rules.md: read them before you answer.\n",
		"references/rules.md": "# Rules\n",
		"scripts/run.sh":      "#!/bin/sh\nexit 0\n",
	}
	cfg := agentConfig(t)
	cfg.Skill = t.TempDir()
	for path, text := range files {
		full := filepath.Join(cfg.Skill, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cfg.Edits.Files = []string{"SKILL.md", "references/*.md"}
	cfg.SlowUpdate.Enabled, cfg.MetaSkill.Enabled = false, false
	loaded := throughGateway(t, &cfg, startCounting(t, deterministicWorld(t)), name, program, "world", "auto")
	rules := "- Write boxes behind a sum.\n- Write an author in capital letters."
	optimizer := &filesOptimizer{edits: []skill.Edit{{Op: skill.Append, File: "references/rules.md", Content: rules}}}
	run, began := filepath.Join(t.TempDir(), "run"), time.Now()
	sum, err := skillopt.Train(t.Context(), cfg, skillopt.WithRunDir(run), loaded, skillopt.WithTasks(tasksOfTwoKinds(t, 4)),
		skillopt.WithClient(model.Optimizer, "scripted", optimizer.client()))
	if err != nil {
		t.Fatal(err)
	}
	if sum.Test.Seed == nil || sum.Test.Best == nil || sum.Test.Best.Hard < sum.Test.Seed.Hard+0.3 {
		t.Errorf("test scores: seed %+v, best %+v", sum.Test.Seed, sum.Test.Best)
	}
	best := map[string]string{}
	for path := range files {
		text, err := os.ReadFile(filepath.Join(run, "best_skill", path))
		if err != nil {
			t.Error(err)
		}
		best[path] = string(text)
	}
	if !strings.Contains(best["references/rules.md"], rules) {
		t.Errorf("the reference is %q", best["references/rules.md"])
	}
	delete(best, "references/rules.md")
	delete(files, "references/rules.md")
	if diff := cmp.Diff(files, best); diff != "" {
		t.Errorf("other files changed: %s", diff)
	}
	t.Logf("%s: %.2f -> %.2f in %s", name, sum.Test.Seed.Hard, sum.Test.Best.Hard, time.Since(began).Round(time.Second))
}

// The description of a skill is trained for a real coding agent, whose scripted model loads a
// skill only if a word of the task stands in the description as the agent lists it: on
// prompts that training has not seen the skill is loaded where it should, and no more than
// before where it should not. The agent gets the prompt and nothing that names the skill.
// It takes some hundred prompts, so that the fastest agent stands for the others.
func TestRealAgentsLoadByTheDescription(t *testing.T) {
	t.Parallel()
	dir := realAgents(t)
	program, _ := realProgram(t, dir, "codex")
	trainDescriptionOf(t, "codex", program)
}

func trainDescriptionOf(t *testing.T, name, program string) {
	cfg, _ := describedWorld(t, 1, 0)
	world, err := sim.Load(cfg.Models.Target.World)
	if err != nil {
		t.Fatal(err)
	}
	draw := rand.New(rand.NewPCG(1, 2))
	tasks := promptsOf(draw, subjectsOf(1), sizes{30, 12, 20})
	cfg.Agent.Sandbox, cfg.Train.Epochs, cfg.MetaSkill.Enabled = "auto", 1, false
	cfg.Models.Target.World = ""
	loaded := throughGateway(t, &cfg, startCounting(t, world), name, program, "world", "auto")
	began := time.Now()
	sum, err := skillopt.Train(t.Context(), cfg, skillopt.WithRunDir(filepath.Join(t.TempDir(), "run")), loaded, skillopt.WithTasks(tasks),
		skillopt.WithClient(model.Optimizer, "world", sim.New(world)))
	if err != nil {
		t.Fatal(err)
	}
	seed, best := sum.Triggers.Seed["test"], sum.Triggers.Best["test"]
	found := fmt.Sprintf("%s: should %d -> %d of %d, should not %d -> %d of %d, %d calls in %s", name, seed.Should.Loaded, best.Should.Loaded, best.Should.Evaluations,
		seed.ShouldNot.Loaded, best.ShouldNot.Loaded, best.ShouldNot.Evaluations, sum.Calls.Total, time.Since(began).Round(time.Second))
	t.Log(found)
	if seed.Should.Rate > 0.45 || best.Should.Rate < 0.8 || best.ShouldNot.Rate > seed.ShouldNot.Rate {
		t.Error(found)
	}
}
