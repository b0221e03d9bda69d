package acceptance_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/testing/race"
	"github.com/seed-f4525e22/skillopt/internal/testing/sandboxtest"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// hostile is a project whose agent is this binary, which tries all probes, on a host
// that it must not reach.
type hostile struct {
	dir  string
	home string // HOME
	host *sandboxtest.Host
}

// onDisk is a temporary folder that does not lie in shared memory: there a program can
// list the folders on the way to what it is shown, which are its own and hold nothing
// else (TestFoldersInSharedMemory of internal/sandbox), and a probe cannot tell them from
// those of the project.
func onDisk(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "skillopt-probe-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // as t.TempDir, but for what a probe has locked
	return dir
}

// newHostile lays it into dir. The agent's program stands in the project.
func newHostile(t *testing.T, dir, home string) hostile {
	t.Helper()
	if race.Enabled {
		t.Skip("each probe is a process of this binary, which takes seconds to start with the race detector")
	}
	needsLandlocked(t)
	w := sandboxtest.NewHost(t, dir, 0)
	task := `{"id": %q, "prompt": %q, "gold": [%q], "split": "test"}` + "\n"
	write(t, filepath.Join(dir, "tasks.jsonl"), fmt.Sprintf(task, "a-quiet", "Keep "+w.Canary(sandboxtest.Other), "done")+
		fmt.Sprintf(task, "b-probing", "Probe", w.Canary(sandboxtest.Gold)))
	write(t, filepath.Join(dir, ".env"), "A_KEY="+w.Canary(sandboxtest.DotEnv)+"\n")
	write(t, filepath.Join(dir, "SKILL.md"), "be kind\n")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	program(t, filepath.Join(dir, "bin", "agent"), string(binary))
	return hostile{dir: dir, home: home, host: w}
}

func needsLandlocked(t *testing.T) {
	t.Helper()
	if s := sandbox.Supports(); s.Kind != "landlock" {
		t.Skip("this is promised under Landlock alone: " + s.Why)
	}
}

// evaluate has the agent carry out both tasks, one after the other. It returns the
// outcomes and the folder of the run, which has a name. act and checks are of the
// configuration.
func (h hostile) evaluate(t *testing.T, name, act, checks string) (map[string]trajectory.Outcome, string, error) {
	t.Helper()
	write(t, filepath.Join(h.dir, "config.yaml"), "# "+h.host.Canary(sandboxtest.Config)+`
skill: SKILL.md
tasks: {path: tasks.jsonl, checks: [`+checks+`]}
run: {dir: `+filepath.Join(h.dir, "runs")+`}
agent:
  name: custom
  keep: all
  slots: 1
  timeout: 3m
  custom: {argv: [`+filepath.Join(h.dir, "bin", "agent")+`, `+act+`], wire: chat, stdin: "{{prompt}}", env: {`+sandboxtest.Var+`: `+h.host.Target.Value()+`}}
`)
	l, err := config.Load(config.Options{Path: h.dir, Dir: h.dir, Lookup: func(name string) (string, bool) {
		switch name {
		case "PATH":
			return os.Getenv("PATH"), true
		case "HOME":
			return h.home, h.home != ""
		}
		return "", false
	}})
	if err != nil {
		t.Fatal(err)
	}
	h.host.Forget() // what stands there now is to stay
	client := modeltest.Func(func(context.Context, model.Request) (model.Response, error) {
		return model.Response{Text: "done", Finish: model.FinishStop}, nil
	})
	dir := filepath.Join(h.dir, "runs", name)
	_, err = skillopt.Evaluate(t.Context(), l.Config, "test", skillopt.WithRunDir(dir), skillopt.WithLoaded(l), skillopt.WithClient(model.Target, "scripted", client))
	return outcomesIn(t, dir), dir, err
}

// judge fails for each probe that reached something without an excuse, or that was not
// tried.
func (h hostile) judge(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found, err := sandboxtest.Findings(string(text))
	if err != nil {
		t.Fatal(err)
	}
	excused := sandboxtest.Excused(!sandbox.Probe().Isolated)
	for _, f := range found {
		if f.Reached && excused[f.ID()] == "" {
			t.Errorf("%s: %s: %s", filepath.Base(path), f.ID(), f.Detail)
		}
	}
	if want := len(h.host.Target.Probes()); len(found) != want {
		t.Errorf("%s: %d probes were tried, there are %d: %.300s", filepath.Base(path), len(found), want, text)
	}
}

