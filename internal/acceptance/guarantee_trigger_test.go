package acceptance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
)

const invoiceSkill = "---\nname: invoice-desk\ndescription: Totals and due dates of invoices from suppliers.\n---\n\n# Invoices\n\nAdd up the lines before you read the stated total.\n"

var listedSkill = regexp.MustCompile(`(?m)^- [^:]+: (.*) \(in (.*)\)$`)

// byDescription is a model that reads the skill if a word of the prompt, of more than four
// letters, stands in its description, and does nothing else.
func byDescription(load func(path string) model.ToolCall) modeltest.Func {
	return func(_ context.Context, req model.Request) (model.Response, error) {
		last := req.Messages[len(req.Messages)-1]
		if last.Role == model.ToolRole {
			return model.Response{Text: "done", Finish: model.FinishStop}, nil
		}
		found := listedSkill.FindStringSubmatch(req.Messages[0].Text())
		if found == nil {
			return model.Response{Text: "there is no skill", Finish: model.FinishStop}, nil
		}
		words := strings.Fields(strings.ToLower(strings.Trim(found[1], ".")))
		for word := range strings.FieldsSeq(strings.ToLower(strings.Trim(last.Text(), "?."))) {
			if len(word) > 4 && slices.Contains(words, word) {
				call := load(found[2])
				return model.Response{Finish: model.FinishTools, Parts: []model.Part{{Call: &call}}}, nil
			}
		}
		return model.Response{Text: "done", Finish: model.FinishStop}, nil
	}
}

func readsFile(path string) model.ToolCall { return toolCall("read", "path", path) }

func toolCall(tool, key, value string) model.ToolCall {
	args, _ := json.Marshal(map[string]string{key: value}) // texts have a JSON form
	return model.ToolCall{ID: "c1", Name: tool, Arguments: args}
}

// triggerTasks are n prompts of each kind in the test split.
func triggerTasks(n int) []task.Task {
	var out []task.Task
	for i := range n {
		out = append(out,
			task.Task{ID: fmt.Sprint("yes", i), Prompt: fmt.Sprintf("What do the invoices of shop %d add up to?", i), Trigger: task.TriggerShould, Split: task.Test},
			task.Task{ID: fmt.Sprint("no", i), Prompt: fmt.Sprintf("Translate letter %d into French", i), Trigger: task.TriggerShouldNot, Split: task.Test})
	}
	return out
}

// measureTriggers evaluates the test split with the built-in agent.
func measureTriggers(t *testing.T, skillText string, tasks []task.Task, client model.Client, change func(*config.Config)) (*result.Evaluation, error) {
	t.Helper()
	cfg := config.Default()
	cfg.Agent.Name, cfg.Agent.Sandbox = "builtin", "off"
	cfg.Tasks.Checks = []any{map[string]any{"type": "equals", "value": "done"}}
	cfg.Skill = filepath.Join(t.TempDir(), "SKILL.md")
	if err := os.WriteFile(cfg.Skill, []byte(skillText), 0o600); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&cfg)
	}
	return skillopt.Evaluate(t.Context(), cfg, "test", skillopt.WithTasks(tasks), skillopt.WithClient(model.Target, "scripted", client), skillopt.WithRunDir(filepath.Join(t.TempDir(), "run")))
}

