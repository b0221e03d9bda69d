package acceptance_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// answering is a target that answers by the last message of the user.
type answering func(question string) string

func (a answering) Generate(_ context.Context, req model.Request) (model.Response, error) {
	return model.Response{Text: a(req.Messages[len(req.Messages)-1].Text()), Finish: model.FinishStop}, nil
}

// seedTasks have the number in their question, in words of their own, as gold.
func seedTasks() []task.Task {
	out := make([]task.Task, 40)
	for i := range out {
		out[i] = task.Task{ID: fmt.Sprintf("t%02d", i), Prompt: fmt.Sprintf("Which number is %d?", 100+i), Gold: []string{fmt.Sprint(100+i, " pieces")}}
	}
	return out
}

// number is the one in a question.
func number(question string) string {
	_, after, _ := strings.Cut(question, "number is ")
	n, _, _ := strings.Cut(after, "?")
	return n
}

// seeded trains for one epoch and returns the warnings too.
func seeded(t *testing.T, dir string, extract any, target answering, opts ...skillopt.Option) (*result.Summary, []string, error) {
	t.Helper()
	cfg := worldConfig("http://unused.invalid/v1")
	cfg.Split.CrossFit = 0
	cfg.Train.Epochs = 1
	cfg.Tasks.Extract = extract
	var warnings []string
	all := append([]skillopt.Option{
		skillopt.WithTasks(seedTasks()), skillopt.WithRunDir(dir),
		skillopt.WithClient(model.Target, "target", target), skillopt.WithClient(model.Optimizer, "world", sim.New(simulated(t))),
		skillopt.WithEvents(func(e event.Event) {
			if w, ok := e.(event.Warning); ok {
				warnings = append(warnings, w.Text)
			}
		}),
	}, opts...)
	sum, err := skillopt.Train(t.Context(), cfg, all...)
	return sum, warnings, err
}

// Scores of the seed skill that cannot be what was meant end the run before its first
// step, with tasks that show why; those that may be sound do not.
func TestBrokenMeasurementIsToldBeforeTheFirstStep(t *testing.T) {
	t.Parallel()
	in := func(tag, pre, post string) answering {
		return func(q string) string { return fmt.Sprintf("<%s>%s%s%s</%s>", tag, pre, number(q), post, tag) }
	}
	for name, tt := range map[string]struct {
		extract any
		target  answering
		stops   string // in the error; "" = it trains
		warns   string // in a warning; "" = none is about the scores
	}{
		"the tag has another name":      {"tag:result", in("answer", "", ""), "tasks.extract finds no answer in 16 of 16 replies", ""},
		"a pattern that nobody writes":  {"regex:^Answer: (.*)$", in("answer", "", ""), "tasks.extract finds no answer", ""},
		"JSON is expected":              {"json_path:answer", in("answer", "", ""), "tasks.extract finds no answer", ""},
		"right answers score nothing":   {"last_line", func(q string) string { return number(q) + " pieces\nI hope this helps." }, "16 replies hold an accepted answer word for word and score 0", ""},
		"right answers in a sentence":   {"all", func(q string) string { return "It is " + number(q) + " pieces." }, "hold an accepted answer word for word", ""},
		"all is right":                  {"tag:answer", in("answer", "", " pieces"), "each of 16 replies scores 1", ""},
		"a skill can begin at 0":        {"tag:answer", in("answer", "", ""), "", "each of 16 replies of the seed skill scores 0"},
		"wrong, and in the right place": {"tag:answer", in("answer", "1", " pieces"), "", "scores 0"},
		"some have no tag": {"tag:answer", func(q string) string {
			return map[bool]string{true: "no idea", false: "<answer>x" + q + "</answer>"}[number(q) < "120"]
		}, "", "scores 0"},
		"some are right": {"tag:answer", func(q string) string {
			return "<answer>" + number(q) + map[bool]string{true: " pieces", false: ""}[number(q) < "120"] + "</answer>"
		}, "", ""},
		"one answer for all":              {"tag:answer", func(string) string { return "<answer>120 pieces</answer>" }, "", ""},
		"a part of a number is no answer": {"tag:answer", func(q string) string { return "<answer>9" + number(q) + " piecess</answer>" }, "", "scores 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			sum, warnings, err := seeded(t, dir, tt.extract, tt.target)
			told := strings.Join(warnings, "\n")
			if tt.stops == "" {
				if err != nil || !strings.Contains(told, tt.warns) || tt.warns == "" && strings.Contains(told, "scores 0") {
					t.Errorf("%v, warnings %q", err, told)
				}
				return
			}
			if kind(err) != skillopt.BadInput || !strings.Contains(err.Error(), tt.stops) || sum.Steps != 0 {
				t.Fatalf("%v (%s), %d steps", err, kind(err), sum.Steps)
			}
			for _, want := range []string{"task t", `prompt: "`, `reply: "`, `accepted: "`, "pieces", `checks: "`, "--accept-seed"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error lacks %q: %v", want, err)
				}
			}
			if n := strings.Count(err.Error(), "reply: "); n != 3 {
				t.Errorf("%d tasks are shown", n)
			}
			again, _, err := seeded(t, dir, tt.extract, tt.target)
			// Beside the 16 of the seed the rollouts of the first batch may have begun, 10 of them.
			if kind(err) != skillopt.BadInput || again.Calls.Total > 26 {
				t.Errorf("run again: %v, %d calls after %d", err, again.Calls.Total, sum.Calls.Total)
			}
			if on, _, err := seeded(t, dir, tt.extract, tt.target, skillopt.WithAcceptedSeed()); err != nil || on.Steps == 0 && on.Stop == nil {
				t.Errorf("accepted: %v", err)
			}
			if done, _, err := seeded(t, dir, tt.extract, tt.target); err != nil || done.Status != "completed" {
				t.Errorf("a finished run: %v", err)
			}
		})
	}
}

// constEnv gives every task the same score.
type constEnv struct{ hard float64 }

func (e constEnv) Rollout(_ context.Context, t task.Task, _ skill.Skill, _ model.Client) (trajectory.Outcome, error) {
	return trajectory.Outcome{ID: t.ID, Status: "ok", Hard: e.hard, Soft: e.hard, Answer: t.ID}, nil
}

// rightEnv answers right and scores nothing, as one does that compares a text with a list.
type rightEnv struct{}

func (rightEnv) Rollout(_ context.Context, t task.Task, _ skill.Skill, _ model.Client) (trajectory.Outcome, error) {
	return trajectory.Outcome{ID: t.ID, Status: "ok", Answer: t.Gold[0]}, nil
}

// An environment that does not look at answers is no measurement; one that begins at 0
// may be.
func TestEnvironmentsThatDoNotLookAreTold(t *testing.T) {
	t.Parallel()
	for hard, stops := range map[float64]bool{0: false, 0.5: true, 1: true} {
		_, _, err := seeded(t, filepath.Join(t.TempDir(), "run"), nil, nil, skillopt.WithEnv(fmt.Sprint(hard), constEnv{hard}))
		if (kind(err) == skillopt.BadInput) != stops || !stops && err != nil {
			t.Errorf("always %v: %v", hard, err)
		}
	}
	_, _, err := seeded(t, filepath.Join(t.TempDir(), "run"), nil, nil, skillopt.WithEnv("right", rightEnv{}))
	if kind(err) != skillopt.BadInput || !strings.Contains(err.Error(), "it gets gold as a list") {
		t.Errorf("right answers that score nothing: %v", err)
	}
}
