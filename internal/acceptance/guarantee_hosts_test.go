package acceptance_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/testing/hosttest"
)

// user is somebody who works with a coding agent in a project, and has skillopt on the PATH.
type user struct {
	hosttest.Host
	script *hosttest.Script
}

// buildProgram builds skillopt, and returns the folder that it is in.
func buildProgram(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", dir, "../../cmd/skillopt").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// newUser returns a user of a host whose model follows a script, with the quick start in their project.
func newUser(t *testing.T, agents, bin, name string, script *hosttest.Script) user {
	t.Helper()
	program, _ := realProgram(t, agents, name)
	u := user{Host: hosttest.Host{Name: name, Program: program, Path: bin, Home: t.TempDir(), Project: t.TempDir()}, script: script}
	server := startAnswering(t, script)
	u.URL, u.Key = server.url, server.key
	if err := os.CopyFS(filepath.Join(u.Project, "quickstart"), os.DirFS(filepath.Join("..", "..", "examples", "quickstart"))); err != nil {
		t.Fatal(err)
	}
	u.Prepare(t)
	return u
}

// run runs skillopt in the project, and returns what it printed.
func (u user) run(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(u.Path, "skillopt"), args...)
	cmd.Dir, cmd.Env = u.Project, u.Environ()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("skillopt %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// files returns a digest of each file below a folder, by its path.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			all[path+"/"] = ""
			return err
		}
		data, err := fs.ReadFile(os.DirFS(dir), path)
		all[path] = fmt.Sprintf("%x", sha256.Sum256(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A plugin is installed in real hosts, which call every tool of it; the second installation writes the same bytes; the removal leaves
// nothing.
func TestRealHostsCallEveryTool(t *testing.T) {
	t.Parallel()
	agents, bin := realAgents(t), buildProgram(t)
	calls := []hosttest.Call{
		{Tool: "skill_lint", Arguments: map[string]any{"skill": "quickstart"}},
		{Tool: "tasks_lint", Arguments: map[string]any{"tasks": "quickstart"}},
		{Tool: "train_plan", Arguments: map[string]any{"config": "quickstart"}},
		{Tool: "runs_list"},
	}
	for _, name := range []string{"claude", "codex", "copilot", "gemini", "opencode", "qwen"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t, agents, bin, name, &hosttest.Script{Calls: calls, Then: "Finished."})
			before := files(t, u.Home)
			u.run(t, "plugin", "install", name, "--yes")
			installed := files(t, u.Home)
			u.run(t, "plugin", "install", name, "--yes")
			if diff := cmp.Diff(installed, files(t, u.Home)); diff != "" {
				t.Errorf("the second installation (-first +second):\n%s", diff)
			}
			u.run(t, "plugin", "remove", name)
			if diff := cmp.Diff(before, files(t, u.Home)); diff != "" {
				t.Errorf("what is left (-before +after):\n%s", diff)
			}
			u.run(t, "plugin", "install", name, "--yes")
			said := u.Ask(t, "Look at the skill.")
			answers := u.script.Answers()
			if len(answers) != len(calls) {
				t.Fatalf("%d answers, want %d; tools: %s\n%s", len(answers), len(calls), u.script.Offered(), said)
			}
			for _, a := range answers {
				t.Logf("%s: %.200s", a.Tool, a.Text)
				if a.Failed {
					t.Errorf("%s failed: %s", a.Tool, a.Text)
				}
			}
		})
	}
}

// The quick start is trained, and its certificate read, from inside a host.
func TestRealHostsTrain(t *testing.T) {
	t.Parallel()
	agents, bin := realAgents(t), buildProgram(t)
	for _, name := range []string{"claude", "codex"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t, agents, bin, name, &hosttest.Script{Then: "It is better.", Calls: []hosttest.Call{
				{Tool: "train_plan", Arguments: map[string]any{"config": "quickstart"}},
				{Tool: "train", Arguments: map[string]any{"config": "quickstart", "wait": 50}},
				{Tool: "runs_certificate", Arguments: map[string]any{}},
			}})
			u.run(t, "plugin", "install", name, "--yes", "--", "--allow-train", "calls=3000")
			said := u.Ask(t, "Train the quick start.")
			answers := u.script.Answers()
			if len(answers) != 3 {
				t.Fatalf("%d answers; tools: %s\n%s", len(answers), u.script.Offered(), said)
			}
			if text := answers[2].Text; !strings.Contains(text, `"certified":true`) {
				t.Errorf("the certificate: %s", text)
			}
			t.Logf("%.300s", answers[1].Text)
			if runs := files(t, filepath.Join(u.Project, "runs")); !slices.Contains(keys(runs), "quickstart-1/best_skill.md") {
				t.Errorf("no best skill in %v", keys(runs))
			}
		})
	}
}

func keys(m map[string]string) (all []string) {
	for k := range m {
		all = append(all, k)
	}
	return all
}