// An agent that goes by the words of the description loads the skill where it should and
// nowhere else, and a hundred such tasks are no part of the score of the others.
func TestTriggerTasksTellWhetherTheSkillIsLoaded(t *testing.T) {
	t.Parallel()
	own := []task.Task{{ID: "t", Prompt: "Say it", Gold: []string{"done"}, Split: task.Test}}
	alone, err := measureTriggers(t, invoiceSkill, own, byDescription(readsFile), nil)
	if err != nil {
		t.Fatal(err)
	}
	both, err := measureTriggers(t, invoiceSkill, append(own, triggerTasks(50)...), byDescription(readsFile), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(alone.Splits, both.Splits); diff != "" {
		t.Errorf("trigger tasks change the scores: %s", diff)
	}
	zero := 0.0
	want := &result.Triggers{Agent: "builtin", Splits: map[string]result.TriggerRates{"test": {
		Should:    &result.LoadRate{Rate: 1, Tasks: 50, Loaded: 50, Evaluations: 50, SE: &zero},
		ShouldNot: &result.LoadRate{Tasks: 50, Evaluations: 50, SE: &zero},
	}}}
	if diff := cmp.Diff(want, both.Triggers, cmpopts.IgnoreFields(result.LoadRate{}, "Low", "High")); diff != "" || alone.Triggers != nil {
		t.Error(diff, alone.Triggers)
	}
	if r := both.Triggers.Splits["test"]; r.Should.Low < 0.92 || r.Should.High != 1 || r.ShouldNot.Low != 0 || r.ShouldNot.High > 0.08 {
		t.Errorf("intervals of 50 alike: %+v, %+v", r.Should, r.ShouldNot)
	}
	// With another description it is the other way round.
	letters := strings.Replace(invoiceSkill, "Totals and due dates of invoices", "To translate a letter", 1)
	turned, err := measureTriggers(t, letters, triggerTasks(2), byDescription(readsFile), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := turned.Triggers.Splits["test"]; r.Should.Rate != 0 || r.ShouldNot.Rate != 1 || len(turned.Splits) != 0 {
		t.Errorf("%+v %+v, scores %v", r.Should, r.ShouldNot, turned.Splits)
	}
}

// What looks like loading and is none does not count, and what cannot be told has no rate.
func TestOnlyTheBodyIsLoading(t *testing.T) {
	t.Parallel()
	bash := func(command string) func(string) model.ToolCall {
		return func(path string) model.ToolCall {
			return toolCall("bash", "command", strings.ReplaceAll(command, "PATH", path))
		}
	}
	body := func(text string) string {
		return "---\nname: invoice-desk\ndescription: Totals and due dates of invoices from suppliers.\n---\n\n" + text + "\n"
	}
	all := "Add up the lines before you read the stated total."
	for name, tc := range map[string]struct {
		skill string
		load  func(string) model.ToolCall
		tasks []task.Task
		rate  float64 // -1: none
	}{
		"the whole of it":                       {invoiceSkill, readsFile, nil, 1},
		"one line of body":                      {body(all), readsFile, nil, 1},
		"by a command in another folder":        {invoiceSkill, bash("cd / && cat \"$OLDPWD/PATH\""), nil, 1},
		"with line numbers":                     {invoiceSkill, bash("cat -n PATH"), nil, 1},
		"as JSON":                               {body("Say \"EUR\" <before> each of the \\ amounts."), bash("printf '{\"text\": \"Say \\\\\"EUR\\\\\" \\u003cbefore\\u003e each of the \\\\\\\\ amounts.\"}'"), nil, 1},
		"the path alone":                        {invoiceSkill, bash("echo PATH"), nil, 0},
		"the front matter alone":                {invoiceSkill, bash("head -4 PATH"), nil, 0},
		"a file that is not there":              {invoiceSkill, bash("cat nowhere/PATH"), nil, 0},
		"the model says it":                     {invoiceSkill, func(string) model.ToolCall { return toolCall("write", "path", all) }, nil, 0},
		"a line of body and description":        {body("Totals and due dates of invoices from suppliers.\n\n" + all), readsFile, nil, 1},
		"nothing but a line of the description": {body("Totals and due dates of invoices from suppliers."), readsFile, nil, -1},
		"a short line":                          {body("Add up."), readsFile, nil, -1},
		"no body":                               {body(""), readsFile, nil, -1},
		"no skill":                              {"", readsFile, nil, -1},
		"the prompt quotes the body, nothing is loaded": {body(all + "\n\nRound to whole cents at the very end."), bash("true"), []task.Task{
			{ID: "a", Prompt: "Sum invoices. " + all, Trigger: task.TriggerShould, Split: task.Test},
		}, 0},
		"a file of the task quotes the body": {body(all + "\n\nRound to whole cents at the very end."), bash("cat note.txt"), []task.Task{
			{ID: "a", Prompt: "Sum the invoices", Trigger: task.TriggerShould, Split: task.Test, Data: map[string]any{"files": map[string]any{"note.txt": all}}},
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			needsShell(t)
			tasks := tc.tasks
			if tasks == nil {
				tasks = triggerTasks(2)
			}
			got, err := measureTriggers(t, tc.skill, tasks, byDescription(tc.load), nil)
			if err != nil {
				t.Fatal(err)
			}
			r := got.Triggers.Splits["test"]
			switch {
			case tc.rate < 0 && (r.Should != nil || r.ShouldNot != nil || r.Reason == "" || len(r.Unmeasured) != len(tasks) || got.Calls.Total != 0):
				t.Errorf("%+v after %d calls, want no rate, a reason and no call", r, got.Calls.Total)
			case tc.rate >= 0 && (r.Should == nil || math.Abs(r.Should.Rate-tc.rate) > 1e-9):
				t.Errorf("%+v, want %v", r.Should, tc.rate)
			}
		})
	}
}

// A failure of infrastructure is no rate, not even where nothing should be loaded.
func TestATriggerTaskIsNotMeasuredByAFailure(t *testing.T) {
	t.Parallel()
	down := modeltest.Func(func(context.Context, model.Request) (model.Response, error) {
		return model.Response{}, &model.Error{Code: model.Auth, Err: errors.New("no such key")}
	})
	got, err := measureTriggers(t, invoiceSkill, triggerTasks(2), down, nil)
	if err == nil {
		t.Errorf("%+v, want an error", got.Triggers)
	}
}

// Who scores, trains or compares refuses trigger tasks alone; who cannot measure them at
// all refuses them with what would be allowed.
func TestTriggerTasksAreRefusedWhereTheySayNothing(t *testing.T) {
	t.Parallel()
	client := byDescription(readsFile)
	for name, tc := range map[string]struct {
		change func(*config.Config)
		want   string
	}{
		"no agent":  {func(c *config.Config) { c.Agent.Name = "" }, "this configuration has no agent; allowed are trigger tasks with an agent (agent.name) in the mode native"},
		"mode read": {func(c *config.Config) { c.Agent.Mode = "read" }, "agent.mode is read"},
	} {
		_, err := measureTriggers(t, invoiceSkill, triggerTasks(2), client, tc.change)
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), `field "trigger"`) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
	cfg := config.Default()
	cfg.Agent.Name, cfg.Agent.Sandbox = "builtin", "off"
	_, err := skillopt.Train(t.Context(), cfg, skillopt.WithTasks(triggerTasks(2)), skillopt.WithClient(model.Target, "scripted", client),
		skillopt.WithClient(model.Optimizer, "scripted", client), skillopt.WithRunDir(filepath.Join(t.TempDir(), "run")))
	if err == nil || !strings.Contains(err.Error(), "each a trigger task") {
		t.Errorf("train: %v", err)
	}
}

// Trigger tasks in a file change nothing of a run that trains on the others: neither its
// identity nor its splits, scores and skills.
func TestTriggerTasksLeaveTrainingAsItIs(t *testing.T) {
	t.Parallel()
	cfg := agentConfig(t)
	all, err := os.ReadFile(cfg.Tasks.Path)
	if err != nil {
		t.Fatal(err)
	}
	var text []byte // some tasks of each split do: nothing has to be learned here
	for i, line := range bytes.SplitAfter(all, []byte("\n")) {
		if i%3 == 0 {
			text = append(text, line...)
		}
	}
	cfg.Tasks.Path = filepath.Join(t.TempDir(), "some.jsonl")
	if err := os.WriteFile(cfg.Tasks.Path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(t.TempDir(), "run")
	trained(t, cfg, plain, inProcess(t)...)
	with := filepath.Join(t.TempDir(), "tasks.jsonl")
	more := `{"id": "trigger-1", "prompt": "Do what is to be done", "trigger": "should"}` + "\n" + string(text) + `{"id": "trigger-2", "prompt": "Sing", "trigger": "should_not"}` + "\n"
	if err := os.WriteFile(with, []byte(more), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg.Tasks.Path = with
	both := filepath.Join(t.TempDir(), "run")
	trained(t, cfg, both, inProcess(t)...)
	sameResults(t, results(t, plain), both)
	if a, b := identityOf(t, plain), identityOf(t, both); a != b {
		t.Errorf("identities differ:\n%s\n%s", a, b)
	}
}

func identityOf(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Identity json.RawMessage `json:"identity"`
	}
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return string(m.Identity)
}
