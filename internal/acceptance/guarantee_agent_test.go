package acceptance_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/testing/agenttest"
	"github.com/seed-f4525e22/skillopt/internal/testing/helpertest"
	"github.com/seed-f4525e22/skillopt/internal/testing/memfolder"
	"github.com/seed-f4525e22/skillopt/internal/testing/sandboxtest"
	"github.com/seed-f4525e22/skillopt/model"
)

func TestMain(m *testing.M) {
	skillopt.RunHelper(os.Args)
	if code, is := sandboxtest.Main(os.Getenv(sandboxtest.Var), os.Args, os.Stdout); is {
		os.Exit(code)
	}
	if log := os.Getenv(pluginServerVar); log != "" {
		if err := servePlugin(log, os.Args[1:]); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(quickly(m))
}

// quickly runs the tests with a helper that starts soon and with their temporary files in memory, where there is such a
// place and TMPDIR names no other: they write many, and none looks at a disk.
func quickly(m *testing.M) int {
	defer helpertest.Quick(os.Environ())()
	if os.Getenv("TMPDIR") != "" { // of the user, or of the test that started this one
		return m.Run()
	}
	dir, remove := memfolder.New()
	defer remove()
	if dir != "" {
		if err := os.Setenv("TMPDIR", dir); err != nil {
			panic(err)
		}
	}
	return m.Run()
}

// agentConfig has the built-in agent carry out the tasks; a command looks at the
// file that it leaves.
func agentConfig(t testing.TB) config.Config {
	t.Helper()
	needsSandbox(t)
	cfg := worldConfig("")
	cfg.Agent.Name = "builtin"
	cfg.Tasks.Checks = []any{map[string]any{
		"type": "command", "run": `test "$(cat answer.txt)" = "<answer>$GOLD</answer>"`, "timeout": "1m",
	}}
	cfg.Train.Epochs = 1
	return cfg
}

func needsSandbox(t testing.TB) {
	t.Helper()
	needsShell(t)
	if s := sandbox.Supports(); s.Kind == "" {
		t.Skip("programs cannot be confined here: " + s.Why)
	}
}

// An agent that is trained gets better by the files that it leaves, each step of
// it is recorded, and neither a resumed run nor a replay repeats any of them.
func TestAgentsAreTrained(t *testing.T) {
	t.Parallel()
	notes(t, agenttest.Result{Agent: "builtin", Behaviour: agenttest.Trained})
	cfg := agentConfig(t)
	dir := filepath.Join(t.TempDir(), "run")
	sum := trained(t, cfg, dir, inProcess(t)...)
	if sum.Test.Seed == nil || sum.Test.Best == nil || sum.Test.Best.Hard < sum.Test.Seed.Hard+0.3 {
		t.Errorf("test scores: seed %+v, best %+v", sum.Test.Seed, sum.Test.Best)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "workspaces", "*")); err != nil || len(left) > 0 {
		t.Errorf("workspaces are left: %v, %v", left, err)
	}
	kinds := recordedKinds(t, dir)
	if kinds[journal.Episode] == 0 || kinds[journal.Check] != 2*kinds[journal.Episode] {
		t.Errorf("recorded: %v; want a score and a command for each episode", kinds)
	}
	// Three answers of the model an episode: read the skill, write, say.
	if kinds[journal.Inner] != 3*kinds[journal.Episode] {
		t.Errorf("recorded: %v; want three calls for each episode", kinds)
	}

	want := results(t, dir)
	for _, name := range []string{"history.json", "best_skill.md"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	again := trained(t, cfg, dir, skillopt.WithClient(model.Target, "world", noCalls{t}), skillopt.WithClient(model.Optimizer, "world", noCalls{t}))
	sameResults(t, want, dir)
	if again.Calls.Total != sum.Calls.Total || again.Tokens != sum.Tokens {
		t.Errorf("resumed: %+v %+v, want %+v %+v", again.Calls, again.Tokens, sum.Calls, sum.Tokens)
	}
	// How long episodes took is recorded with them.
	if len(sum.Effort) == 0 || sum.Effort[0].N != sum.Test.Best.N || sum.Effort[0].Seconds.Before <= 0 || sum.Effort[0].Turns.Before < 3 {
		t.Errorf("episodes took %+v", sum.Effort)
	}
	if diff := cmp.Diff(sum.Effort, again.Effort); diff != "" {
		t.Error("resumed, episodes took another time:", diff)
	}
	replaysWithoutAgents(t, cfg, dir)
}

// recordedKinds counts the entries of a run's journal.
func recordedKinds(t testing.TB, dir string) map[journal.Kind]int {
	t.Helper()
	j, err := journal.Open(t.Context(), filepath.Join(dir, "run.db"), journal.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	kinds := map[journal.Kind]int{}
	err = j.Each(t.Context(), func(r journal.Record) error {
		kinds[r.Kind]++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return kinds
}

// What the agent did is recorded as calls of tools, which is what analysts are shown.
func TestAgentsLeaveATrajectory(t *testing.T) {
	t.Parallel()
	cfg := agentConfig(t)
	cfg.Agent.Keep = "all"
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := skillopt.Evaluate(t.Context(), cfg, "test", append(inProcess(t), skillopt.WithRunDir(dir))...); err != nil {
		t.Fatal(err)
	}
	work, err := filepath.Glob(filepath.Join(dir, "workspaces", "*", "work", ".agents", "skills", "*", "SKILL.md"))
	if err != nil || len(work) == 0 {
		t.Fatalf("no workspace holds the skill: %v", err)
	}
	j, err := journal.Open(t.Context(), filepath.Join(dir, "run.db"), journal.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	episodes := 0
	for r, err := range j.Results(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind != journal.Episode {
			continue
		}
		episodes++
		var did struct {
			Turns []struct{ Kind, Action string }
		}
		if err := json.Unmarshal(r.Result, &did); err != nil {
			t.Fatal(err)
		}
		var calls []string
		for _, turn := range did.Turns {
			if turn.Kind == "tool_call" {
				calls = append(calls, turn.Action)
			}
		}
		if len(calls) != 2 || !strings.HasPrefix(calls[0], "bash ") || !strings.Contains(calls[1], "answer.txt") {
			t.Fatalf("%s did %v", r.Key, calls)
		}
	}
	if episodes == 0 {
		t.Error("no episode is recorded")
	}
}

// noCalls is a model that must not be asked.
type noCalls struct{ t testing.TB }

func (n noCalls) Generate(context.Context, model.Request) (model.Response, error) {
	n.t.Error("a call was paid again")
	return model.Response{}, &model.Error{Code: model.BadRequest, Err: errors.New("a call was paid again")}
}
