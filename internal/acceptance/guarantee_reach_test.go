package acceptance_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// project is the folder of a config with an agent that looks around.
type project struct {
	dir  string
	home string // HOME, "" = not set
	path string // folders before those of the PATH
}

// nosy is an agent that prints what it can read of the project, and of the folders
// of other runs.
const nosy = `#!/bin/sh
for f in tasks.jsonl .env config.yaml SKILL.md runs/old/run.db; do
  if cat "$PROJECT/$f" >/dev/null 2>&1; then echo "read $f"; fi
done
echo done
`

// newProject lays a project into dir, with files that no agent is to read.
func newProject(t *testing.T, dir string) project {
	t.Helper()
	needsSandbox(t)
	for name, text := range map[string]string{
		"tasks.jsonl": `{"id": "t1", "prompt": "Do it", "gold": ["the gold"], "split": "test"}`, ".env": "A_KEY=a-secret-key-0123456789\n",
		"SKILL.md": "be kind\n", "runs/old/run.db": "gold of old runs",
	} {
		place(t, filepath.Join(dir, name), text)
	}
	return project{dir: dir}
}

// place writes a file and the folders above it.
func place(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, path, text)
}

// program writes an executable file, and returns its path.
func program(t *testing.T, path, text string) string {
	t.Helper()
	place(t, path, text)
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// evaluate has an agent carry out the task of the project. more is further
// configuration.
func (p project) evaluate(t *testing.T, agent, more string) (trajectory.Outcome, error) {
	t.Helper()
	write(t, filepath.Join(p.dir, "config.yaml"), `
skill: SKILL.md
tasks: {path: tasks.jsonl, checks: [{type: one-of, values: [done, the gold]}]}
run: {dir: `+filepath.Join(p.dir, "runs")+`}
agent:
  name: custom
  gateway: false
  custom: {argv: [`+agent+`], env: {PROJECT: `+p.dir+`}}
`+more)
	l, err := config.Load(config.Options{Path: p.dir, Dir: p.dir, Lookup: func(name string) (string, bool) {
		switch name {
		case "PATH":
			return p.path + string(os.PathListSeparator) + os.Getenv("PATH"), true
		case "HOME":
			return p.home, p.home != ""
		}
		return "", false
	}})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(p.dir, "runs", "new")
	_, err = skillopt.Evaluate(t.Context(), l.Config, "test", skillopt.WithRunDir(dir), skillopt.WithLoaded(l))
	return outcomesIn(t, dir)["t1"], err
}

// An agent that lies in the project, or in a project that lies where a system has
// programs, reads nothing of it.
func TestNoAgentReadsTheProject(t *testing.T) {
	t.Parallel()
	for _, below := range []string{"", "/opt", "/usr/src"} {
		t.Run("below "+below, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if below != "" {
				made, err := os.MkdirTemp(below, "skillopt-test-")
				if err != nil {
					t.Skip(err)
				}
				t.Cleanup(func() { _ = os.RemoveAll(made) })
				dir = made
			}
			p := newProject(t, dir)
			got, err := p.evaluate(t, program(t, filepath.Join(dir, "bin", "agent"), nosy), "")
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != score.OK || strings.Contains(got.Answer, "read ") || got.Hard != 1 {
				t.Errorf("%s %s: it says %q", got.Status, got.FailReason, got.Answer)
			}
		})
	}
}

