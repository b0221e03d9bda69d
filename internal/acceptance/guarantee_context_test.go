package acceptance_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// verdictEnv scores every task alike, except for those that it cannot measure.
type verdictEnv struct {
	hard   float64
	broken func(task.Task) bool
}

func (e verdictEnv) Rollout(_ context.Context, t task.Task, _ skill.Skill, _ model.Client) (trajectory.Outcome, error) {
	if e.broken != nil && e.broken(t) {
		return trajectory.Outcome{}, errors.New("the instrument is broken")
	}
	return trajectory.Outcome{ID: t.ID, Status: score.OK, Hard: e.hard, Soft: e.hard, Answer: "x"}, nil
}

func envTasks(n int) []task.Task {
	out := make([]task.Task, n)
	for i := range out {
		out[i] = task.Task{ID: fmt.Sprintf("t%02d", i), Type: string(rune('A' + i%2)), Prompt: fmt.Sprintf("task %d", i), Gold: []string{"x"}}
	}
	return out
}

// envRun trains with an environment of its own and a simulated optimizer.
func envRun(t *testing.T, env task.Env, name string, opts ...skillopt.Option) (*result.Summary, error) {
	t.Helper()
	cfg := worldConfig("http://unused.invalid/v1")
	cfg.Train.Epochs = 1
	optimizer := sim.New(simulated(t))
	all := append([]skillopt.Option{
		skillopt.WithTasks(envTasks(50)), skillopt.WithEnv(name, env), skillopt.WithAcceptedSeed(),
		skillopt.WithClient(model.Target, "none", optimizer), skillopt.WithClient(model.Optimizer, "world", optimizer),
	}, opts...)
	return skillopt.Train(t.Context(), cfg, all...)
}

func TestForkMeasuresAgainWhatAnotherEnvironmentMeasured(t *testing.T) {
	t.Parallel()
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	first, err := envRun(t, verdictEnv{hard: 1}, "generous", skillopt.WithRunDir(a))
	if err != nil || first.Test.Best.Hard != 1 {
		t.Fatalf("%v, %+v", err, first)
	}
	forked, err := envRun(t, verdictEnv{hard: 0}, "strict", skillopt.WithRunDir(a), skillopt.WithFork(b))
	if err != nil {
		t.Fatal(err)
	}
	if forked.Test.Seed.Hard != 0 || forked.Best.Selection.Hard != 0 {
		t.Errorf("the fork shows scores of the other environment: test %+v, selection %+v", forked.Test.Seed, forked.Best.Selection)
	}
}

func TestForkAndFolderAskAnotherClientAgain(t *testing.T) {
	t.Parallel()
	right := model.Response{Text: "<answer>right</answer>", Finish: model.FinishStop}
	wrong := model.Response{Text: "<answer>wrong</answer>", Finish: model.FinishStop}
	train := func(name string, resp model.Response, dir string, opts ...skillopt.Option) *result.Summary {
		t.Helper()
		cfg := worldConfig("http://unused.invalid/v1")
		cfg.Train.Epochs = 1
		tasks := envTasks(30)
		for i := range tasks {
			tasks[i].Gold = []string{"right"}
		}
		sum, err := skillopt.Train(t.Context(), cfg, append([]skillopt.Option{
			skillopt.WithTasks(tasks), skillopt.WithRunDir(dir), skillopt.WithAcceptedSeed(),
			skillopt.WithClient(model.Target, name, always(resp)), skillopt.WithClient(model.Optimizer, "world", sim.New(simulated(t))),
		}, opts...)...)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	dir := t.TempDir()
	a := train("right", right, filepath.Join(dir, "a"))
	fork := train("wrong", wrong, filepath.Join(dir, "a"), skillopt.WithFork(filepath.Join(dir, "fork")))
	fresh := train("wrong", wrong, filepath.Join(dir, "fresh"))
	if a.Test.Seed.Hard != 1 || fork.Test.Seed.Hard != 0 || fresh.Test.Seed.Hard != 0 {
		t.Errorf("seed scores: first %v, fork %v, in the folder of the first %v; want 1, 0, 0",
			a.Test.Seed.Hard, fork.Test.Seed.Hard, fresh.Test.Seed.Hard)
	}
}

// always is a client with one answer.
func always(resp model.Response) model.Client { return fixed{resp} }

type fixed struct{ resp model.Response }

func (f fixed) Generate(context.Context, model.Request) (model.Response, error) { return f.resp, nil }

func TestTooFewTestItemsAreNoScore(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		broken int
		scored bool
	}{{"one of ten", 1, true}, {"two of ten", 2, false}, {"all but one", 9, false}} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			tasks := envTasks(50)
			for i := range tasks {
				tasks[i].Split = []task.Split{task.Train, task.Train, task.Selection, task.Selection, task.Test}[i%5]
			}
			left := tc.broken
			bad := map[string]bool{}
			for _, tk := range tasks {
				if tk.Split == task.Test && left > 0 {
					bad[tk.ID], left = true, left-1
				}
			}
			env := verdictEnv{hard: 1, broken: func(tk task.Task) bool { return bad[tk.ID] }}
			sum, err := envRun(t, env, "partly broken", skillopt.WithTasks(tasks), skillopt.WithRunDir(dir))
			if tc.scored {
				if err != nil || sum.Test.Best.N != 9 || sum.Test.Seed.N != 9 {
					t.Fatalf("%v, %+v", err, sum)
				}
				return
			}
			if kind(err) != skillopt.Unmeasurable || !strings.Contains(err.Error(), fmt.Sprintf("%d of 10 items", tc.broken)) {
				t.Errorf("error = %v (%s)", err, kind(err))
			}
			if sum.Test.Seed != nil || sum.Test.Best != nil {
				t.Errorf("a score is reported: %+v %+v", sum.Test.Seed, sum.Test.Best)
			}
		})
	}
}

func TestTooFewEvaluatedItemsAreNoScore(t *testing.T) {
	t.Parallel()
	env := verdictEnv{hard: 1, broken: func(tk task.Task) bool { return tk.ID != "t00" && tk.ID != "t01" }}
	cfg := worldConfig("http://unused.invalid/v1")
	got, err := skillopt.Evaluate(t.Context(), cfg, "all", skillopt.WithTasks(envTasks(30)), skillopt.WithEnv("broken", env),
		skillopt.WithClient(model.Target, "none", fixed{}), skillopt.WithRunDir(t.TempDir()))
	if kind(err) != skillopt.Unmeasurable || got != nil {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestARefusedEvaluationLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "eval")
	no := errors.New("no")
	_, err := skillopt.Evaluate(t.Context(), worldConfig("http://unused.invalid/v1"), "test", skillopt.WithRunDir(dir),
		skillopt.WithConfirm(func(result.Plan) error { return no }))
	if !errors.Is(err, no) || kind(err) != skillopt.BadInput {
		t.Errorf("error = %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the run directory is still there (%v)", err)
	}
}
