package acceptance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/gateway"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/repository"
	"github.com/seed-f4525e22/skillopt/internal/runner"
	"github.com/seed-f4525e22/skillopt/internal/testing/agenttest"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/task"
)

// slip is a kind of mistake in the repository that is trained for: what of a module is right and wrong, what a user sees of it,
// and the rule that its script follows.
type slip struct{ right, wrong, test, seen, rule string }

func slips() []slip {
	return []slip{
		{"(a, b) => a + b + %d", "(a, b) => a - b + %d", "f(5, 2), 7 + %d", "is too small by twice the second number", "- Where a result is too small by twice a number, look for a wrong sign."},
		{"(s) => s.trim() + %d", "(s) => s + %d", "f(' x '), 'x' + %d", "keeps the blanks around its text", "- Where blanks are kept, look for a text that nothing trims."},
	}
}

// modules of the repository: those of the training split, the selection split and the test split, from the oldest on.
const (
	trainModules = 8
	gateModules  = 12
	testModules  = 20
)

func moduleName(n int) string { return fmt.Sprintf("part%02d", n) }

func slipOf(n int) slip { return slips()[n%len(slips())] }

// trainingRepository makes a repository of modules with a test each, with a task for each of them: the module has a mistake, and
// its test is hidden.
func trainingRepository(t *testing.T) (*repository.Repository, string) {
	t.Helper()
	head := map[string]string{"package.json": `{"name": "parts", "version": "1.0.0", "scripts": {"test": "node --test"}}`}
	all := trainModules + gateModules + testModules
	lib := func(n int, form string) string { return "module.exports = " + fmt.Sprintf(form, n) + ";\n" }
	for n := range all {
		name := moduleName(n)
		head["lib/"+name+".js"] = lib(n, slipOf(n).right)
		head["test/"+name+".test.js"] = fmt.Sprintf("const test = require('node:test');\nconst assert = require('node:assert');\nconst f = require('../lib/%[1]s');\n\ntest('%[1]s is right', () => {\n  assert.strictEqual(%[2]s);\n});\n", name, fmt.Sprintf(slipOf(n).test, n))
	}
	dir := t.TempDir()
	r := repositoryAt(t, filepath.Join(dir, "repository"), "node", runner.Node, head)
	names := passingTests(t, r, head)
	whole := treeOf(t, r, "", head)
	var lines bytes.Buffer
	for n := range all {
		name := moduleName(n)
		file := "test/" + name + ".test.js"
		own := repository.Task{
			Base: takeOut(t, r, treeOf(t, r, whole, map[string]string{"lib/" + name + ".js": lib(n, slipOf(n).wrong)}), file), Fix: takeOut(t, r, whole, file),
			Tests: treeOf(t, r, "", map[string]string{file: head[file]}), Fail: names[name], Targets: []string{file}, Source: "lib/" + name + ".js:1 condition", CPU: 2,
		}
		split := task.Train
		switch {
		case n >= trainModules+gateModules:
			split = task.Test
		case n >= trainModules:
			split = task.Selection
		}
		text, err := json.Marshal(map[string]any{
			"id": name, "split": string(split), "type": "fault", "prompt": fmt.Sprintf("The function of %q is wrong: what it gives %s.", name, slipOf(n).seen), "repo": own,
		})
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(text, '\n'))
	}
	put(t, filepath.Join(dir, "tasks.jsonl"), lines.String())
	return r, filepath.Join(dir, "tasks.jsonl")
}

// passingTests runs all tests and returns the names of those of each module.
func passingTests(t *testing.T, r *repository.Repository, head map[string]string) map[string][]string {
	t.Helper()
	work, home := t.TempDir(), t.TempDir()
	for name, text := range head {
		put(t, filepath.Join(work, name), text)
	}
	rep, err := r.Suite().Run(t.Context(), runner.Job{Dir: work, Home: home, Base: r.Dir})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string][]string{}
	for name := range rep.Tests {
		module := regexp.MustCompile(`part\d\d`).FindString(name)
		if module == "" || !rep.HasPassed(name) {
			t.Fatalf("%s: %+v", name, rep.Tests[name])
		}
		names[module] = append(names[module], name)
	}
	if len(names) != trainModules+gateModules+testModules {
		t.Fatalf("tests of %d modules pass: %s", len(names), rep.Output)
	}
	return names
}

