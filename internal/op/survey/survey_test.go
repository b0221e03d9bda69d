package survey_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/op/survey"
	"github.com/seed-f4525e22/skillopt/internal/repository"
	"github.com/seed-f4525e22/skillopt/internal/runner"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/testing/repotest"
	"github.com/seed-f4525e22/skillopt/internal/testing/treetest"
	"github.com/seed-f4525e22/skillopt/result"
)

// program is what each repository needs.
var program = map[string]string{"go": "go", "python": "python3", "node": "node", "rust": "cargo"}

// repo builds a repository, or skips where its language or the sandbox is not there.
func repo(t *testing.T, language string, tolls int) repotest.Repository {
	t.Helper()
	if err := runner.Fit(); err != nil {
		t.Skip(err)
	}
	if _, err := exec.LookPath(program[language]); err != nil {
		t.Skipf("the repository in %s needs %s: %v", language, program[language], err)
	}
	if err := exec.CommandContext(t.Context(), "python3", "-c", "import pytest").Run(); language == "python" && err != nil {
		t.Skipf("the repository in Python needs pytest: %v; %s names a Python that has it", err, runnersVar)
	}
	return repotest.Build(t, language, tolls)
}

func TestExactlyTheUsableCommits(t *testing.T) {
	t.Parallel()
	for _, language := range repotest.Languages() {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			r := repo(t, language, 4)
			before := treetest.Git(t, r.Dir, "", "status", "--porcelain", "--ignored")
			dir := t.TempDir()
			got, err := survey.Run(t.Context(), config.Default(), survey.Request{Path: r.Dir, Dir: dir, Limit: 17, Note: func(line string) { t.Log(line) }}, session.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(sorted(r.Usable), commits(t, r, got)); diff != "" {
				t.Errorf("tasks of history (-want +got):\n%s", diff)
			}
			faults := slices.DeleteFunc(slices.Clone(got.Tasks), func(s result.SurveyedTask) bool { return s.Type == "history" })
			if len(faults) == 0 {
				t.Error("no task of a fault")
			}
			left(t, r, got)
			if now := treetest.Git(t, r.Dir, "", "status", "--porcelain", "--ignored"); now != before {
				t.Errorf("the repository was written to: %s", now)
			}
			well(t, dir, got)
		})
	}
}

// commits are the subjects of the commits that tasks are of.
func commits(t *testing.T, r repotest.Repository, s *result.Survey) []string {
	var out []string
	for _, task := range s.Tasks {
		if task.Type == "history" {
			out = append(out, treetest.Git(t, r.Dir, "", "log", "-1", "--format=%s", task.Source))
		}
	}
	return sorted(out)
}

// left checks that each commit that is no task is left out for its own reason.
func left(t *testing.T, r repotest.Repository, s *result.Survey) {
	t.Helper()
	reasons := map[string]string{
		"interface": "its tests need names that nothing says", "flaking": "flaking", "network": "network",
		"no test fails": "no test fails without it", "dependencies": "lock files", "broken parent": "its parent does not build", "obeyed": "changes what a run of tests obeys", "revert": "revert", "merge": "merge",
	}
	want := map[string]int{}
	for _, kind := range r.Kinds {
		if reason := reasons[kind]; reason != "" && (kind != "broken parent" || want[reason] == 0) && (kind != "flaking" || s.Runner != "cargo") {
			want[reason]++
		}
	}
	for reason, n := range want {
		if s.LeftOut[reason] < n {
			t.Errorf("%d commits are left out: %s, want %d; all: %v", s.LeftOut[reason], reason, n, s.LeftOut)
		}
	}
}

// well checks the file of tasks.
func well(t *testing.T, dir string, s *result.Survey) {
	t.Helper()
	if _, err := repository.Open(t.Context(), filepath.Join(dir, survey.Folder), os.Getenv); err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(string(s.File)) {
		var task struct {
			ID, Type, Split, Prompt string
			Repo                    repository.Task
		}
		if err := json.Unmarshal([]byte(line), &task); err != nil {
			t.Fatal(err)
		}
		if task.Prompt == "" || task.Split == "" || len(task.Repo.Fail) == 0 || len(task.Repo.Targets) == 0 || task.Repo.CPU == 0 {
			t.Errorf("task %s lacks something: %s", task.ID, line)
		}
		t.Logf("%s %s %s: %s", task.ID, task.Type, task.Split, task.Prompt)
	}
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

// A survey that is killed and begun again runs nothing twice, and makes the same tasks.
func TestKilledAndBegunAgain(t *testing.T) {
	t.Parallel()
	r := repo(t, "node", 2)
	whole, dir := t.TempDir(), t.TempDir()
	want, err := survey.Run(t.Context(), config.Default(), survey.Request{Path: r.Dir, Dir: whole, Limit: 4}, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for kill := range 5 {
		killed(t, r.Dir, dir, 1+2*kill)
	}
	before := records(t, dir)
	got, err := survey.Run(t.Context(), config.Default(), survey.Request{Path: r.Dir, Dir: dir, Limit: 4}, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Runs+before != want.Runs || before == 0 {
		t.Errorf("%d runs in killed surveys and %d after them, %d in one that was not killed", before, got.Runs, want.Runs)
	}
	if diff := cmp.Diff(sources(want), sources(got)); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
}

// sources are what tasks were made of, and their splits.
func sources(s *result.Survey) (out []string) {
	for _, task := range s.Tasks {
		out = append(out, task.Split+" "+task.Type+" "+task.Source)
	}
	return out
}

func records(t *testing.T, dir string) int {
	names, err := filepath.Glob(filepath.Join(dir, survey.Folder, "survey", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// killed runs a survey in a process of its own, which is killed after some of its lines.
func killed(t *testing.T, path, dir string, lines int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSurveyProcess$")
	cmd.Env = append(os.Environ(), "SURVEY_PATH="+path, "SURVEY_DIR="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(out)
	for range lines {
		if !in.Scan() {
			break
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
}

// TestSurveyProcess is the process that is killed.
func TestSurveyProcess(t *testing.T) {
	path := os.Getenv("SURVEY_PATH")
	if path == "" {
		t.Skip("it is no test")
	}
	_, err := survey.Run(t.Context(), config.Default(), survey.Request{Path: path, Dir: os.Getenv("SURVEY_DIR"), Limit: 4, Note: func(line string) { fmt.Println(line) }}, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
}
