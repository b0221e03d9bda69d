package task_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/task"
)

// some returns n sound tasks.
func some(n int) []task.Task {
	tasks := make([]task.Task, n)
	for i := range tasks {
		tasks[i] = task.Task{ID: fmt.Sprint("t", i), Prompt: fmt.Sprint("p", i), Gold: []string{"g"}}
	}
	return tasks
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	tests := []struct {
		rules task.Rules
		want  string // "" for no fault
	}{
		{task.Rules{Prompt: "{{context}} {{question}}"}, ""},
		{task.Rules{Prompt: "{{id}} {{type}} {{meta.kind}}", System: "{{skill}}", Values: map[string]any{"skill": ""}}, ""},
		{task.Rules{Prompt: "{{question}}", System: "{{extras.tone}}", Values: map[string]any{"extras": map[string]any{"tone": "dry"}}}, ""},
		{task.Rules{Prompt: "{{question}}\n{{contxt}}"}, "tasks.prompt:2: unknown name {{contxt}}"},
		{task.Rules{Prompt: "{{prompt}}"}, "unknown name {{prompt}}"},
		{task.Rules{Prompt: "{{question}}", System: "{{skill}}"}, "tasks.system:1: unknown name {{skill}}"},
		{task.Rules{Prompt: "{{question"}, "tasks.prompt:1: {{ without }}"},
		{task.Rules{Prompt: "{{gold}}"}, "tasks.prompt: {{gold}} would show the target what it is scored against"},
		{task.Rules{Prompt: "{{question}}", System: "{{hidden}}"}, "tasks.system: {{hidden}} would show"},
		{task.Rules{Prompt: "same for all"}, "asks the same"},
	}
	for _, tt := range tests {
		tasks := make([]task.Task, 2)
		for i := range tasks {
			tasks[i] = task.Task{
				ID: fmt.Sprint("t", i), Type: "k", Gold: []string{"g"}, Origin: fmt.Sprint("f:", i+1),
				Data: map[string]any{"question": fmt.Sprint("q", i), "context": "c", "meta": map[string]any{"kind": "m"}},
			}
		}
		_, err := task.NewSet(tasks, tt.rules)
		if tt.want == "" {
			if err != nil {
				t.Errorf("%+v: %v", tt.rules, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: got %v, want %s", tt.rules, err, tt.want)
		}
	}
}

// TestOneFaultOneProblem: what follows from a fault is not reported with it.
func TestOneFaultOneProblem(t *testing.T) {
	t.Parallel()
	noPrompt := some(3)
	for i := range noPrompt {
		noPrompt[i].Prompt = ""
	}
	for name, rules := range map[string]task.Rules{"no prompt": {}, "unknown name": {Prompt: "{{x}}"}} {
		_, err := task.NewSet(noPrompt, rules)
		var bad *task.Error
		if !errors.As(err, &bad) || len(bad.Problems) != 3 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFieldsKeepSecrets(t *testing.T) {
	t.Parallel()
	got := task.Task{ID: "i", Type: "k", Prompt: "p", Gold: []string{"g"}, Hidden: "h", Data: map[string]any{"a": 1}}.Fields()
	if diff := cmp.Diff(map[string]any{"id": "i", "type": "k", "prompt": "p", "a": 1}, got); diff != "" {
		t.Error(diff)
	}
}

func TestOwnScore(t *testing.T) {
	t.Parallel()
	tasks := []task.Task{{ID: "a"}, {ID: "b"}, {ID: "c", Hidden: "seed 3"}}
	if _, err := task.NewSet(tasks, task.Rules{OwnScore: true, Checker: checker(t)}); err != nil {
		t.Error(err)
	}
	if _, err := task.NewSet(tasks, task.Rules{Checker: checker(t)}); err == nil {
		t.Error("without an environment: no error")
	}
	bad := []task.Task{{ID: "a", Checks: []byte(`[{"type":"equls"}]`)}}
	if _, err := task.NewSet(bad, task.Rules{OwnScore: true, Checker: checker(t)}); err == nil {
		t.Error("broken checks: no error")
	}
}

func TestNewSetRefuses(t *testing.T) {
	t.Parallel()
	for name, tasks := range map[string][]task.Task{
		"no tasks":       nil,
		"no id":          {{Prompt: "p", Gold: []string{"g"}}},
		"checks no JSON": {{ID: "a", Prompt: "p", Checks: []byte("{")}},
	} {
		_, err := task.NewSet(tasks, task.Rules{})
		var bad *task.Error
		if !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// twoFaults is a checker that finds two things wrong with every task.
type twoFaults struct{}

func (twoFaults) Check(task.Task) error { return errors.Join(errors.New("one"), errors.New("two")) }

func TestCheckerFaultsAreSeparate(t *testing.T) {
	t.Parallel()
	_, err := task.NewSet(some(1), task.Rules{Checker: twoFaults{}})
	var bad *task.Error
	if !errors.As(err, &bad) || len(bad.Problems) != 2 || bad.Problems[1] != (task.Problem{ID: "t0", Msg: "two"}) {
		t.Errorf("got %v", err)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	few, err := task.NewSet(some(23), task.Rules{})
	if err != nil || len(few.Warnings()) != 1 || !strings.Contains(few.Warnings()[0], "only 23 tasks") {
		t.Errorf("got %v, %v", few.Warnings(), err)
	}
	enough, err := task.NewSet(some(24), task.Rules{})
	if err != nil || len(enough.Warnings()) != 0 {
		t.Errorf("got %v, %v", enough.Warnings(), err)
	}
	doubled := some(24)
	for i := range doubled {
		doubled[i].Split = task.Train
	}
	doubled[1].Prompt, doubled[2].Split = doubled[0].Prompt, task.Test
	s, err := task.NewSet(doubled, task.Rules{})
	if err != nil || len(s.Warnings()) != 1 || !strings.Contains(s.Warnings()[0], "1 task asks the same as another task of its split") {
		t.Errorf("got %v, %v", s.Warnings(), err)
	}
}

func TestParseSplit(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]task.Split{
		"train": task.Train, "Training": task.Train, " val ": task.Selection, "selection": task.Selection, "dev": task.Selection,
		"validation": task.Selection, "valid": task.Selection, "valid_seen": task.Selection, "valid_unseen": task.Test, "TEST": task.Test,
	} {
		if got, err := task.ParseSplit(name); err != nil || got != want {
			t.Errorf("%q: got %q, %v", name, got, err)
		}
	}
	if _, err := task.ParseSplit("tset"); err == nil || !strings.Contains(err.Error(), `"tset"`) {
		t.Errorf("got %v", err)
	}
}

func TestAssign(t *testing.T) {
	t.Parallel()
	s, err := task.NewSet(some(5), task.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Assign(map[task.Split][]int{task.Train: {4, 0}, task.Selection: {2}, task.Test: {3, 1}})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, tk := range got.Split(task.Train) {
		ids = append(ids, tk.ID+string(tk.Split))
	}
	if diff := cmp.Diff([]string{"t4train", "t0train"}, ids); diff != "" || s.Assigned() || !got.Assigned() || s.Tasks()[0].Split != "" {
		t.Errorf("%s; the original is assigned: %v", diff, s.Assigned())
	}
	if err := got.Require(task.Train, task.Selection, task.Test); err != nil {
		t.Error(err)
	}
	part, err := s.Assign(map[task.Split][]int{task.Train: {0, 1, 2, 3, 4}})
	if err != nil {
		t.Fatal(err)
	}
	if err := part.Require(task.Train, task.Selection, task.Test); err == nil || strings.Count(err.Error(), "split is empty") != 2 {
		t.Errorf("got %v", err)
	}
	for name, parts := range map[string]map[task.Split][]int{
		"missing":      {task.Train: {0, 1, 2, 3}},
		"twice":        {task.Train: {0, 1, 2, 3, 4}, task.Test: {0}},
		"out of range": {task.Train: {0, 1, 2, 3, 5}},
		"negative":     {task.Train: {-1}},
	} {
		if _, err := s.Assign(parts); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestSplitsAreDisjointAndComplete: however the tasks name their splits, each
// is in exactly one.
func TestSplitsAreDisjointAndComplete(t *testing.T) {
	t.Parallel()
	names := []task.Split{task.Train, task.Selection, task.Test}
	rapid.Check(t, func(t *rapid.T) {
		tasks := some(rapid.IntRange(1, 40).Draw(t, "n"))
		for i := range tasks {
			tasks[i].Split = rapid.SampledFrom(names).Draw(t, "split")
		}
		s, err := task.NewSet(tasks, task.Rules{})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]task.Split{}
		for _, name := range names {
			for _, tk := range s.Split(name) {
				if other, twice := seen[tk.ID]; twice || tk.Split != name {
					t.Fatalf("%s is in %s and %s", tk.ID, name, other)
				}
				seen[tk.ID] = name
			}
		}
		if len(seen) != len(tasks) {
			t.Fatalf("%d of %d tasks are in splits", len(seen), len(tasks))
		}
	})
}

// A field whose name is nearly that of one that means something is told, unless it is
// used or the task has what was meant.
func TestSlips(t *testing.T) {
	t.Parallel()
	tasks := func(change func(*task.Task)) []task.Task {
		out := make([]task.Task, task.MinTasks)
		for i := range out {
			out[i] = task.Task{ID: fmt.Sprint(i), Prompt: fmt.Sprint("question ", i), Gold: []string{"x"}, Origin: fmt.Sprint("tasks.jsonl:", i+1), Data: map[string]any{}}
			change(&out[i])
		}
		return out
	}
	for name, tt := range map[string]struct {
		change func(*task.Task)
		rules  task.Rules
		want   []string
	}{
		"nothing":      {func(*task.Task) {}, task.Rules{}, nil},
		"a picture":    {func(t *task.Task) { t.Data["image"] = "a.png" }, task.Rules{}, []string{`tasks.jsonl:1: the field "image" of 24 tasks is read by nothing; was "images" meant?`}},
		"it is used":   {func(t *task.Task) { t.Data["image"] = "a.png" }, task.Rules{Prompt: "{{prompt}} {{image}}"}, nil},
		"it is there":  {func(t *task.Task) { t.Data["answer_"] = "y" }, task.Rules{}, nil},
		"another word": {func(t *task.Task) { t.Data["context"], t.Data["time"] = "y", 3 }, task.Rules{}, nil},
		"own score":    {func(t *task.Task) { t.Data["image"] = "a.png" }, task.Rules{OwnScore: true}, nil},
	} {
		s, err := task.NewSet(tasks(tt.change), tt.rules)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, s.Warnings()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestPublishedSplitsMayShareTasks: what a benchmark is published with is kept, and said; in a set of one's own
// it is an error. An id in two splits is one in either.
func TestPublishedSplitsMayShareTasks(t *testing.T) {
	t.Parallel()
	tasks := []task.Task{
		{ID: "a", Prompt: "What is it?", Gold: []string{"1"}, Split: task.Train},
		{ID: "b", Prompt: "What is it?", Gold: []string{"1"}, Split: task.Test},
		{ID: "c", Prompt: "And this?", Gold: []string{"2"}, Split: task.Selection},
	}
	if _, err := task.NewSet(tasks, task.Rules{}); err == nil || !strings.Contains(err.Error(), "overlapping splits") {
		t.Errorf("got %v, want overlapping splits", err)
	}
	set, err := task.NewSet(tasks, task.Rules{Published: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := "1 task is the same as a task of another published split (b and a)"; !strings.Contains(strings.Join(set.Warnings(), "\n"), want) {
		t.Errorf("%q is missing in %q", want, set.Warnings())
	}
	tasks[1].ID = "a"
	if _, err := task.NewSet(tasks, task.Rules{Published: true}); err == nil {
		t.Error("an id in two splits was taken")
	}
}