// repairs is the script of an agent that repairs a module if its document has the rule for the mistake, and looks at it otherwise.
func repairs(shown, prompt string) string {
	for n := range trainModules + gateModules + testModules {
		s := slipOf(n)
		if !strings.Contains(prompt, fmt.Sprintf("%q", moduleName(n))) {
			continue
		}
		if file := "lib/" + moduleName(n) + ".js"; strings.Contains(shown, s.rule) {
			return fmt.Sprintf("echo 'module.exports = %s;' > %s; git diff --stat", fmt.Sprintf(s.right, n), file)
		}
	}
	return "git log --oneline; cat lib/*.js | head -3"
}

// teaches is an optimizer that knows the rules. It proposes the first one that the failures ask for and the document lacks, and of
// proposals takes the first.
func teaches() modeltest.Func {
	return func(_ context.Context, req model.Request) (model.Response, error) {
		var text strings.Builder
		for _, m := range req.Messages {
			text.WriteString(m.Content)
		}
		edits := []any{}
		for _, s := range slips() {
			analyst := strings.HasPrefix(req.Tags.Stage, "analyst")
			wanted := analyst && strings.Contains(text.String(), s.seen) && !strings.Contains(text.String(), s.rule) || !analyst && strings.Contains(text.String(), s.rule)
			if wanted && len(edits) == 0 {
				edits = append(edits, map[string]any{"op": "append", "target": "", "content": s.rule})
			}
		}
		patch := map[string]any{"reasoning": "They fail for want of a rule.", "edits": edits}
		reply, err := json.Marshal(map[string]any{"batch_size": 1, "failure_summary": []any{}, "success_patterns": []any{}, "patch": patch, "reasoning": "", "edits": edits})
		return model.Response{Text: string(reply), Finish: model.FinishStop}, err
	}
}

// repositoryDirVar and repositoryTasksVar are the variables with the repository of a child that trains in one.
const (
	repositoryDirVar   = "SKILLOPT_TEST_CHILD_REPOSITORY"
	repositoryTasksVar = "SKILLOPT_TEST_CHILD_REPOSITORY_TASKS"
)

// TestTrainRepositoryChild is not a test: it is the process that TestRepositoriesAreTrained starts and kills.
func TestTrainRepositoryChild(t *testing.T) {
	url, dir, at := os.Getenv(childURL), os.Getenv(childDir), os.Getenv(repositoryDirVar)
	if url == "" || at == "" {
		t.Skip("it is run by TestRepositoriesAreTrained")
	}
	r, err := repository.Open(t.Context(), at, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	cfg, key := repositoryConfig(r), childKey
	cfg.Tasks.Path = os.Getenv(repositoryTasksVar)
	cfg.Models.Target.Provider, cfg.Models.Target.BaseURL, cfg.Models.Target.APIKeyEnv = "compatible", url+"/v1", &key
	if name, program, ok := strings.Cut(os.Getenv(childAgent), "="); ok {
		cfg.Agent.Name, cfg.Agent.Command, cfg.Agent.Timeout = name, program, config.Duration(3*time.Minute)
		cfg.Models.Target.Temperature, cfg.Models.Target.Headers = nil, nil
	}
	cfg.SlowUpdate.Enabled, cfg.MetaSkill.Enabled = false, false
	cfg.Train.Epochs, cfg.Train.BatchSize, cfg.Edits.Budget, cfg.Edits.MinBudget = 1, 4, 1, 1
	l, err := config.Load(config.Options{Dir: t.TempDir(), Lookup: os.LookupEnv})
	if err != nil {
		t.Fatal(err)
	}
	l.Config = cfg
	sum := trained(t, cfg, dir, skillopt.WithLoaded(l), skillopt.WithSkill("# Work\n"), skillopt.WithClient(model.Optimizer, "script", teaches()))
	if sum.Test.Seed == nil || sum.Test.Best == nil || sum.Test.Seed.N != testModules || sum.Test.Best.Hard < sum.Test.Seed.Hard+0.3 {
		t.Errorf("test scores: seed %+v, best %+v", sum.Test.Seed, sum.Test.Best)
	}
	if sum.Certificate == nil || !sum.Certificate.Certified {
		t.Errorf("certificate: %+v", sum.Certificate)
	}
}

// A skill for a repository is trained with the built-in agent, whose model is a script: it repairs a module where the document has
// the rule for it. That shows the loop, and nothing of what models gain. However often the run is killed, its decisions, scores and
// best document are the same, and no episode that was finished is repeated.
func TestRepositoriesAreTrained(t *testing.T) {
	t.Parallel()
	trainRepository(t, "", 10)
}

// TestRealAgentsTrainRepositories is the same with real agents. Where results are kept they are more than one, and are killed: that
// takes minutes.
func TestRealAgentsTrainRepositories(t *testing.T) {
	dir, kills, names := realAgents(t), 0, []string{"pi"}
	if os.Getenv(agenttest.FileVar) != "" {
		kills, names = 10, []string{"pi", "claude"}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			program, _ := realProgram(t, dir, name)
			trainRepository(t, name+"="+program, kills)
		})
	}
}

