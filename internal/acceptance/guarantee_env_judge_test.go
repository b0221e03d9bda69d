package acceptance_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
)

// judged evaluates a program whose answers a judge scores: it says "blue" to
// every task. count gets a line a task that it does.
func judged(t *testing.T, count, dir string, judge model.Client, change func(*config.Config)) error {
	t.Helper()
	needsShell(t)
	cfg := config.Default()
	cfg.Env.Command = []string{"sh", "-c", `while read -r line; do echo >>` + count + `; echo '{"answer":"blue","trajectory":[{"kind":"tool_call","action":"look {}"}]}'; done`}
	cfg.Tasks.Checks = []any{map[string]any{"type": "llm-equivalent"}, map[string]any{"type": "tool-called", "tool": "look", "weight": 0.0, "required": true}}
	if change != nil {
		change(&cfg)
	}
	l, err := config.Load(config.Options{Dir: t.TempDir(), Lookup: func(name string) (string, bool) { return os.Getenv(name), name == "PATH" }})
	if err != nil {
		t.Fatal(err)
	}
	l.Config = cfg
	tasks := []task.Task{
		{ID: "sky", Prompt: "Colour of the sky?", Gold: []string{"azure"}, Split: task.Test},
		{ID: "grass", Prompt: "Colour of grass?", Gold: []string{"green"}, Split: task.Test},
	}
	_, err = skillopt.Evaluate(t.Context(), cfg, "test", skillopt.WithTasks(tasks), skillopt.WithRunDir(dir), skillopt.WithLoaded(l),
		skillopt.WithClient(model.Judge, "scripted", judge), skillopt.WithClient(model.Target, "none", noCalls{t}))
	return err
}

// A judge scores what a program of the user answers. A verdict that could not be
// had is asked for again, without the program; one that was given is not.
func TestJudgesScorePrograms(t *testing.T) {
	t.Parallel()
	dir, count := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "count")
	down := modeltest.Func(func(context.Context, model.Request) (model.Response, error) {
		return model.Response{}, &model.Error{Code: model.Auth, Err: errors.New("no key")}
	})
	if err := judged(t, count, dir, down, nil); err == nil {
		t.Fatal("scored without a judge")
	}
	before, err := os.ReadFile(count)
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	judge := modeltest.Func(func(_ context.Context, req model.Request) (model.Response, error) {
		asked.Add(1)
		same := "false"
		if strings.Contains(req.Messages[1].Content, "azure") {
			same = "true"
		}
		return modeltest.Text(`{"reason":"seen","equivalent":` + same + `}`).Response, nil
	})
	for range 2 {
		if err := judged(t, count, dir, judge, nil); err != nil {
			t.Fatal(err)
		}
		got := outcomesIn(t, dir)
		if sky, grass := got["sky"], got["grass"]; sky.Status != score.OK || sky.Hard != 1 || grass.Status != score.OK || grass.Hard != 0 || grass.FailReason == "" {
			t.Errorf("sky %+v, grass %+v", sky, grass)
		}
	}
	after, err := os.ReadFile(count)
	if err != nil {
		t.Fatal(err)
	}
	if asked.Load() != 2 || len(before) == 0 || len(after) != 2 {
		t.Errorf("the judge was asked %d times, the program %d and then %d times", asked.Load(), len(before), len(after))
	}
}

// A program has no workspace: checks that look at one are refused beforehand.
func TestProgramsHaveNoWorkspace(t *testing.T) {
	t.Parallel()
	err := judged(t, filepath.Join(t.TempDir(), "count"), filepath.Join(t.TempDir(), "run"), noCalls{t}, func(c *config.Config) {
		c.Tasks.Checks = []any{map[string]any{"type": "command", "run": "true"}}
	})
	if kind(err) != skillopt.BadInput || !strings.Contains(err.Error(), "workspace") {
		t.Errorf("%v", err)
	}
}
