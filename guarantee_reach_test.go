package skillopt_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/config"
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
tasks: {path: tasks.jsonl, checks: [{type: equals, value: done}]}
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
