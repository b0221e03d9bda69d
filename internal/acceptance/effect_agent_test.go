package acceptance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
)

// job is an evaluation of a few tasks by an agent.
type job struct {
	change  func(*config.Config)
	command string // that the agent's model has it run, before it says "done"
	tasks   int
	pause   time.Duration // of each answer of the model
}

// done is what can be seen of it.
type done struct {
	err     error
	sum     *result.Evaluation
	prompts []string
	work    map[string]string // the workspaces' files that were kept, by their path without the workspace
	peak    int
}

// hard is the hard score of the test split, or that there is none.
func (d done) hard() string {
	if d.sum == nil || d.sum.Splits["test"].N == 0 {
		return "not measured"
	}
	return fmt.Sprint(d.sum.Splits["test"].Hard)
}

// agentDoes evaluates a skill with an agent.
func agentDoes(t *testing.T, j job) done {
	t.Helper()
	needsSandbox(t)
	cfg := config.Default()
	cfg.Agent.Name, cfg.Agent.Keep = "builtin", "all"
	cfg.Tasks.Checks = []any{map[string]any{"type": "equals", "value": "done"}}
	cfg.Skill = filepath.Join(guaranteeDir, "SKILL.md")
	cfg.Limits.Concurrency = 8
	if j.change != nil {
		j.change(&cfg)
	}
	var tasks []task.Task
	for i := range max(1, j.tasks) {
		tasks = append(tasks, task.Task{ID: fmt.Sprint("t", i), Prompt: fmt.Sprint("Do ", i), Gold: []string{"done"}, Split: task.Test})
	}
	var out done
	var mu sync.Mutex
	inFlight := 0
	client := modeltest.Func(func(ctx context.Context, req model.Request) (model.Response, error) {
		mu.Lock()
		inFlight++
		out.peak = max(out.peak, inFlight)
		out.prompts = append(out.prompts, req.Messages[len(req.Messages)-1].Text())
		mu.Unlock()
		defer func() {
			mu.Lock()
			inFlight--
			mu.Unlock()
		}()
		if j.pause > 0 {
			timer := time.NewTimer(j.pause)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
				return model.Response{}, ctx.Err()
			}
		}
		if j.command == "" || req.Messages[len(req.Messages)-1].Role == model.ToolRole {
			return model.Response{Text: "done", Finish: model.FinishStop}, nil
		}
		args, err := json.Marshal(map[string]string{"command": j.command})
		return model.Response{Finish: model.FinishTools, Parts: []model.Part{{Call: &model.ToolCall{ID: "c1", Name: "bash", Arguments: args}}}}, err
	})
	dir := filepath.Join(t.TempDir(), "run")
	l, err := config.Load(config.Options{Dir: t.TempDir(), Lookup: func(name string) (string, bool) {
		if name == "PATH" {
			return os.Getenv(name), true
		}
		return "value-of-" + name, name == "FOR_THE_AGENT"
	}})
	if err != nil {
		t.Fatal(err)
	}
	l.Config = cfg
	out.sum, out.err = skillopt.Evaluate(t.Context(), cfg, "test", skillopt.WithTasks(tasks), skillopt.WithClient(model.Target, "scripted", client),
		skillopt.WithRunDir(dir), skillopt.WithLoaded(l))
	out.work = map[string]string{}
	work, _ := filepath.Glob(filepath.Join(dir, "workspaces", "*", "work"))
	for _, w := range work {
		err := filepath.WalkDir(w, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			rel, _ := filepath.Rel(w, path)
			out.work[filepath.ToSlash(rel)] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// agentEffects are those of the section agent.
func agentEffects() map[string]effect {
	see := func(base job, change func(*config.Config), what func(done) any) effect {
		return effect{test: func(t *testing.T) {
			changed := base
			changed.change = func(c *config.Config) {
				if base.change != nil {
					base.change(c)
				}
				change(c)
			}
			before, after := what(agentDoes(t, base)), what(agentDoes(t, changed))
			if fmt.Sprint(before) == fmt.Sprint(after) {
				t.Errorf("nothing changed: %v", after)
			}
		}}
	}
	custom := func(argv ...any) func(*config.Config) {
		return func(c *config.Config) {
			c.Agent.Name, c.Agent.Gateway, c.Agent.Custom = "custom", false, map[string]any{"argv": argv}
		}
	}
	files := func(d done) any { return fmt.Sprint(d.work, d.err) }
	outside := "touch \"$(dirname \"$PWD\")/outside\"; ls .. > seen.txt"
	return map[string]effect{
		"agent.name":    see(job{}, custom("sh", "-c", "echo other"), func(d done) any { return len(d.prompts) }),
		"agent.command": see(job{change: func(c *config.Config) { c.Agent.Name = "pi" }}, func(c *config.Config) { c.Agent.Command = "/no/such/pi" }, func(d done) any { return d.err }),
		"agent.mode":    see(job{}, func(c *config.Config) { c.Agent.Mode = "read" }, func(d done) any { return d.prompts }),
		"agent.file": {test: func(t *testing.T) {
			got := agentDoes(t, job{change: func(c *config.Config) { c.Agent.Mode, c.Agent.File = "file", "docs/HOUSE.md" }})
			if got.work["docs/HOUSE.md"] == "" || len(got.work) != 1 {
				t.Errorf("the workspace holds %v: %v", got.work, got.err)
			}
		}},
		"agent.documents": {test: func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "notes.md"), []byte("beside"), 0o600); err != nil {
				t.Fatal(err)
			}
			got := agentDoes(t, job{change: func(c *config.Config) {
				c.Agent.Documents = map[string]string{".github/NOTES.md": filepath.Join(dir, "notes.md")}
			}})
			if got.work[".github/NOTES.md"] != "beside" {
				t.Errorf("the workspace holds %v: %v", got.work, got.err)
			}
		}},
		"agent.skill_name": see(job{}, func(c *config.Config) { c.Agent.SkillName = "elsewhere" }, func(d done) any { return d.work[".agents/skills/elsewhere/SKILL.md"] != "" }),
		"agent.workspace": {test: func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "given.txt"), []byte("given"), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := agentDoes(t, job{change: func(c *config.Config) { c.Agent.Workspace = dir }}); got.work["given.txt"] != "given" {
				t.Errorf("the workspace holds %v: %v", got.work, got.err)
			}
		}},
		"agent.repository": {test: func(t *testing.T) {
			_, printed := attack(t, goVictim(), map[string]string{"look": "git rev-list --all --count; cat calc.go"})
			if got := printed["look"]; !strings.HasPrefix(got, "1\n") || !strings.Contains(got, "a - b") {
				t.Errorf("the workspace is not the commit of the task: %q", got)
			}
		}},
		"agent.timeout": {test: func(t *testing.T) {
			got := agentDoes(t, job{command: "sleep 60", change: func(c *config.Config) { c.Agent.Timeout = config.Duration(300 * time.Millisecond) }})
			if got.err != nil || got.hard() != "0" {
				t.Errorf("an agent that passes its deadline has failed at the task, got %s, %v", got.hard(), got.err)
			}
		}},
		"agent.gateway": see(job{change: func(c *config.Config) {
			custom("sh", "-c", "echo {{base_url}}done")(c)
			c.Agent.Gateway = true
			c.Agent.Custom["wire"] = "chat"
		}}, func(c *config.Config) { c.Agent.Gateway = false }, func(d done) any { return d.hard() }),
		"agent.sandbox":      see(job{command: outside}, func(c *config.Config) { c.Agent.Sandbox = "off" }, func(d done) any { return strings.Contains(d.work["seen.txt"], "outside") }),
		"agent.network":      {test: agentConnects},
		"agent.hosted_tools": {test: vendorsToolsPass},
		"agent.workspace_tools": {test: func(t *testing.T) {
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, ".gemini"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, ".gemini", "settings.json"), []byte("{}"), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, brings := range []bool{false, true} {
				got := agentDoes(t, job{change: func(c *config.Config) {
					c.Agent.Name, c.Agent.Command, c.Agent.Workspace, c.Agent.WorkspaceTools = "gemini", "true", dir, brings
				}})
				if _, there := got.work[".gemini/settings.json"]; there != brings {
					t.Errorf("with agent.workspace_tools %v the workspace has %v: %v", brings, got.work, got.err)
				}
			}
		}},
		"agent.read": {test: func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "tool.txt"), []byte("read"), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, list := range [][]string{nil, {dir}} {
				got := agentDoes(t, job{command: "cat " + dir + "/tool.txt > seen.txt; true", change: func(c *config.Config) { c.Agent.Read = list }})
				if want := map[bool]string{true: "read"}[len(list) > 0]; got.work["seen.txt"] != want || got.err != nil {
					t.Errorf("with agent.read %v it read %q: %v", list, got.work["seen.txt"], got.err)
				}
			}
		}},
		"agent.pass_env": see(job{command: `echo "$FOR_THE_AGENT" > env.txt`}, func(c *config.Config) { c.Agent.PassEnv = []string{"FOR_THE_AGENT"} }, files),
		"agent.slots": {test: func(t *testing.T) {
			one := agentDoes(t, job{tasks: 6, pause: 20 * time.Millisecond, change: func(c *config.Config) { c.Agent.Slots = 1 }})
			four := agentDoes(t, job{tasks: 6, pause: 20 * time.Millisecond, change: func(c *config.Config) { c.Agent.Slots = 4 }})
			if one.peak != 1 || four.peak < 2 {
				t.Errorf("%d and %d agents at a time, want 1 and several", one.peak, four.peak)
			}
		}},
		"agent.keep":   see(job{}, func(c *config.Config) { c.Agent.Keep = "none" }, func(d done) any { return len(d.work) }),
		"agent.custom": see(job{change: custom("sh", "-c", "echo done")}, custom("sh", "-c", "echo other"), func(d done) any { return d.hard() }),
	}
}

