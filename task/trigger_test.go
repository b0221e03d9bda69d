package task_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/task"
)

func TestTriggers(t *testing.T) {
	t.Parallel()
	both := []string{"load it: should", "leave it: should_not"}
	for name, tc := range map[string]struct {
		file, content string
		want          []string // prompt: trigger
		fault         string
	}{
		"lines":               {"t.jsonl", `{"prompt":"load it","trigger":"should"}` + "\n" + `{"prompt":"leave it","trigger":"should_not"}`, both, ""},
		"yaml":                {"t.yaml", "- {prompt: load it, trigger: should}\n- {prompt: leave it, trigger: should_not}\n", both, ""},
		"table":               {"t.csv", "prompt,trigger,gold\nload it,should,\nleave it,should_not,\n", both, ""},
		"set":                 {"evals.json", ` [{"query":"load it","should_trigger":true},{"query":"leave it","should_trigger":false}] `, both, ""},
		"set under a key":     {"evals.json", "\n{\"skill_name\":\"x\",\"evals\":[{\"id\":1,\"prompt\":\"p\"}],\"cases\":[{\"query\":\"load it\",\"should_trigger\":true},\n{\"query\":\"leave it\",\"should_trigger\":false}]}\n", both, ""},
		"another word":        {"t.jsonl", `{"prompt":"p","trigger":"maybe"}`, nil, `t.jsonl:1: task "t-`},
		"both are named":      {"t.jsonl", `{"prompt":"p","trigger":"maybe"}`, nil, `allowed: should (an agent should load the skill when it is asked this) and should_not`},
		"no truth":            {"evals.json", `[{"query":"p","should_trigger":"perhaps"}]`, nil, `field "should_trigger" must be true or false, found text`},
		"gold":                {"t.jsonl", `{"id":"a","prompt":"p","trigger":"should","gold":"g"}`, nil, "a trigger task with gold"},
		"empty gold":          {"t.jsonl", `{"id":"a","prompt":"p","trigger":"should","gold":["g",""]}`, nil, "a trigger task with gold"},
		"checks":              {"t.jsonl", `{"id":"a","prompt":"p","trigger":"should","checks":["is-json"]}`, nil, "a trigger task with checks"},
		"no prompt":           {"t.jsonl", `{"id":"a","trigger":"should"}`, nil, "no prompt: a trigger task needs one of its own"},
		"the same both ways":  {"t.jsonl", `{"prompt":"p","trigger":"should"}` + "\n" + `{"prompt":"p","trigger":"should_not"}`, nil, "asks the same as task"},
		"an id of others":     {"t.jsonl", `{"id":"a","prompt":"p","gold":"g"}` + "\n" + `{"id":"a","prompt":"q","trigger":"should"}`, nil, "duplicate id"},
		"query is only data":  {"t.jsonl", `{"prompt":"p","gold":"g","query":"q"}`, nil, ""},
		"as another task too": {"t.jsonl", `{"prompt":"p","gold":"g"}` + "\n" + `{"prompt":"p","trigger":"should"}`, []string{"p: should"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, fault := load(t, tc.file, tc.content, task.Rules{Checker: checker(t)})
			if tc.fault == "" != (fault == "") || !strings.Contains(fault, tc.fault) {
				t.Fatalf("%s, want %q", fault, tc.fault)
			}
			var got []string
			for _, one := range set.Triggers().Tasks() {
				got = append(got, one.Prompt+": "+string(one.Trigger))
				if len(one.Data) > 0 && tc.file != "t.csv" {
					t.Errorf("data of %s: %v", one.ID, one.Data)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			for _, one := range set.Tasks() {
				if one.Trigger != "" {
					t.Errorf("trigger task %s among the others", one.ID)
				}
			}
		})
	}
}

// The id of an item of a trigger set follows from what it says, not from its place.
func TestTriggerSetsHaveStableIDs(t *testing.T) {
	t.Parallel()
	first, _ := load(t, "evals.json", `[{"query":"a","should_trigger":true},{"query":"b","should_trigger":false}]`, task.Rules{})
	second, _ := load(t, "evals.json", `{"x":[{"should_trigger":false,"query":"b"},{"query":"c","should_trigger":true},{"query":"a","should_trigger":true}]}`, task.Rules{})
	a, b := first.Triggers().Tasks(), second.Triggers().Tasks()
	if len(a) != 2 || len(b) != 3 || a[0].ID != b[2].ID || a[1].ID != b[0].ID || a[0].ID == a[1].ID {
		t.Errorf("%v, %v", a, b)
	}
}

// Trigger tasks have splits of their own, and none of the others' moves.
func TestTriggersAreApart(t *testing.T) {
	t.Parallel()
	tasks := []task.Task{
		{ID: "t1", Prompt: "x", Trigger: task.TriggerShould},
		{ID: "a", Prompt: "a", Gold: []string{"g"}, Split: task.Train},
		{ID: "b", Prompt: "b", Gold: []string{"g"}, Split: task.Test},
	}
	set, err := task.NewSet(tasks, task.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	own := set.Triggers()
	if set.Len() != 2 || !set.Assigned() || own.Len() != 1 || own.Assigned() {
		t.Errorf("%d tasks, %v; %d triggers, %v", set.Len(), set.Assigned(), own.Len(), own.Assigned())
	}
	if own, err = own.Assign(map[task.Split][]int{task.Test: {0}}); err != nil || own.Count(task.Test) != 1 {
		t.Error(err)
	}
	if _, err := task.NewSet(tasks, task.Rules{NoTriggers: "nobody has an agent"}); err == nil || !strings.Contains(err.Error(), `task "t1": field "trigger": nobody has an agent`) {
		t.Errorf("refused with %v", err)
	}
	tasks[0].Trigger = "other"
	if _, err := task.NewSet(tasks, task.Rules{}); err == nil || !strings.Contains(err.Error(), "should, should_not") {
		t.Errorf("refused with %v", err)
	}
}
