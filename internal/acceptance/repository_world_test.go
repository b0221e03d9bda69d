package acceptance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/repository"
	"github.com/seed-f4525e22/skillopt/internal/runner"
	"github.com/seed-f4525e22/skillopt/internal/tree"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/task"
)

// runnersVar names a Python with pytest, which .ci/run has installed.
const runnersVar = "SKILLOPT_RUNNERS_PYTHON"

// repositoryAt makes the folder of a repository out of the files of HEAD, whose runner of tests has to be on this machine.
func repositoryAt(t testing.TB, dir, program string, kind runner.Kind, files map[string]string) *repository.Repository {
	t.Helper()
	needsSandbox(t)
	if err := runner.Fit(); err != nil {
		t.Skip(err)
	}
	lookup := os.LookupEnv
	if at := os.Getenv(runnersVar); kind == runner.Pytest && at != "" {
		lookup = func(name string) (string, bool) {
			v, ok := os.LookupEnv(name)
			if name == "PATH" {
				v = filepath.Dir(at) + string(filepath.ListSeparator) + v
			}
			return v, ok
		}
	} else if _, err := exec.LookPath(program); err != nil {
		t.Skipf("no %s here: %v", program, err)
	}
	head := t.TempDir()
	for name, text := range files {
		put(t, filepath.Join(head, name), text)
	}
	root, err := os.OpenRoot(head)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	suite, _, err := runner.Detect(t.Context(), root, runner.Machine{Lookup: lookup, Home: os.Getenv("HOME"), Clone: head}, runner.Options{})
	if err != nil {
		t.Skip(err)
	}
	if suite.Kind != kind {
		t.Fatalf("found %s, want %s", suite.Kind, kind)
	}
	r, err := repository.Create(t.Context(), dir, suite, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if _, err := suite.Run(t.Context(), runner.Job{Dir: head, Home: home, Base: r.Dir, Warm: true}); err != nil {
		t.Fatal(err)
	}
	return r
}

func put(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// treeOf adds a tree of files.
func treeOf(t testing.TB, r *repository.Repository, base string, files map[string]string) string {
	t.Helper()
	var changes []tree.Change
	for name, text := range files {
		changes = append(changes, tree.Change{Path: name, Data: []byte(text)})
	}
	hash, err := r.Store().Tree(t.Context(), base, changes)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// repositoryTask is a task of a repository, as a file of tasks has it.
func repositoryTask(t testing.TB, id, prompt string, split task.Split, kind string, own repository.Task) task.Task {
	t.Helper()
	text, err := json.Marshal(own)
	if err != nil {
		t.Fatal(err)
	}
	var data any
	if err := json.Unmarshal(text, &data); err != nil {
		t.Fatal(err)
	}
	return task.Task{ID: id, Prompt: prompt, Split: split, Type: kind, Data: map[string]any{repository.Field: data}}
}

// repositoryConfig has the built-in agent work in a repository.
func repositoryConfig(r *repository.Repository) config.Config {
	cfg := worldConfig("")
	cfg.Tasks.Path, cfg.Tasks.Extract = "", config.Default().Tasks.Extract
	cfg.Tasks.Checks = []any{map[string]any{"type": "tests"}}
	cfg.Agent.Name, cfg.Agent.Mode, cfg.Agent.File, cfg.Agent.Repository = "builtin", "file", "CLAUDE.md", r.Dir
	cfg.Agent.Slots = 2
	return cfg
}

// carries is a target that carries out scripts: its first answer to a task is a call of the agent's shell with the script for it. heard
// gets what that printed. It is a simulation of an agent's model, and no model.
func carries(script func(shown, prompt string) string, heard func(prompt, printed string)) modeltest.Func {
	return func(_ context.Context, req model.Request) (model.Response, error) {
		last := req.Messages[len(req.Messages)-1]
		if last.Role == model.ToolRole {
			if len(req.Messages) > 1 && len(last.Parts) > 0 && last.Parts[0].Result != nil {
				heard(req.Messages[1].Text(), last.Parts[0].Result.Content)
			}
			return model.Response{Text: "Done.", Finish: model.FinishStop}, nil
		}
		shell := slices.IndexFunc(req.Tools, func(tool model.Tool) bool { return strings.EqualFold(tool.Name, "bash") })
		if shell < 0 { // an agent asks more than for its task, such as for a title
			return model.Response{Text: "Done.", Finish: model.FinishStop}, nil
		}
		var shown, prompt strings.Builder // some agents have their document in the system prompt, others in messages next to that of the task
		for _, m := range req.Messages {
			shown.WriteString(m.Text())
			if m.Role == model.User {
				prompt.WriteString(m.Text())
			}
		}
		args, err := json.Marshal(map[string]string{"command": script(shown.String(), prompt.String())})
		if err != nil {
			return model.Response{}, err
		}
		call := model.ToolCall{ID: "1", Name: req.Tools[shell].Name, Arguments: args}
		return model.Response{Parts: []model.Part{{Call: &call}}, Finish: model.FinishTools}, nil
	}
}

// quotedIn finds the first of some names that a prompt has in quotes.
func quotedIn(prompt string, names []string) string {
	i := slices.IndexFunc(names, func(name string) bool { return strings.Contains(prompt, fmt.Sprintf("%q", name)) })
	if i < 0 {
		return ""
	}
	return names[i]
}

// takeOut takes a file out of a tree.
func takeOut(t testing.TB, r *repository.Repository, base, name string) string {
	t.Helper()
	hash, err := r.Store().Tree(t.Context(), base, []tree.Change{{Path: name, Gone: true}})
	if err != nil {
		t.Fatal(err)
	}
	return hash
}