// agentLimitEffects are those of the section agent.limits: an agent that uses more has failed
// at its task, one that uses less has not.
func agentLimitEffects() map[string]effect {
	uses := func(script string, change func(*config.AgentLimits)) effect {
		return effect{test: func(t *testing.T) {
			for _, limited := range []bool{false, true} {
				got := agentDoes(t, job{change: func(c *config.Config) {
					c.Agent.Name, c.Agent.Gateway, c.Agent.Custom = "custom", false, map[string]any{"argv": []any{"sh", "-c", script + "; echo done"}}
					if limited {
						change(&c.Agent.Limits)
					}
				}})
				if want := map[bool]string{false: "1", true: "0"}[limited]; got.err != nil || got.hard() != want {
					t.Errorf("limited %v: hard is %s, want %s: %v", limited, got.hard(), want, got.err)
				}
			}
		}}
	}
	return map[string]effect{
		"agent.limits.memory":    uses("x=$(head -c 60000000 /dev/zero | tr '\\0' x); sleep 1", func(l *config.AgentLimits) { l.Memory = 32 << 20 }),
		"agent.limits.processes": uses("for i in 1 2 3 4 5 6; do sleep 1 & done; wait", func(l *config.AgentLimits) { l.Processes = 3 }),
		"agent.limits.written":   uses("head -c 60000000 /dev/zero >big; sync; sleep 1", func(l *config.AgentLimits) { l.Written = 16 << 20 }),
		"agent.limits.cpu":       uses("i=0; while [ $i -lt 2000000 ]; do i=$((i+1)); done", func(l *config.AgentLimits) { l.CPU = config.Duration(200 * time.Millisecond) }),
	}
}

