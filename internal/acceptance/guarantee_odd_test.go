package acceptance_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
)

// Answers that are cut at the output limit measure the limit: an evaluation
// gives no score of them, as training gives none.
func TestAnEvaluationOfCutAnswersIsNoScore(t *testing.T) {
	t.Parallel()
	cut := model.Response{Text: "<answer>x", Finish: model.FinishLength}
	got, err := skillopt.Evaluate(t.Context(), worldConfig("http://unused.invalid/v1"), "all", skillopt.WithTasks(envTasks(60)),
		skillopt.WithClient(model.Target, "cut", always(cut)), skillopt.WithRunDir(t.TempDir()))
	if got != nil || kind(err) != skillopt.Unmeasurable || !strings.Contains(err.Error(), "models.target.max_tokens") {
		t.Errorf("got %+v, %v (%s)", got, err, kind(err))
	}
}

// What a scorer of the user's own returns beside 0 to 1 is no score.
func TestAScoreOutOfRangeIsNoScore(t *testing.T) {
	t.Parallel()
	for name, odd := range map[string]score.Score{
		"too high": {Hard: 2, Soft: 1}, "negative": {Hard: 1, Soft: -1}, "no number": {Hard: math.NaN()}, "endless": {Soft: math.Inf(1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := sim.New(simulated(t))
			sum, err := skillopt.Train(t.Context(), worldConfig("http://unused.invalid/v1"), skillopt.WithRunDir(t.TempDir()),
				skillopt.WithClient(model.Target, "world", c), skillopt.WithClient(model.Optimizer, "world", c),
				skillopt.WithScorer("odd", func(string, task.Task) score.Score { return odd }))
			if kind(err) != skillopt.Unmeasurable || !strings.Contains(err.Error(), "allowed: 0 to 1") {
				t.Errorf("error = %v (%s)", err, kind(err))
			}
			if sum == nil || sum.Best.Selection != nil {
				t.Errorf("something was scored: %+v", sum)
			}
		})
	}
}

// hanging is a model that never answers; asked is called first.
type hanging struct{ asked func() }

func (h hanging) Generate(ctx context.Context, _ model.Request) (model.Response, error) {
	h.asked()
	<-ctx.Done()
	return model.Response{}, ctx.Err()
}

// A context that ends stops the run, however it ends.
func TestAnEndedContextStopsTheRun(t *testing.T) {
	t.Parallel()
	for name, made := range map[string]func(context.Context) (context.Context, func()){
		"cancelled": func(ctx context.Context) (context.Context, func()) { return context.WithCancel(ctx) },
		"with a cause": func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithCancelCause(ctx)
			return ctx, func() { cancel(errors.New("enough")) }
		},
		"at its deadline": func(context.Context) (context.Context, func()) {
			c := &late{passed: make(chan struct{})}
			return c, sync.OnceFunc(func() { close(c.passed) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, end := made(t.Context())
			c := hanging{end}
			sum, err := skillopt.Train(ctx, worldConfig("http://unused.invalid/v1"), skillopt.WithRunDir(t.TempDir()),
				skillopt.WithClient(model.Target, "world", c), skillopt.WithClient(model.Optimizer, "world", c))
			if kind(err) != skillopt.Stopped || sum == nil || sum.Status != "stopped" {
				t.Errorf("the run ended with %v (%s), %+v", err, kind(err), sum)
			}
		})
	}
}

// late is a context whose deadline passes when the test says so.
type late struct{ passed chan struct{} }

func (l *late) Deadline() (time.Time, bool) { return time.Time{}, false }
func (l *late) Done() <-chan struct{}       { return l.passed }
func (l *late) Value(any) any               { return nil }

func (l *late) Err() error {
	select {
	case <-l.passed:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// A run whose end cannot be written is not completed.
func TestAnEndThatCannotBeWrittenIsNoCompletion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var last event.RunDone
	sum, err := skillopt.Train(t.Context(), worldConfig("http://unused.invalid/v1"), append(inProcess(t), skillopt.WithRunDir(dir),
		skillopt.WithEvents(func(e event.Event) {
			switch e := e.(type) {
			case event.TestDone: // a folder stands where the file is to go
				if err := os.MkdirAll(filepath.Join(dir, "summary.json", "x"), 0o755); err != nil {
					t.Error(err)
				}
			case event.RunDone:
				last = e
			}
		}))...)
	if err == nil || sum.Status != "failed" || last.Status != "failed" || sum.Reason != err.Error() || last.Reason != sum.Reason {
		t.Errorf("the run ended with %v; the summary says %s (%s), the last event %s (%s)", err, sum.Status, sum.Reason, last.Status, last.Reason)
	}
}

// A folder is the same skill however its path is written.
func TestPathsOfASkill(t *testing.T) {
	t.Parallel()
	for _, path := range []string{guaranteeDir, guaranteeDir + "/", "./" + guaranteeDir + "/SKILL.md", guaranteeDir + "/../guarantee"} {
		cfg := worldConfig("http://unused.invalid/v1")
		cfg.Skill = path
		if _, err := skillopt.CheckTasks(t.Context(), cfg); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// refusing is a model that refuses for good, after a while.
type refusing struct{ after time.Duration }

func (r refusing) Generate(context.Context, model.Request) (model.Response, error) {
	<-time.After(r.after)
	return model.Response{}, &model.Error{Code: model.Auth, Err: errors.New("no such key")}
}

// What went wrong is told also when the time was up meanwhile.
func TestTheClockHidesNoFailure(t *testing.T) {
	t.Parallel()
	tasks := envTasks(3)
	for i, split := range []task.Split{task.Train, task.Selection, task.Test} {
		tasks[i].Split = split
	}
	cfg := worldConfig("http://unused.invalid/v1")
	limit := config.Duration(time.Millisecond)
	cfg.Limits.Time = &limit
	run := t.TempDir()
	synctest.Test(t, func(t *testing.T) { // the time passes while the model is asked, and only then
		c := refusing{after: 50 * time.Millisecond}
		sum, err := skillopt.Train(t.Context(), cfg, skillopt.WithTasks(tasks), skillopt.WithRunDir(run),
			skillopt.WithClient(model.Target, "refusing", c), skillopt.WithClient(model.Optimizer, "refusing", c))
		if kind(err) != skillopt.Unmeasurable || !strings.Contains(err.Error(), "no such key") || sum.Status != "failed" {
			t.Errorf("the run ended with %v (%s)", err, kind(err))
		}
	})
}
