package passes

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Passes over a task count as one; what was not measured counts nowhere, and a kind of
// which nothing was measured has no rate.
func TestLoadRates(t *testing.T) {
	t.Parallel()
	const yes, no = trajectory.Loaded, trajectory.NotLoaded
	was := func(load trajectory.Load) trajectory.Outcome { return trajectory.Outcome{Status: score.OK, Load: load} }
	lost := trajectory.Outcome{ID: "c", Status: score.Unmeasured}
	tasks := []task.Task{{ID: "a", Trigger: task.TriggerShould}, {ID: "b", Trigger: task.TriggerShould}, {ID: "c", Trigger: task.TriggerShouldNot}}
	got := LoadRates(tasks, [][]trajectory.Outcome{{was(yes), was(no), lost}, {was(yes), was(yes), lost}})
	if r := got.Should; r == nil || r.Rate != 0.75 || r.Tasks != 2 || r.Loaded != 3 || r.Evaluations != 4 || r.SE == nil || math.Abs(*r.SE-0.25) > 1e-9 {
		t.Errorf("should: %+v", r)
	}
	if diff := cmp.Diff([]string{"c"}, got.Unmeasured); diff != "" || got.ShouldNot != nil {
		t.Errorf("%s, should not: %+v", diff, got.ShouldNot)
	}
	got = LoadRates(tasks, [][]trajectory.Outcome{{was(yes), lost, was(no)}})
	if got.Should.Rate != 1 || got.Should.SE != nil || got.ShouldNot.Rate != 0 || got.ShouldNot.Evaluations != 1 {
		t.Errorf("%+v %+v", got.Should, got.ShouldNot)
	}
}

// A description may take another one's place unless it loads worse by more than one standard
// error of the difference over the same prompts; one prompt of several is within it.
func TestLoadsWorse(t *testing.T) {
	t.Parallel()
	// A letter is a prompt: y, n should load the skill, Y, N should not; y and Y were loaded.
	// A dot was not measured, by kind.
	for name, tc := range map[string]struct {
		before, after string
		want          string // "": it may
	}{
		"alike":                    {"yynnNN", "yynnNN", ""},
		"better":                   {"nnnnYY", "yyyyNN", ""},
		"one lost of four":         {"yyyyNN", "yyynNN", ""},
		"two lost of four":         {"yyyyNNNN", "yynnNNNN", "that should load the skill"},
		"two lost, two won":        {"yynnNNNN", "nnyyNNNN", ""},
		"all lost":                 {"yyNN", "nnNN", "right 100.0 points less often"},
		"the only one lost":        {"yN", "nN", "(1 of them, s.e. 0.0)"},
		"two should not":           {"yyyyNNNN", "yyyyYYNN", "that should not load the skill"},
		"won here does not help":   {"nnnnNNNN", "yyyyYYNN", "that should not load the skill"},
		"one kind unknown":         {"yyNN", "yy::", "could not be seen on any of the prompts that should not"},
		"lost ones count for none": {"yyyyNN", "y..yNN", ""},
		"there is one kind only":   {"yy", "yy", ""},
	} {
		tasks, before := triggersOf(tc.before)
		_, after := triggersOf(tc.after)
		got := LoadsWorse(tasks, before, after)
		if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func triggersOf(text string) (tasks []task.Task, outcomes []trajectory.Outcome) {
	for i, r := range text {
		tk := task.Task{ID: string(rune('a' + i)), Trigger: task.TriggerShould}
		if strings.ContainsRune("YN:", r) {
			tk.Trigger = task.TriggerShouldNot
		}
		o := trajectory.Outcome{ID: tk.ID, Status: score.OK, Load: trajectory.NotLoaded}
		switch r {
		case 'y', 'Y':
			o.Load = trajectory.Loaded
		case '.', ':':
			o = trajectory.Outcome{ID: tk.ID, Status: score.Unmeasured}
		}
		tasks, outcomes = append(tasks, tk), append(outcomes, o)
	}
	return tasks, outcomes
}