// trainRepository trains with an agent, NAME=PROGRAM or "" for the built-in one, and again with a run that is killed and resumed.
func trainRepository(t *testing.T, agent string, kills int) {
	t.Helper()
	r, tasks := trainingRepository(t)
	h := &hangman{}
	g, err := gateway.New(gateway.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	s, err := g.Open(gateway.Session{
		Client: carries(repairs, func(string, string) {}), Tags: model.Tags{Stage: model.StageRollout, Role: model.Target}, Observe: h.observe,
	})
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	temp, err := os.MkdirTemp("", "killed-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(temp)
	start := func(dir string, at int) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestTrainRepositoryChild$", "-test.v=false")
		cmd.Env = append(os.Environ(), childURL+"="+g.URL(), childDir+"="+dir, childKey+"="+s.Key(), repositoryDirVar+"="+r.Dir, repositoryTasksVar+"="+tasks, childAgent+"="+agent, "TMPDIR="+temp)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		h.mu.Lock()
		h.at = at
		if err := cmd.Start(); err != nil {
			h.mu.Unlock()
			return nil, err
		}
		h.victim = cmd.Process
		h.mu.Unlock()
		err := cmd.Wait()
		return out.Bytes(), err
	}
	clean := filepath.Join(t.TempDir(), "run")
	if out, err := start(clean, 0); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if kills == 0 {
		return
	}
	total := h.count()
	dir := filepath.Join(t.TempDir(), "run")
	rng := rand.New(rand.NewPCG(3, 7))
	for i := range kills {
		if _, err := start(dir, h.count()+2+rng.IntN(total/(kills+1))); err == nil {
			t.Fatalf("kill %d missed the run", i+1)
		}
	}
	if out, err := start(dir, 0); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sameResults(t, results(t, clean), dir)
	episodes := recordedKinds(t, clean)[journal.Episode]
	if n := recordedKinds(t, dir)[journal.Episode]; n != episodes || agent == "" && n != total {
		t.Errorf("%d episodes are recorded, want %d of %d begun", n, episodes, total)
	}
	if agent != "" {
		return // what else a real agent asks is counted too
	}
	if repeated := h.count() - 2*total; repeated < 1 || repeated > kills*slots {
		t.Errorf("%d episodes were repeated after %d kills of runs with %d agents at a time", repeated, kills, slots)
	}
}

// Each task of the repository that is trained for is solved by its real fix, and not by doing nothing, three times of three.
func TestTasksOfARepositoryHold(t *testing.T) {
	t.Parallel()
	r, path := trainingRepository(t)
	set, err := task.Load(path, task.Rules{OwnScore: true})
	if err != nil {
		t.Fatal(err)
	}
	some := slices.DeleteFunc(set.Tasks(), func(t task.Task) bool { return !strings.HasSuffix(t.ID, "7") })
	for _, one := range some {
		own, err := repository.Read(one)
		if err != nil {
			t.Fatal(err)
		}
		fix, err := r.Fixes(t.Context(), own)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			idle, err := r.GradeChanges(t.Context(), own, nil)
			if err != nil || idle.Passed || idle.Forged {
				t.Errorf("%s, nothing done: %+v, %v", one.ID, idle.Reason, err)
			}
			repaired, err := r.GradeChanges(t.Context(), own, fix)
			if err != nil || !repaired.Passed {
				t.Errorf("%s, the fix: %s, %v", one.ID, repaired.Text(), err)
			}
		}
	}
}
