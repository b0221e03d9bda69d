package acceptance_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/gateway"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/internal/testing/agenttest"
	"github.com/seed-f4525e22/skillopt/model"
)

// childKey is the variable with the key of the model server of a child that
// trains an agent.
const childKey = "SKILLOPT_TEST_CHILD_KEY"

// childAgent is the variable with the agent of such a child and its program,
// NAME=PROGRAM; without it the built-in one works.
const childAgent = "SKILLOPT_TEST_CHILD_AGENT"

// slots is how many agents work at a time in it.
const slots = 2

func killableAgent(t *testing.T, url string) (config.Config, []skillopt.Option) {
	t.Helper()
	cfg := agentConfig(t)
	key := childKey
	cfg.Models.Target.Provider, cfg.Models.Target.BaseURL, cfg.Models.Target.APIKeyEnv = "compatible", url+"/v1", &key
	cfg.SlowUpdate.Enabled, cfg.MetaSkill.Enabled = false, false
	cfg.Train.BatchSize, cfg.Edits.Budget, cfg.Edits.MinBudget = 4, 1, 1
	cfg.Agent.Slots = slots
	if name, program, ok := strings.Cut(os.Getenv(childAgent), "="); ok {
		cfg.Agent.Name, cfg.Agent.Command, cfg.Agent.Timeout = name, program, config.Duration(3*time.Minute)
		cfg.Models.Target.Temperature, cfg.Models.Target.Headers = nil, nil
	}
	l, err := config.Load(config.Options{Dir: t.TempDir(), Lookup: os.LookupEnv})
	if err != nil {
		t.Fatal(err)
	}
	l.Config = cfg
	return cfg, []skillopt.Option{
		skillopt.WithLoaded(l), skillopt.WithTasks(fewTasks(t)), skillopt.WithClient(model.Optimizer, "world", sim.New(simulated(t))),
	}
}

// TestKillAgentChild is not a test: it is the process that
// TestKilledAgentsRepeatNoEpisode starts and kills.
func TestKillAgentChild(t *testing.T) {
	url, dir := os.Getenv(childURL), os.Getenv(childDir)
	if url == "" || os.Getenv(childKey) == "" {
		t.Skip("it is run by TestKilledAgentsRepeatNoEpisode")
	}
	cfg, opts := killableAgent(t, url)
	trained(t, cfg, dir, opts...)
}

// hangman counts the episodes that begin at a model server, and kills a process
// when a certain one does.
type hangman struct {
	mu     sync.Mutex
	begun  int
	at     int
	victim *os.Process
}

func (h *hangman) observe(e gateway.Exchange) {
	if slices.ContainsFunc(e.Request.Messages, func(m model.Message) bool { return m.Role == model.ToolRole }) {
		return // an episode goes on
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begun++
	if h.begun == h.at {
		_ = h.victim.Kill() // it has ended by itself if this fails, and the test notices
	}
}

func (h *hangman) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.begun
}

// Episodes of agents that were finished when a run was killed are not repeated,
// those under way are, and the result is that of a run that nobody killed.
func TestKilledAgentsRepeatNoEpisode(t *testing.T) {
	t.Parallel()
	notes(t, agenttest.Result{Agent: "builtin", Behaviour: agenttest.Killed})
	killed(t, "", 4)
}

// TestRealAgentsAreKilled is the same with real agents, which are killed once. It takes
// minutes, and is run where results are kept.
func TestRealAgentsAreKilled(t *testing.T) {
	if os.Getenv(agenttest.FileVar) == "" {
		t.Skip(agenttest.FileVar + " is not set: whole runs of each agent, minutes long, are killed only to fill the table of docs/agents.md")
	}
	dir := realAgents(t)
	for _, name := range []string{"pi", "codex", "claude", "copilot", "gemini", "opencode", "qwen"} {
		t.Run(name, func(t *testing.T) {
			program, version := realProgram(t, dir, name)
			notes(t, agenttest.Result{Agent: name, Version: version, Behaviour: agenttest.Killed})
			killed(t, name+"="+program, 1)
		})
	}
}

// killed kills a run with an agent so many times, resumes it, and compares it with one
// that nobody killed.
func killed(t *testing.T, agent string, kills int) {
	t.Helper()
	needsSandbox(t)
	world := simulated(t)
	if agent != "" { // what real agents send differs from run to run, and with it what chance does
		world = deterministicWorld(t)
	}
	h := &hangman{}
	g, err := gateway.New(gateway.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	s, err := g.Open(gateway.Session{
		Client: sim.New(world), Tags: model.Tags{Stage: model.StageRollout, Role: model.Target}, Observe: h.observe,
	})
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// What a child that is killed leaves is not for the machine to keep.
	temp, err := os.MkdirTemp("", "killed-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(temp)
	start := func(dir string, at int) error {
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestKillAgentChild$", "-test.v=false")
		cmd.Env = append(os.Environ(), childURL+"="+g.URL(), childDir+"="+dir, childKey+"="+s.Key(), childAgent+"="+agent, "TMPDIR="+temp)
		h.mu.Lock()
		h.at = at
		if err := cmd.Start(); err != nil {
			h.mu.Unlock()
			return err
		}
		h.victim = cmd.Process
		h.mu.Unlock()
		return cmd.Wait()
	}
	clean := filepath.Join(t.TempDir(), "run")
	if err := start(clean, 0); err != nil {
		t.Fatal(err)
	}
	total := h.count()
	dir := filepath.Join(t.TempDir(), "run")
	rng := rand.New(rand.NewPCG(3, 5))
	for i := range kills {
		if err := start(dir, h.count()+2+rng.IntN(total/(kills+1))); err == nil {
			t.Fatalf("kill %d missed the run", i+1)
		}
	}
	if err := start(dir, 0); err != nil {
		t.Fatal(err)
	}
	sameResults(t, results(t, clean), dir)
	if n := recordedKinds(t, dir)[journal.Episode]; n != total {
		t.Errorf("%d episodes are recorded, want %d", n, total)
	}
	if repeated := h.count() - 2*total; repeated < 1 || repeated > kills*slots {
		t.Errorf("%d episodes were repeated after %d kills of runs with %d agents at a time", repeated, kills, slots)
	}
}