// withAgent adds the effects of the section agent.
func withAgent(all map[string]effect) map[string]effect {
	maps.Copy(all, agentEffects())
	maps.Copy(all, agentLimitEffects())
	return all
}

// agentConnects proves that an agent reaches nothing unless it may.
func agentConnects(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	try := fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d && echo yes > reached.txt; true", listener.Addr().(*net.TCPAddr).Port)
	for _, network := range []bool{false, true} {
		got := agentDoes(t, job{command: try, change: func(c *config.Config) { c.Agent.Network = network }})
		if reached := got.work["reached.txt"] == "yes\n"; reached != network || got.err != nil {
			t.Errorf("agent.network %v: reached %v, %v", network, reached, got.err)
		}
	}
}

// vendorsToolsPass proves that a tool which runs at the vendor reaches it when it is
// allowed, and not otherwise.
func vendorsToolsPass(t *testing.T) {
	var sent atomic.Value
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		sent.Store(string(body))
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"message":{"role":"assistant","content":"fine"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`)
	}))
	t.Cleanup(vendor.Close)
	for _, allowed := range [][]string{nil, {"web_search"}} {
		cfg := config.Default()
		target := &cfg.Models.Target
		target.Provider, target.Model, target.BaseURL = "compatible", "m", vendor.URL+"/v1"
		cfg.Agent.HostedTools = allowed
		g, err := skillopt.OpenGateway(t.Context(), cfg, skillopt.GatewayOptions{}, skillopt.WithRunDir(filepath.Join(t.TempDir(), "run")))
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.URL+"/v1/chat/completions",
			strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"web_search"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+g.Key)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if body, _ := sent.Load().(string); resp.StatusCode != http.StatusOK || strings.Contains(body, "web_search") != (allowed != nil) {
			t.Errorf("agent.hosted_tools %v: status %d, sent %s", allowed, resp.StatusCode, body)
		}
		if _, err := g.Close(); err != nil {
			t.Error(err)
		}
	}
}
