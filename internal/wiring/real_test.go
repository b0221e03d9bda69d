package wiring

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/proof"
	"github.com/seed-f4525e22/skillopt/internal/reach"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/testing/agenttest"
)

func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	os.Exit(m.Run())
}

// agentsDirVar names the folder into which .ci/agents/install.sh put real agents.
const agentsDirVar = agenttest.DirVar

// realPath is a search path with the real agents, and the environment with it.
func realPath(t *testing.T) (dir string, lookup func(string) (string, bool)) {
	t.Helper()
	if dir = os.Getenv(agentsDirVar); dir == "" {
		t.Skipf("%s is not set: real agents are not tested; .ci/agents/install.sh DIR installs them", agentsDirVar)
	}
	if why, err := os.ReadFile(filepath.Join(dir, "unavailable")); err == nil {
		t.Skipf("real agents are not tested: %s", bytes.TrimSpace(why))
	}
	path := filepath.Join(dir, "node_modules", ".bin") + string(os.PathListSeparator) + os.Getenv("PATH")
	return dir, func(name string) (string, bool) {
		if name == "PATH" {
			return path, true
		}
		return os.LookupEnv(name)
	}
}

// realConfig is an agent as a config has it.
func realConfig(name string) config.Agent {
	c := config.Default().Agent
	c.Name = name
	return c
}

// TestRealProof proves the real agents, each with a model that it does not know.
func TestRealProof(t *testing.T) {
	dir, lookup := realPath(t)
	for _, name := range agent.Names() {
		if _, err := os.Stat(filepath.Join(dir, "node_modules", ".bin", name)); err != nil && name != agent.BuiltinName {
			continue
		}
		t.Run(name, func(t *testing.T) {
			version, err := CheckAgent(t.Context(), realConfig(name), lookup)
			if err != nil {
				t.Skip(err)
			}
			res := proveReal(t, name, "some-model", lookup)
			if !res.OK || len(res.Notes) > 0 {
				t.Errorf("not proven: %+v", res)
			}
			all := strings.Join(res.Shown, ", ")
			for behaviour, shown := range map[string][]string{
				agenttest.Skill: {"the skill was loaded"}, agenttest.Usage: {"tokens were counted"},
				agenttest.Folder: {"a reference of the skill was read", "a script of the skill ran"},
			} {
				found := agenttest.Result{Agent: name, Version: version, Behaviour: behaviour, OK: !slices.ContainsFunc(shown, func(s string) bool { return !strings.Contains(all, s) })}
				if !found.OK && behaviour == agenttest.Folder {
					t.Errorf("%s: not shown: %+v", behaviour, res)
				}
				if strings.Contains(all, "it reports no tokens") && behaviour == agenttest.Usage {
					continue // there is nothing to compare
				}
				if err := agenttest.Append(os.Getenv(agenttest.FileVar), found); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestRealFile proves the real agents with each document that they are said to read: its text
// reaches the model without anybody asking for it. With those that they are not said to read,
// nothing is started.
func TestRealFile(t *testing.T) {
	dir, lookup := realPath(t)
	for _, name := range agent.Names() {
		if _, err := os.Stat(filepath.Join(dir, "node_modules", ".bin", name)); err != nil && name != agent.BuiltinName {
			continue
		}
		a, err := NewAgent(realConfig(name), reach.Guard{}, lookup)
		if err != nil {
			t.Fatal(err)
		}
		files := a.Reads()
		if name == agent.BuiltinName {
			files = []string{"docs/HOUSE.md"}
		}
		for _, file := range files {
			t.Run(name+"/"+file, func(t *testing.T) {
				c := realConfig(name)
				c.Mode, c.File = string(agent.File), file
				if _, err := CheckAgent(t.Context(), c, lookup); err != nil {
					t.Skip(err)
				}
				res, err := ProveAgent(t.Context(), c, reach.Guard{}, config.Model{Model: "some-model"}, lookup)
				if err != nil || !res.OK || !strings.Contains(strings.Join(res.Shown, ", "), file+" was read") {
					t.Errorf("not proven: %+v, %v", res, err)
				}
			})
		}
	}
}

func proveReal(t *testing.T, name, as string, lookup func(string) (string, bool)) proof.Result {
	t.Helper()
	res, err := ProveAgent(t.Context(), realConfig(name), reach.Guard{}, config.Model{Model: as}, lookup)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s with %s: %+v", name, as, res)
	return res
}

// TestRealToolsInCode has codex work with a model to which it offers its tools as
// items of the conversation. Either they reach the model, or the proof says what was
// left out.
func TestRealToolsInCode(t *testing.T) {
	dir, lookup := realPath(t)
	if _, err := os.Stat(filepath.Join(dir, "node_modules", ".bin", "codex")); err != nil {
		t.Skip("codex is not there")
	}
	res := proveReal(t, "codex", "gpt-6.1-sol", lookup)
	if wrong := strings.Join(res.Wrong, "; "); !res.OK && !strings.Contains(wrong, "additional_tools") {
		t.Errorf("the proof does not name what was left out: %q", res.Wrong)
	}
}
