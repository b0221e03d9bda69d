package acceptance_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// priced is what tokens would cost by role, in dollars: of a simulation nothing
// is known.
func priced(role string, input, output float64) float64 {
	if role == "target" {
		return (0.25*input + 2*output) / 1e6
	}
	return (1.25*input + 10*output) / 1e6
}

// The forecast of the quick start with minibatches of eight, four edits a step and a warm start, made
// before anything was asked, is within 20 % of what it takes; so it is with its record.
func TestForecastOfTheQuickStart(t *testing.T) {
	t.Parallel()
	before := forecastOf(t, "reflect.minibatch_size=8", "edits.budget=4", "train.warm=on")
	if math.Abs(before) > 0.2 {
		t.Errorf("the forecast is off by %.0f %%", 100*before)
	}
}

// With wide reflection a run finds what there is to find in fewer steps than the forecast
// takes for usual: docs/budgets.md says by how much it is off. The interval of the calls
// holds, and with the record the cost does.
func TestForecastOfWideReflection(t *testing.T) {
	t.Parallel()
	forecastOf(t)
}

// A run too large to be played in a dry run has a bound and the reason why there is nothing more, and
// begins without waiting for it.
func TestALargeRunHasNoDryRun(t *testing.T) {
	t.Parallel()
	cfg, err := config.LoadFile(filepath.Join("..", "..", "examples", "quickstart"), "train.batch_size=10")
	if err != nil {
		t.Fatal(err)
	}
	var tasks []task.Task
	for i := range 4000 {
		tasks = append(tasks, task.Task{ID: fmt.Sprint("t", i), Prompt: fmt.Sprint("question ", i), Gold: []string{"x"}})
	}
	p, err := skillopt.Plan(t.Context(), cfg, skillopt.WithTasks(tasks))
	if err != nil {
		t.Fatal(err)
	}
	if p.Forecast != nil || !strings.Contains(p.NoForecast, "too many to rehearse") || p.Selection != 1600 || p.Total < 300_000 {
		t.Errorf("total %d, forecast %v, %q, %d selection tasks", p.Total, p.Forecast, p.NoForecast, p.Selection)
	}
}

