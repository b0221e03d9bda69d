package session

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/task"
)

// A limit takes the first tasks of each split that there would be without it.
func TestTasksAreLimited(t *testing.T) {
	t.Parallel()
	sides := []task.Split{task.Train, task.Selection, task.Test}
	for name, tt := range map[string]struct {
		ratio string // "": the tasks name their splits
		limit int    // tasks.limit
		want  [3]int // tasks of train, selection and test
	}{
		"divided here, all":      {"2:1:7", 0, [3]int{4, 2, 14}},
		"divided here, some":     {"2:1:7", 3, [3]int{3, 2, 3}},
		"divided here, one":      {"2:1:7", 1, [3]int{1, 1, 1}},
		"divided before, all":    {"", 0, [3]int{7, 7, 6}},
		"divided before, some":   {"", 6, [3]int{6, 6, 6}},
		"more than any split is": {"2:1:7", 100, [3]int{4, 2, 14}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tasks []task.Task
			for i := range 20 {
				one := task.Task{ID: fmt.Sprint("t", i), Prompt: fmt.Sprintf("What is %d + %d?", i, 3*i), Gold: []string{fmt.Sprint(4 * i)}}
				if tt.ratio == "" {
					one.Split = sides[i%3]
				}
				tasks = append(tasks, one)
			}
			all, some := splitsOf(t, tasks, tt.ratio, 0), splitsOf(t, tasks, tt.ratio, tt.limit)
			for i, side := range sides {
				if diff := cmp.Diff(all[side][:tt.want[i]], some[side]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", side, diff)
				}
			}
		})
	}
}

// splitsOf returns the ids of the tasks of each split that a limit leaves.
func splitsOf(t *testing.T, tasks []task.Task, ratio string, limit int) map[task.Split][]string {
	t.Helper()
	cfg := config.Default()
	cfg.Models.Target.Provider, cfg.Models.Target.Model = "openai", "m"
	cfg.Split.Ratio, cfg.Split.CrossFit, cfg.Tasks.Limit = ratio, 0, limit
	in, err := Load(t.Context(), cfg, Options{Given: Given{Tasks: tasks}})
	if err != nil {
		t.Fatal(err)
	}
	out := map[task.Split][]string{}
	for side, kept := range map[task.Split][]task.Task{task.Train: in.Data.Train, task.Selection: in.Data.Selection, task.Test: in.Data.Test} {
		for _, one := range kept {
			out[side] = append(out[side], one.ID)
		}
	}
	if n := len(out[task.Train]) + len(out[task.Selection]) + len(out[task.Test]); n != in.Set.Len() {
		t.Errorf("%d tasks are in splits, and %d in the set", n, in.Set.Len())
	}
	return out
}
