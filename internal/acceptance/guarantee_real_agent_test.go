package acceptance_test

import (
	"os"
	"path/filepath"
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
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// countingServer is a model server over real HTTP that plays the simulated world
// and counts what it answered.
type countingServer struct {
	url, key string

	mu    sync.Mutex
	calls int64
	usage trajectory.Usage
}

// deterministicWorld is the simulated world in which no answer changes by chance: what is tried is
// whether an agent's tools work, and some protocols hand on a seed, others do not.
func deterministicWorld(t *testing.T) *sim.World {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(guaranteeDir, "world.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	still := strings.Replace(string(text), "flip: 0.02", "flip: 0", 1)
	if still == string(text) {
		t.Fatal("the world flips in another way than this test knows")
	}
	w, err := sim.Parse("world.yaml", []byte(still))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func startCounting(t *testing.T, w *sim.World) *countingServer {
	t.Helper()
	return startAnswering(t, sim.New(w))
}

// startAnswering starts a server whose model is client.
func startAnswering(t *testing.T, client model.Client) *countingServer {
	t.Helper()
	g, err := gateway.New(gateway.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	c := &countingServer{url: g.URL()}
	h, err := g.Open(gateway.Session{
		Client: client, Concurrency: 64, Tags: model.Tags{Stage: model.StageRollout, Role: model.Target},
		Observe: func(e gateway.Exchange) {
			c.mu.Lock()
			defer c.mu.Unlock()
			if e.Err == nil {
				c.calls++
				c.usage = c.usage.Add(e.Response.Usage)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	c.key = h.Key()
	return c
}

func (c *countingServer) seen() (int64, trajectory.Usage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls, c.usage
}

// agentsDirVar names the folder into which .ci/agents/install.sh put real agents.
const agentsDirVar = agenttest.DirVar

// TestRealAgentsAreTrained trains a skill for a real coding agent: it works in
// its sandbox, its model is reached through the gateway, commands score the files
// that it leaves. What the ledger says was used is what the server counted.
func TestRealAgentsAreTrained(t *testing.T) {
	t.Parallel()
	dir := realAgents(t)
	for _, name := range []string{"pi", "codex", "claude", "copilot", "gemini", "opencode", "qwen"} {
		t.Run(name, func(t *testing.T) {
			program, version := realProgram(t, dir, name)
			t.Parallel()
			notes(t, agenttest.Result{Agent: name, Version: version, Behaviour: agenttest.Trained})
			trainRealAgent(t, name, program, "world", "auto")
		})
	}
}

// realAgents is the folder with real agents. Without one there is nothing to try: they
// are other people's programs, which .ci/run fetches where it can.
func realAgents(t *testing.T) string {
	t.Helper()
	dir := os.Getenv(agentsDirVar)
	if dir == "" {
		t.Skip("no real agents: " + agentsDirVar + " is not set, see .ci/agents")
	}
	if reason, err := os.ReadFile(filepath.Join(dir, "unavailable")); err == nil {
		t.Skip("no real agents: " + string(reason))
	}
	return dir
}

// realProgram returns the program of an agent that has what it needs.
func realProgram(t *testing.T, dir, name string) (program, version string) {
	t.Helper()
	program = filepath.Join(dir, "node_modules", ".bin", name)
	if _, err := os.Stat(program); err != nil {
		t.Skipf("%s was not installed by .ci/agents/install.sh: %v", name, err)
	}
	c := config.Default().Agent
	c.Name, c.Command = name, program
	version, err := wiring.CheckAgent(t.Context(), c, os.LookupEnv)
	if err != nil {
		t.Skip(err)
	}
	return program, version
}

// notes has the file of results told how the test ends.
func notes(t *testing.T, r agenttest.Result) {
	t.Helper()
	t.Cleanup(func() {
		if r.OK = !t.Failed(); t.Skipped() {
			return
		}
		if err := agenttest.Append(os.Getenv(agenttest.FileVar), r); err != nil {
			t.Error(err)
		}
	})
}

// TestRealCodexOfNewNames trains with names of models to which codex offers its tools
// in other ways: as tools of their own kinds, or as items of the conversation. They
// reach the model by the gateway's translation as well as in codex's own protocol.
func TestRealCodexOfNewNames(t *testing.T) {
	t.Parallel()
	dir := realAgents(t)
	for _, name := range []string{"gpt-5.5", "gpt-6.1-sol"} {
		for _, api := range []string{"chat", "responses"} {
			t.Run(name+" by "+api, func(t *testing.T) {
				program, _ := realProgram(t, dir, "codex")
				t.Parallel()
				trainRealAgent(t, "codex", program, name, api)
			})
		}
	}
}

// throughGateway gives a configuration a real agent, whose model of that name is the world
// of a server, reached by that API.
func throughGateway(t *testing.T, cfg *config.Config, server *countingServer, name, program, served, api string) skillopt.Option {
	t.Helper()
	key := "KEY_OF_THE_SERVER"
	cfg.Agent.Name, cfg.Agent.Command, cfg.Agent.Timeout = name, program, config.Duration(3*time.Minute)
	// pi is made for any server, the other two reach this one through the
	// translation of the gateway.
	cfg.Models.Target.Provider, cfg.Models.Target.Model = "compatible", served
	cfg.Models.Target.API = api
	cfg.Models.Target.BaseURL, cfg.Models.Target.APIKeyEnv = server.url+"/v1", &key
	cfg.Models.Target.Temperature, cfg.Models.Target.Headers = nil, nil
	l, err := config.Load(config.Options{Dir: t.TempDir(), Lookup: func(name string) (string, bool) {
		if name == key {
			return server.key, true
		}
		return os.LookupEnv(name)
	}})
	if err != nil {
		t.Fatal(err)
	}
	l.Config = *cfg
	return skillopt.WithLoaded(l)
}

// trainRealAgent trains with the model of that name at a server of that API.
func trainRealAgent(t *testing.T, name, program, served, api string) {
	server := startCounting(t, deterministicWorld(t))
	cfg := agentConfig(t)
	cfg.SlowUpdate.Enabled, cfg.MetaSkill.Enabled = false, false
	cfg.Train.BatchSize, cfg.Train.Epochs = 4, 4
	// The simulated optimizer is lucky or not by the words of its prompt, and agents name
	// the folder in their system message that they were installed in.
	cfg.Reflect.View = config.ViewTask
	loaded := throughGateway(t, &cfg, server, name, program, served, api)
	run := filepath.Join(t.TempDir(), "run")
	began := time.Now()
	sum, err := skillopt.Train(t.Context(), cfg, skillopt.WithRunDir(run), loaded, skillopt.WithTasks(fewTasks(t)),
		skillopt.WithClient(model.Optimizer, "world", sim.New(simulated(t))))
	if err != nil {
		t.Fatal(err)
	}
	if sum.Test.Seed == nil || sum.Test.Best == nil || sum.Test.Seed.Hard > 0 || sum.Test.Best.Hard < 1 {
		t.Errorf("test scores: seed %+v, best %+v", sum.Test.Seed, sum.Test.Best)
	}
	calls, usage := server.seen()
	inner, spent, turns := ledger(t, run)
	if inner != calls || spent != usage {
		t.Errorf("the ledger has %d calls and %+v, the server counted %d and %+v", inner, spent, calls, usage)
	}
	if turns == 0 {
		t.Error("no trajectory shows a call of a tool")
	}
	if text := readTree(t, run); strings.Contains(text, server.key) {
		t.Error("the key of the server stands in the run directory")
	}
	t.Logf("%s: %d calls, %d tokens in, %d out, %.2f -> %.2f in %s", name, calls, usage.Input, usage.Output,
		sum.Test.Seed.Hard, sum.Test.Best.Hard, time.Since(began).Round(time.Second))
}

// fewTasks are those of two kinds, for which a skill is learned in one step.
func fewTasks(t *testing.T) []task.Task {
	t.Helper()
	return tasksOfTwoKinds(t, 8)
}

// tasksOfTwoKinds are at most so many of each split.
func tasksOfTwoKinds(t *testing.T, most int) []task.Task {
	t.Helper()
	set, err := task.Load(filepath.Join(guaranteeDir, "tasks.jsonl"), task.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	var few []task.Task
	have := map[task.Split]int{}
	for _, tk := range set.Tasks() {
		if (tk.Type == "sum" || tk.Type == "name") && have[tk.Split] < most {
			have[tk.Split]++
			few = append(few, tk)
		}
	}
	return few
}

// ledger returns what the target's calls within episodes used, and how many calls
// of tools the recorded trajectories show.
func ledger(t *testing.T, run string) (calls int64, used journal.Usage, tools int) {
	t.Helper()
	j, err := journal.Open(t.Context(), filepath.Join(run, "run.db"), journal.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	var sum trajectory.Usage
	err = j.Each(t.Context(), func(r journal.Record) error {
		if r.Kind == journal.Inner {
			calls++
			sum = sum.Add(r.Usage)
		}
		if r.Kind == journal.Episode {
			tools += strings.Count(string(r.Result), `"kind":"tool_call"`)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return calls, sum, tools
}

// readTree returns all that stands in the files below a folder.
func readTree(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