// agent.read and HOME are checked when a run is prepared: a folder with what is kept
// from programs is bad input, named with what it conflicts with, before any call.
func TestWhatMayNotBeRead(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		entry string
		want  string // "" = allowed
		home  string // relative to the project's parent
	}{
		"everything":                  {entry: "/", want: "agent.read: / contains"},
		"the folder above the config": {entry: "..", want: "contains the folder of the config"},
		"the config's folder":         {entry: ".", want: "contains the folder of the config"},
		"a folder of the config's":    {entry: "data", want: "lies in the folder of the config"},
		"the runs":                    {entry: "runs", want: "contains run.dir"},
		"another run":                 {entry: "runs/old", want: "lies in run.dir"},
		"a link to the runs":          {entry: "../away/link", want: "contains run.dir"},
		"the tasks":                   {entry: "tasks.jsonl", want: "contains tasks.path"},
		"the folder of workspaces":    {entry: os.TempDir(), want: "contains the folder of"},
		"home":                        {entry: "~", want: "contains the home folder", home: "home"},
		"above home":                  {entry: "../home", want: "contains the home folder", home: "home/me"},
		"below home":                  {entry: "~/tool", home: "home"},
		"a tool":                      {entry: "../tool"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			p := newProject(t, filepath.Join(top, "p"))
			if tt.home != "" {
				p.home = filepath.Join(top, tt.home)
				place(t, filepath.Join(p.home, "tool", "x"), "x")
			}
			place(t, filepath.Join(p.dir, "data", "x"), "x")
			place(t, filepath.Join(top, "tool", "x"), "x")
			place(t, filepath.Join(top, "away", "x"), "x")
			if err := os.Symlink("../p/runs", filepath.Join(top, "away", "link")); err != nil {
				t.Fatal(err)
			}
			_, err := p.evaluate(t, program(t, filepath.Join(top, "agent", "a"), nosy), "  read: ['"+tt.entry+"']\n")
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if kind(err) != skillopt.BadInput || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("want %q, got %s: %v", tt.want, kind(err), err)
			}
			if _, err := os.Stat(filepath.Join(p.dir, "runs", "new")); err == nil {
				t.Error("a run was begun")
			}
		})
	}
}

// The folder of the agent's own program may be named, where nothing else is.
func TestPackageInTheProject(t *testing.T) {
	t.Parallel()
	const text = "#!/bin/sh\ncat \"$(dirname \"$0\")/said\"\n"
	for read, ok := range map[string]bool{"": false, "  read: [agent]\n": true} {
		p := newProject(t, t.TempDir())
		agent := program(t, filepath.Join(p.dir, "agent", "a"), text)
		place(t, filepath.Join(p.dir, "agent", "said"), "done")
		got, err := p.evaluate(t, agent, read)
		if (err == nil) != ok || (got.Status == score.OK) != ok {
			t.Errorf("with %q: %s %s, %v", read, got.Status, got.FailReason, err)
		}
	}
}

// The built-in agent and the commands of checks are held to the same, and doctor says
// what it comes to.
func TestReachOfChecks(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]string{"..": "contains the folder of the config", "../tool": ""} {
		top := t.TempDir()
		p := newProject(t, filepath.Join(top, "p"))
		place(t, filepath.Join(top, "tool", "x"), "x")
		cfg := config.Default()
		cfg.Tasks.Path, cfg.Skill = filepath.Join(p.dir, "tasks.jsonl"), filepath.Join(p.dir, "SKILL.md")
		cfg.Tasks.Checks = []any{map[string]any{"type": "command", "run": "cat ../tool/x; cat " + filepath.Join(top, "tool", "x")}}
		cfg.Agent.Name, cfg.Agent.Read, cfg.Run.Dir = "builtin", []string{entry}, filepath.Join(top, "runs")
		calls := 0
		client := modeltest.Func(func(context.Context, model.Request) (model.Response, error) {
			calls++
			return model.Response{Text: "done", Finish: model.FinishStop}, nil
		})
		opts := []skillopt.Option{
			skillopt.WithLoaded(config.Detached(cfg, p.dir)), skillopt.WithClient(model.Target, "c", client), skillopt.WithClient(model.Optimizer, "c", client),
		}
		_, err := skillopt.Evaluate(t.Context(), cfg, "test", opts...)
		if (err == nil) != (want == "") || want != "" && (kind(err) != skillopt.BadInput || !strings.Contains(err.Error(), want) || calls > 0) {
			t.Errorf("with %s after %d calls: %s: %v", entry, calls, kind(err), err)
		}
		var said string
		for _, row := range skillopt.Examine(t.Context(), cfg, opts...).Rows {
			if row.Name == "readable" && row.OK == (want == "") {
				said = row.Detail
			}
		}
		if named := map[bool]string{true: filepath.Join(top, "tool"), false: want}[want == ""]; !strings.Contains(said, named) {
			t.Errorf("with %s doctor says %q", entry, said)
		}
	}
}

// A project in a folder that every program reads is refused.
func TestProjectAmongTheSystem(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("/usr/local/share", "skillopt-test-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := newProject(t, dir)
	_, err = p.evaluate(t, "sh, -c, echo done", "")
	if kind(err) != skillopt.BadInput || !strings.Contains(err.Error(), "/usr/local/share contains the folder of the config") || !strings.Contains(err.Error(), "move the folder of the config") {
		t.Errorf("%s: %v", kind(err), err)
	}
}
