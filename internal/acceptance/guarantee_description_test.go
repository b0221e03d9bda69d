package acceptance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// describing is an optimizer that proposes a description, and edits besides.
func describing(description string, edits ...map[string]string) modeltest.Func {
	return func(_ context.Context, req model.Request) (model.Response, error) {
		var items []map[string]string
		if description != "" {
			items = append(items, map[string]string{"op": "describe", "target": "", "content": description})
		}
		items = append(items, edits...)
		patch := map[string]any{"reasoning": "", "edits": items}
		var reply any = patch
		switch req.Tags.Stage {
		case model.StageAnalystError, model.StageAnalystSuccess:
			reply = map[string]any{"batch_size": 1, "patch": patch}
		case model.StageRanking:
			reply = map[string]any{"reasoning": "", "selected_indices": []int{0, 1, 2}}
		}
		data, err := json.Marshal(reply)
		return model.Response{Text: string(data), Finish: model.FinishStop}, err
	}
}

// describeConfig is a run of one epoch with the built-in agent, whose edits may replace the
// description of a skill.
func describeConfig(t *testing.T, text string) config.Config {
	t.Helper()
	cfg := config.Default()
	cfg.Agent.Name, cfg.Agent.Sandbox = "builtin", "off"
	cfg.Edits.Description, cfg.Train.Epochs, cfg.Gate.Mode = true, 1, "strict"
	cfg.Tasks.Checks = []any{map[string]any{"type": "equals", "value": "done"}}
	cfg.Skill = filepath.Join(t.TempDir(), "SKILL.md")
	if err := os.WriteFile(cfg.Skill, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return cfg
}

func trainDescription(t *testing.T, cfg config.Config, tasks []task.Task, optimizer model.Client) (*result.Summary, string, error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	sum, err := skillopt.Train(t.Context(), cfg, skillopt.WithTasks(tasks), skillopt.WithClient(model.Target, "scripted", byDescription(readsFile)),
		skillopt.WithClient(model.Optimizer, "scripted", optimizer), skillopt.WithRunDir(dir))
	return sum, dir, err
}

// aboutShops are trigger tasks in all splits: n of each kind in each, about three things that
// the skill is for, of which its description names one.
func aboutShops(n int) []task.Task {
	var out []task.Task
	for _, split := range []task.Split{task.Train, task.Selection, task.Test} {
		for i := range n {
			subject := []string{"invoices", "receipts", "statements"}[i%3]
			out = append(out,
				task.Task{ID: fmt.Sprint(split, "-yes", i), Prompt: fmt.Sprintf("What do the %s of %s shop %d add up to?", subject, split, i), Trigger: task.TriggerShould, Split: split},
				task.Task{ID: fmt.Sprint(split, "-no", i), Prompt: fmt.Sprintf("Translate letter %d of %s into French", i, split), Trigger: task.TriggerShouldNot, Split: split})
		}
	}
	return out
}

const wider = "Totals and due dates of invoices receipts statements from suppliers"

// With trigger tasks alone the description is trained by their balanced rate, and nothing
// else of the skill changes, whatever is proposed.
func TestTriggerTasksAloneTrainTheDescription(t *testing.T) {
	t.Parallel()
	cfg := describeConfig(t, invoiceSkill)
	rule := map[string]string{"op": "append", "target": "", "content": "Never say no."}
	sum, dir, err := trainDescription(t, cfg, aboutShops(6), describing(wider, rule))
	if err != nil {
		t.Fatal(err)
	}
	if sum.Test.Seed.Hard != 8./12 || sum.Test.Best.Hard != 1 || sum.Accepted != 1 {
		t.Errorf("seed %v, best %v, %d accepted", sum.Test.Seed, sum.Test.Best, sum.Accepted)
	}
	want, err := skill.New(invoiceSkill).WithDescription(wider)
	if err != nil {
		t.Fatal(err)
	}
	best, err := os.ReadFile(filepath.Join(dir, "best_skill.md"))
	if err != nil || string(best) != want.Text() {
		t.Errorf("%v:\n%s", err, best)
	}
	for _, split := range []string{"selection", "test"} {
		seed, best := sum.Triggers.Seed[split], sum.Triggers.Best[split]
		if sum.Triggers.Agent != "builtin" || seed.Should.Loaded != 2 || best.Should.Loaded != 6 || best.ShouldNot.Loaded != 0 {
			t.Errorf("%s: seed %+v, best %+v", split, seed.Should, best.Should)
		}
	}
	if c := sum.Certificate; c == nil || c.Triggers == nil || c.Triggers.Best["test"].Should.Rate != 1 {
		t.Errorf("certificate %+v", c)
	}
}

// Beside other tasks a description is taken with what the tasks are won by, and only if it
// loads the skill where it should as often as before, and no more where it should not.
func TestADescriptionThatLoadsWorseIsLeftOut(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		description string
		kept        bool
		refused     string
	}{
		"better":       {wider, true, ""},
		"loads less":   {"Help with taxes.", false, "on prompts that should load the skill the agent is right 33.3 points less often"},
		"loads always": {wider + " to translate a letter into French", false, "on prompts that should not load the skill the agent is right 100.0 points less often"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := describeConfig(t, invoiceSkill)
			tasks := aboutShops(6)
			for _, split := range []task.Split{task.Train, task.Selection, task.Test} {
				for i := range 4 {
					tasks = append(tasks, task.Task{ID: fmt.Sprint(split, i), Prompt: fmt.Sprintf("Say it for invoices, %s %d", split, i), Gold: []string{"done"}, Split: split})
				}
			}
			cfg.Gate.Mode = "off" // accepts all: what is left out is left out by the guard
			rule := map[string]string{"op": "append", "target": "", "content": "Never say no."}
			sum, dir, err := trainDescription(t, cfg, tasks, describing(tc.description, rule))
			if err != nil {
				t.Fatal(err)
			}
			best, err := os.ReadFile(filepath.Join(dir, "best_skill.md"))
			if err != nil || strings.Contains(string(best), tc.description) != tc.kept || !strings.Contains(string(best), "Never say no.") {
				t.Errorf("%v:\n%s", err, best)
			}
			var h result.History
			readJSON(t, filepath.Join(dir, "history.json"), &h)
			step := h.Steps[1]
			if step.Loads == nil || !strings.Contains(step.Loads.Refused, tc.refused) || (step.Loads.Refused == "") != tc.kept {
				t.Errorf("%+v", step.Loads)
			}
			for _, e := range step.Edits {
				if e.Op == skill.Describe && e.Status.Applied() != tc.kept {
					t.Errorf("%+v", e)
				}
			}
			if n := sum.Test.Best.N; n != 4 {
				t.Errorf("trigger tasks in the score: %d tasks", n)
			}
			if got := sum.Triggers.Best["test"].Should.Loaded; tc.kept != (got == 6) {
				t.Errorf("best: %d of 6", got)
			}
		})
	}
}

