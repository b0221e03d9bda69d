package wire

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/config"
	"github.com/seed-f4525e22/skillopt/internal/reach"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	os.Exit(m.Run())
}

// agentsDirVar names the folder into which .ci/agents/install.sh put real agents.
const agentsDirVar = "SKILLOPT_AGENTS_DIR"

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
		if _, err := os.Stat(filepath.Join(dir, "node_modules", ".bin", name)); err != nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			res, err := ProveAgent(t.Context(), realConfig(name), reach.Guard{}, config.Model{Model: "some-model"}, lookup)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", res)
			if !res.OK {
				t.Errorf("not proven: %q", res.Wrong)
			}
		})
	}
}
