package acceptance_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
)

// How far a pattern comes in its time is a matter of the machine: a reply in which
// it did not find the answer by then has no score, not that of the whole reply.
func TestAnAnswerThatIsNotFoundInTimeHasNoScore(t *testing.T) {
	t.Parallel()
	run := filepath.Join(t.TempDir(), "run")
	cfg := config.Default()
	cfg.Skill = filepath.Join(guaranteeDir, "SKILL.md")
	cfg.Tasks.Extract = map[string]any{"regex": `=(\w+)$|(?:a|aa)+$`, "fallback": "none"}
	cfg.Tasks.Checks = []any{map[string]any{"type": "equals", "value": "done"}}
	var tasks []task.Task
	for _, id := range []string{"good1", "slow", "good2"} {
		tasks = append(tasks, task.Task{ID: id, Prompt: "Do " + id, Gold: []string{"done"}, Split: task.Test})
	}
	client := modeltest.Func(func(_ context.Context, req model.Request) (model.Response, error) {
		text := "=done"
		if strings.Contains(req.Messages[len(req.Messages)-1].Text(), "slow") {
			text = strings.Repeat("a", 60) + "!"
		}
		return model.Response{Text: text, Finish: model.FinishStop}, nil
	})
	if _, err := skillopt.Evaluate(t.Context(), cfg, "test", skillopt.WithTasks(tasks), skillopt.WithRunDir(run), skillopt.WithClient(model.Target, "scripted", client)); err != nil {
		t.Fatal(err)
	}
	got := outcomesIn(t, run)
	for _, id := range []string{"good1", "good2"} {
		if got[id].Hard != 1 {
			t.Errorf("%s: %+v", id, got[id])
		}
	}
	if o := got["slow"]; o.Status != score.Unmeasured || !strings.Contains(o.FailReason, "tasks.extract: the pattern") {
		t.Errorf("slow: %+v", o)
	}
}