// forecastOf trains the quick start and returns how far its cost was off the forecast,
// as a share.
func forecastOf(t *testing.T, settings ...string) float64 {
	t.Helper()
	cfg, err := config.LoadFile(filepath.Join("..", "..", "examples", "quickstart"), settings...)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Run.Dir = t.TempDir()
	cost := func() (usd float64, calls result.Interval) {
		p, err := skillopt.Plan(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		for _, st := range p.Forecast.Stages {
			usd += priced(st.Role, st.Input.Expected, st.Output.Expected)
		}
		return usd, p.Forecast.Calls
	}
	before, callsBefore := cost()
	sum, err := skillopt.Train(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	actual := 0.0
	for _, st := range sum.Stages {
		actual += priced(st.Role, float64(st.Input), float64(st.Output))
	}
	after, callsAfter := cost()
	t.Logf("calls %d, forecast %.0f and with the record %.0f; cost %.4f, forecast %.4f (%+.1f %%) and with the record %.4f (%+.1f %%)",
		sum.Calls.Total, callsBefore.Expected, callsAfter.Expected, actual, before, 100*(before/actual-1), after, 100*(after/actual-1))
	for _, i := range []result.Interval{callsBefore, callsAfter} {
		if n := float64(sum.Calls.Total); n < i.Low || n > i.High {
			t.Errorf("%v calls, not within %+v", n, i)
		}
	}
	if off := math.Abs(after/actual - 1); off > 0.2 {
		t.Errorf("with the record the forecast is off by %.0f %%", 100*off)
	}
	return before/actual - 1
}

// paying is an environment that calls a model by itself and reports what it spent.
type paying struct{}

func (paying) Rollout(_ context.Context, t task.Task, _ skill.Skill, _ model.Client) (trajectory.Outcome, error) {
	return trajectory.Outcome{ID: t.ID, Type: t.Type, Status: score.OK, Hard: 1, Soft: 1, Answer: "x", Usage: trajectory.Usage{Input: 2000, Output: 100}}, nil
}

// What episodes take is unknown before one was made and never 0, and what they
// reported of themselves counts afterwards.
func TestForecastOfEpisodes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg, err := config.LoadFile("", "tasks.path=testdata/guarantee/tasks.jsonl", "train.epochs=1", "gate.mode=strict", "run.dir="+dir, "skill=testdata/guarantee/SKILL.md",
		"models.target={provider: openai, model: t}", "models.optimizer={provider: openai, model: o}",
		"prices={t: {input: 1, output: 1}, o: {input: 1, output: 1}}")
	if err != nil {
		t.Fatal(err)
	}
	says := func(text string) model.Client {
		return modeltest.New(func(context.Context, int, model.Request) (model.Response, error) {
			return model.Response{Text: text, Finish: model.FinishStop, Usage: trajectory.Usage{Input: 500, Output: 10}}, nil
		})
	}
	// One reply of three can be used: with none the run would end at its third step.
	hardly := modeltest.New(func(_ context.Context, n int, _ model.Request) (model.Response, error) {
		text := "{}"
		if n >= 25 {
			text = `{"patch": {"edits": []}}`
		}
		return model.Response{Text: text, Finish: model.FinishStop, Usage: trajectory.Usage{Input: 500, Output: 10}}, nil
	})
	opts := []skillopt.Option{skillopt.WithEnv("paying", paying{}), skillopt.WithClient(model.Target, "t", says("x")), skillopt.WithClient(model.Optimizer, "o", hardly)}
	plan := func() (f *result.Forecast, target result.StageForecast) {
		t.Helper()
		p, err := skillopt.Plan(t.Context(), cfg, opts...)
		if err != nil {
			t.Fatal(err)
		}
		for _, st := range p.Forecast.Stages {
			if st.Role == model.Target {
				target = st
			}
		}
		return p.Forecast, target
	}
	before, target := plan()
	if before.USD != nil || before.TimeS != nil || target.USD != nil || !slices.Equal(before.Unknown, []string{model.Target}) {
		t.Errorf("before an episode was made: cost %v, time %v, of the target %v, unknown %v", before.USD, before.TimeS, target.USD, before.Unknown)
	}
	sum, err := skillopt.Train(t.Context(), cfg, append(opts, skillopt.WithAcceptedSeed())...)
	if err != nil {
		t.Fatal(err)
	}
	after, target := plan()
	if after.USD == nil || target.USD == nil || math.Abs(target.USD.Expected-*sum.CostUSD) > 0.2**sum.CostUSD || target.Input.Expected < 2000*target.Calls.Expected*0.9 {
		t.Errorf("with the record: cost %v, of the target %v and %v tokens; the run cost %v", after.USD, target.USD, target.Input, *sum.CostUSD)
	}
}

// A judge is foreseen beside episodes too.
func TestForecastOfAJudgeOfEpisodes(t *testing.T) {
	t.Parallel()
	cfg, err := config.LoadFile("", "tasks.path=testdata/guarantee/tasks.jsonl", "train.epochs=1", "run.dir="+t.TempDir(), "skill=testdata/guarantee/SKILL.md",
		"tasks.checks=[{type: llm-rubric, votes: 3, criteria: [{text: It is good.}]}]", "env.command=[cat]", "models.judge={provider: sim, world: ../../examples/quickstart/world.yaml}",
		"models.target={provider: sim, world: ../../examples/quickstart/world.yaml}", "models.optimizer={provider: sim, world: ../../examples/quickstart/world.yaml}")
	if err != nil {
		t.Fatal(err)
	}
	p, err := skillopt.Plan(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]float64{}
	for _, st := range p.Forecast.Stages {
		calls[st.Role] += st.Calls.Expected
	}
	if calls[model.Judge] == 0 || calls[model.Judge] != 3*calls[model.Target] {
		t.Errorf("%v calls of the judge are expected beside %v episodes", calls[model.Judge], calls[model.Target])
	}
	bound := map[string]int{}
	for _, st := range p.Stages {
		bound[st.Stage] = st.Calls
	}
	if bound[model.StageJudge] != 3*bound[model.StageRollout] || float64(p.Total) < p.Forecast.Calls.Expected {
		t.Errorf("at most %v, in all %d; %v are expected", bound, p.Total, p.Forecast.Calls)
	}
}