// With trigger tasks alone a description is not taken either that loads the skill where it
// should not, though it is right on more prompts in all; and the optimizer is told why.
func TestADescriptionThatIsRightMoreOftenMayStillLoadWorse(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"strict"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			cfg := describeConfig(t, invoiceSkill)
			cfg.Gate.Mode, cfg.Train.Epochs = mode, 2
			greedy := wider + " and to translate a letter" // right on 4 more of 6, and wrong on 3 of 6 that it was right on
			tasks := aboutShops(6)
			for i := range tasks {
				if tasks[i].Trigger == task.TriggerShouldNot && i%4 == 1 {
					tasks[i].Prompt = fmt.Sprintf("Sing song %d of %s", i, tasks[i].Split)
				}
			}
			optimizer := describing(greedy)
			var mu sync.Mutex
			var told []string
			asked := modeltest.Func(func(ctx context.Context, req model.Request) (model.Response, error) {
				if req.Tags.Stage == model.StageAnalystError {
					mu.Lock()
					told = append(told, req.Messages[len(req.Messages)-1].Text())
					mu.Unlock()
				}
				return optimizer(ctx, req)
			})
			sum, dir, err := trainDescription(t, cfg, tasks, asked)
			if err != nil {
				t.Fatal(err)
			}
			best, err := os.ReadFile(filepath.Join(dir, "best_skill.md"))
			if err != nil || string(best) != invoiceSkill || sum.Accepted != 0 {
				t.Errorf("%v, %d accepted:\n%s", err, sum.Accepted, best)
			}
			var h result.History
			readJSON(t, filepath.Join(dir, "history.json"), &h)
			if s := h.Steps[1]; s.Action != "reject" || !strings.Contains(s.Reason, "on prompts that should not load the skill the agent is right 50.0 points less often") || *s.Candidate <= *s.Current {
				t.Errorf("step 1: %s, %s, %v against %v", s.Action, s.Reason, *s.Candidate, *s.Current)
			}
			if len(told) < 2 || strings.Contains(told[0], "tried and not taken") || !strings.Contains(told[len(told)-1], "- "+greedy+"\n  Not taken: on prompts that should not") {
				t.Errorf("the optimizer was told %q", told)
			}
		})
	}
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

// What cannot be judged is refused before anything is asked, with what helps.
func TestADescriptionNeedsTriggerTasks(t *testing.T) {
	t.Parallel()
	own := []task.Task{{ID: "t", Prompt: "Say it", Gold: []string{"done"}, Split: task.Train}}
	var shoulds []task.Task
	for _, tk := range aboutShops(2) {
		if tk.Trigger == task.TriggerShould {
			shoulds = append(shoulds, tk)
		}
	}
	for name, tc := range map[string]struct {
		skill  string
		tasks  []task.Task
		change func(*config.Config)
		want   string
	}{
		"no trigger tasks": {invoiceSkill, own, nil, "skillopt init --triggers"},
		"one kind":         {invoiceSkill, shoulds, nil, "no trigger task of the kind should_not"},
		"no front matter":  {"# Invoices\n\nAdd up the lines before you read the stated total.\n", aboutShops(2), nil, "no front matter"},
		"a short body":     {"---\nname: a\ndescription: b c\n---\nAdd up.\n", aboutShops(2), nil, "it is unknown whether it was loaded"},
		"a rewrite":        {invoiceSkill, aboutShops(2), func(c *config.Config) { c.Edits.Mode = "rewrite_from_suggestions" }, "edits.mode patch"},
		"no skill arm":     {invoiceSkill, aboutShops(2), func(c *config.Config) { c.Eval.NoSkill = true }, "eval.no_skill"},
	} {
		cfg := describeConfig(t, tc.skill)
		if tc.change != nil {
			tc.change(&cfg)
		}
		_, _, err := trainDescription(t, cfg, tc.tasks, describing(wider))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}
