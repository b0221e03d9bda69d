package acceptance_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// judgeIsLimited: a run whose answers are judged ends at a ceiling of the judge.
func judgeIsLimited(t *testing.T, key, to string) {
	t.Helper()
	says := func(text string) model.Client {
		return modeltest.New(func(context.Context, int, model.Request) (model.Response, error) {
			timer := time.NewTimer(2 * time.Millisecond)
			defer timer.Stop()
			<-timer.C
			return model.Response{Text: text, Finish: model.FinishStop, Usage: trajectory.Usage{Input: 1000, Output: 10}}, nil
		})
	}
	cfg, err := config.LoadFile("", "tasks.path=testdata/guarantee/tasks.jsonl", "train.epochs=1", "eval.test=false", "gate.mode=off",
		"tasks.checks=[{type: llm-rubric, criteria: [{text: It is good.}]}]", "run.dir="+t.TempDir(),
		"models.judge={provider: openai, model: j}", "prices={j: {input: 1, output: 1, max_output: 20}}", "limits.roles.judge."+key+"="+to)
	if err != nil {
		t.Fatal(err)
	}
	_, err = skillopt.Train(t.Context(), cfg, skillopt.WithKeepOpen(), skillopt.WithClient(model.Target, "t", says("an answer")), skillopt.WithClient(model.Optimizer, "o", says("{}")),
		skillopt.WithClient(model.Judge, "j", says(`{"scores": {"good": 1}, "reason": "good", "good": 1}`)))
	if err == nil || !strings.Contains(err.Error(), "limits.roles.judge."+key+" is reached") && !strings.Contains(err.Error(), "limits.roles.judge."+key+" has no room for another call") {
		t.Errorf("got %v, want the ceiling of the judge", err)
	}
}
