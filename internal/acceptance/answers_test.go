package acceptance_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// talker is a model by a function. It counts what it is asked.
type talker struct {
	asked atomic.Int64
	say   func(req model.Request) (string, error)
}

func (a *talker) Generate(_ context.Context, req model.Request) (model.Response, error) {
	a.asked.Add(1)
	text, err := a.say(req)
	return model.Response{Text: text, Finish: model.FinishStop, Usage: trajectory.Usage{Input: 10, Output: 5}}, err
}

// Answers that are there already are scored as any other, by a judge too, which is paid once; no target is asked.
func TestAnswersThatAreThereAreScored(t *testing.T) {
	t.Parallel()
	judge := &talker{say: func(req model.Request) (string, error) {
		if strings.Contains(req.Messages[len(req.Messages)-1].Content, "polite answer") {
			return `{"reason": "polite", "score": 0.9}`, nil
		}
		return `{"reason": "rude", "score": 0.2}`, nil
	}}
	target := &talker{say: func(model.Request) (string, error) { return "", errors.New("a target was asked") }}
	rubric := json.RawMessage(`[{"type": "llm-rubric", "criteria": "It is polite."}]`)
	tasks := []task.Task{
		{ID: "a", Prompt: "Say no.", Checks: rubric, Split: task.Selection},
		{ID: "b", Prompt: "Say no.", Checks: rubric, Split: task.Selection},
		{ID: "c", Prompt: "Say 7.", Gold: []string{"7"}, Split: task.Selection},
	}
	answers := map[string]string{"a": "A polite answer.", "b": "No!", "c": "7"}
	dir := filepath.Join(t.TempDir(), "r")
	cfg := config.Default()
	cfg.Models.Judge.Provider, cfg.Models.Judge.Model = "openai", "m"
	cfg.Tasks.Extract = "tag:answer" // nothing is extracted: it is an answer already
	evaluate := func(answers map[string]string, change func(*config.Config), opts ...skillopt.Option) (map[string]float64, error) {
		c := cfg
		if change != nil {
			change(&c)
		}
		e, err := skillopt.Evaluate(t.Context(), c, "selection", append([]skillopt.Option{
			skillopt.WithSkill(skill.New("# S\n")), skillopt.WithTasks(tasks), skillopt.WithAnswers(answers), skillopt.WithRunDir(dir),
			skillopt.WithClient(model.Judge, "j", judge), skillopt.WithClient(model.Target, "t", target),
		}, opts...)...)
		if err != nil {
			return nil, err
		}
		if e.Calls.Total != 2 || e.Tokens.Input != 20 {
			t.Errorf("%+v", e.Usage)
		}
		data, err := os.ReadFile(filepath.Join(dir, "outcomes.json"))
		if err != nil {
			t.Fatal(err)
		}
		var out map[string][]trajectory.Outcome
		if err := json.Unmarshal(data, &out); err != nil {
			t.Fatal(err)
		}
		soft := map[string]float64{}
		for _, o := range out["selection"] {
			soft[o.ID] = o.Soft
		}
		return soft, nil
	}
	want := map[string]float64{"a": 0.9, "b": 0.2, "c": 1}
	for range 2 { // the second time from the record
		got, err := evaluate(answers, nil)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	}
	if judge.asked.Load() != 2 || target.asked.Load() != 0 {
		t.Errorf("judge asked %d times, target %d times", judge.asked.Load(), target.asked.Load())
	}
	other := maps.Clone(answers)
	other["b"] = "No, thank you."
	for name, err := range map[string]error{
		"other answers, the same run": second(evaluate(other, nil)),
		"an answer is missing":        second(evaluate(map[string]string{"a": "x"}, nil)),
		"an agent as well":            second(evaluate(answers, func(c *config.Config) { c.Agent.Name = "pi" })),
		"training": second(skillopt.Train(t.Context(), cfg, skillopt.WithSkill(skill.New("# S\n")), skillopt.WithTasks(tasks), skillopt.WithAnswers(answers),
			skillopt.WithRunDir(filepath.Join(t.TempDir(), "x")), skillopt.WithClient(model.Judge, "j", judge), skillopt.WithClient(model.Target, "t", target), skillopt.WithClient(model.Optimizer, "o", target))),
	} {
		var e *skillopt.Error
		if !errors.As(err, &e) || e.Kind != skillopt.BadInput {
			t.Errorf("%s: %v", name, err)
		}
	}
	if judge.asked.Load() != 2 {
		t.Error("what is refused has asked a judge")
	}
}

func second[T any](_ T, err error) error { return err }