// An agent, and what it leaves and a check executes, reach nothing outside, wherever
// the project is.
func TestProbeAgentsAndChecks(t *testing.T) {
	t.Parallel()
	for _, below := range []string{"", "/opt", "/usr/src", "bin"} {
		t.Run("below "+below, func(t *testing.T) {
			t.Parallel()
			dir, home := onDisk(t), onDisk(t)
			switch {
			case below == "bin":
				dir = filepath.Join(home, "bin", "project")
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			case below != "":
				made, err := os.MkdirTemp(below, "skillopt-test-")
				if err != nil {
					t.Skip(err)
				}
				t.Cleanup(func() { _ = os.RemoveAll(made) })
				dir = made
			}
			h := newHostile(t, dir, home)
			if below != "" { // where it is matters for files
				h.host.Target.Only = []string{"paths", "changes", "links"}
			}
			got, run, err := h.evaluate(t, "new", "plant", `{type: command, run: "`+sandboxtest.RunPlanted+`"}`)
			if err != nil {
				t.Fatal(err)
			}
			if o := got["b-probing"]; o.Status != score.OK || o.Hard != 1 {
				t.Errorf("%+v", o)
			}
			work, err := filepath.Glob(filepath.Join(run, "workspaces", "*b-probing*", "work"))
			if err != nil || len(work) != 1 {
				t.Fatalf("workspaces %v, %v", work, err)
			}
			h.judge(t, filepath.Join(work[0], sandboxtest.FoundByAgent))
			h.judge(t, filepath.Join(work[0], sandboxtest.FoundByCheck))
			for _, what := range h.host.Touched() {
				if sandbox.Probe().Isolated || !strings.HasPrefix(what, "file ") {
					t.Errorf("seen from outside: %s", what)
				}
			}
		})
	}
}

// What a check executes of an agent's leaves nothing for later episodes.
func TestProbeNothingIsKept(t *testing.T) {
	t.Parallel()
	h := newHostile(t, onDisk(t), onDisk(t))
	h.host.Target.Only = []string{"environment"}
	secret := h.host.Canary("what a check could see")
	leave := `{type: command, run: "` + sandboxtest.Var + `=@target ./` + sandboxtest.Planted + ` leave ` + secret + `"}`
	if got, _, err := h.evaluate(t, "first", "plant", leave); err != nil || got["b-probing"].Hard != 1 {
		t.Fatalf("%+v, %v", got["b-probing"], err)
	}
	got, _, err := h.evaluate(t, "second", "look", "{any: [{type: equals, value: nothing}, {type: equals}]}")
	if err != nil || got["b-probing"].Answer != "nothing" {
		t.Errorf("a later episode says %q: %+v, %v", got["b-probing"].Answer, got["b-probing"], err)
	}
}

// An agent that uses up what there is fails alone, with what it was that it used: those
// beside it have their scores.
func TestProbeExhaustion(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script string
		limits config.AgentLimits
		reason string // "" = it is scored
	}{
		"8 GB of memory":              {"tail /dev/zero; echo done", config.AgentLimits{Memory: 256 << 20}, "memory"},
		"8 GB of memory, in children": {"for i in 1 2 3 4; do tail /dev/zero & done; wait; echo done", config.AgentLimits{Memory: 256 << 20}, "memory"},
		"8 GB of shared memory":       {"for i in $(seq 8000); do head -c 1000000 /dev/zero >/dev/shm/$i || sleep 600; done; echo done", config.AgentLimits{Memory: 256 << 20}, "memory"},
		"a fork bomb":                 {"b() { b | b & }; b; sleep 600; echo done", config.AgentLimits{Processes: 64}, "processes"},
		"a full disk":                 {"for i in $(seq 8000); do head -c 1000000 /dev/zero >$i; done; echo done", config.AgentLimits{Written: 64 << 20}, "written"},
		"a hog":                       {"for i in 1 2; do while :; do :; done & done; wait; echo done", config.AgentLimits{CPU: config.Duration(2 * time.Second)}, "cpu"},
		"endless output":              {"yes", config.AgentLimits{}, "output"},
		"endless errors":              {"yes >&2", config.AgentLimits{}, "output"},
		"a sleeping grandchild":       {"(setsid sleep 600 &) ; (setsid env -i sleep 600 &); printf done", config.AgentLimits{}, ""},
		"folders in folders":          {`perl -e 'for (1..3000) { mkdir "d"; chdir "d" }'; printf done`, config.AgentLimits{}, ""},
		"10000 files":                 {`for i in $(seq 10000); do : >f$i; done; printf done`, config.AgentLimits{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			needsLandlocked(t)
			if strings.Contains(tt.script, "/dev/shm") && !sandbox.Probe().Isolated {
				t.Skip("without namespaces there is no /dev/shm to write to")
			}
			got, dir, err := rogue{script: tt.script, change: func(c *config.Config) {
				limits := &c.Agent.Limits
				limits.Memory, limits.Processes = cmp.Or(tt.limits.Memory, limits.Memory), cmp.Or(tt.limits.Processes, limits.Processes)
				limits.Written, limits.CPU = cmp.Or(tt.limits.Written, limits.Written), cmp.Or(tt.limits.CPU, limits.CPU)
			}}.run(t)
			if err != nil {
				t.Fatal(err)
			}
			want := map[bool]score.Status{true: score.OK, false: score.AgentError}[tt.reason == ""]
			if o := got["bad"]; o.Status != want || !strings.Contains(o.FailReason, tt.reason) {
				t.Errorf("%s: %s", o.Status, o.FailReason)
			}
			for _, id := range []string{"good1", "good2"} {
				if o := got[id]; o.Status != score.OK || o.Hard != 1 {
					t.Errorf("%s: %s: %s", id, o.Status, o.FailReason)
				}
			}
			if left, err := filepath.Glob(filepath.Join(dir, "workspaces", "*")); err != nil || len(left) > 0 {
				t.Errorf("workspaces are left: %v, %v", left, err)
			}
		})
	}
}
