package rollout

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/env"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// program is one that answers or breaks off, task by task.
type program struct {
	answer func(n int, id string) env.Kind // "" = it answers
	takes  func(env.Kind) time.Duration
	alone  env.Kind // what a probe finds

	begun, probes atomic.Int64
}

func (p *program) Answer(_ context.Context, t task.Task, _ skill.Skill, _ model.Client) (trajectory.Outcome, bool, error) {
	kind := p.answer(int(p.begun.Add(1)), t.ID)
	if p.takes != nil {
		<-time.After(p.takes(kind))
	}
	if kind != "" {
		return trajectory.Outcome{}, false, &env.Error{Kind: kind, Task: t.ID, Detail: "the process ended without an answer", Stderr: "no database"}
	}
	return trajectory.Outcome{Status: score.OK}, true, nil
}

func (p *program) Probe(context.Context, time.Duration) (string, error) {
	p.probes.Add(1)
	if p.alone != "" {
		return "", &env.Error{Kind: p.alone}
	}
	return "", nil
}

// A program that breaks off at every task ends the run after a few of them, also once it
// has worked; one that breaks off at some does not, however slow its answers are.
func TestABrokenProgramEndsTheRun(t *testing.T) {
	t.Parallel()
	always := func(k env.Kind) func(int, string) env.Kind { return func(int, string) env.Kind { return k } }
	odd := func(share string) func(int, string) env.Kind {
		return func(_ int, id string) env.Kind {
			if strings.Contains(share, id[len(id)-1:]) {
				return env.Died
			}
			return ""
		}
	}
	slowly := func(k env.Kind) time.Duration {
		if k == "" {
			return time.Minute
		}
		return 10 * time.Millisecond
	}
	for name, tt := range map[string]struct {
		*program
		says  string // "" = it does not end the run
		least int    // of what was begun
		most  int
	}{
		"ends when it is started":  {&program{answer: always(env.Died), alone: env.Died}, "fails whenever it is started", 3, 20},
		"cannot be started":        {&program{answer: always(env.Start), alone: env.Start}, "fails whenever it is started", 3, 20},
		"talks before it is asked": {&program{answer: always(env.Rubbish), alone: env.Rubbish}, "fails whenever it is started", 3, 20},
		"ends at its first task":   {&program{answer: always(env.Died)}, "broke off at each of 10", 10, 40},
		"talks nonsense":           {&program{answer: always(env.Rubbish)}, "broke off at each of 10", 10, 40},
		"slow to end":              {&program{answer: always(env.Died), alone: env.Died, takes: func(env.Kind) time.Duration { return 5 * time.Second }}, "fails whenever it is started", 3, 40},
		"ends after 50 tasks": {&program{answer: func(n int, _ string) env.Kind {
			if n > 50 {
				return env.Died
			}
			return ""
		}, alone: env.Died}, "fails whenever it is started", 53, 80},
		"ends at its tasks after 50": {&program{answer: func(n int, _ string) env.Kind {
			if n > 50 {
				return env.Died
			}
			return ""
		}}, "broke off at each of 10", 60, 90},
		"one odd task in ten":                  {&program{answer: odd("0")}, "", 200, 240},
		"one odd task in ten, the others slow": {&program{answer: odd("0"), takes: slowly}, "", 200, 240},
		"three in ten":                         {&program{answer: odd("037")}, "", 200, 320},
		"only some, in a few tasks": {&program{answer: func(_ int, id string) env.Kind {
			if id == "t7" || id == "t8" {
				return env.Died
			}
			return ""
		}}, "", 200, 204},
		"cannot measure": {&program{answer: always(env.Refused)}, "", 600, 600},
		"takes too long": {&program{answer: always(env.Deadline)}, "", 600, 600},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e := &Env{Record: through{}, Program: tt.program, Slots: NewSlots(8)}
				began := time.Now()
				out, err := (&Runner{Episode: e, Extra: 2}).All(t.Context(), Place{}, numbered(200), skill.New(""), nil)
				if n := int(tt.begun.Load()); n < tt.least || n > tt.most {
					t.Errorf("%d tasks begun, want %d to %d", n, tt.least, tt.most)
				}
				var stopped *caller.StoppedError
				if tt.says == "" {
					if err != nil || tt.probes.Load() > 5 {
						t.Errorf("%v, %d probes", err, tt.probes.Load())
					}
					for _, o := range out {
						if o.Status == score.Unmeasured && (o.Hard != 0 || !strings.Contains(o.FailReason, "no database")) {
							t.Errorf("%+v", o)
						}
					}
					return
				}
				if !errors.As(err, &stopped) || errors.Is(err, caller.ErrUnmeasured) || !strings.Contains(err.Error(), tt.says) ||
					!strings.Contains(err.Error(), `task "t`) || !strings.Contains(err.Error(), "no database") {
					t.Errorf("got %v", err)
				}
				if took := time.Since(began); took > 15*time.Second {
					t.Errorf("after %v", took)
				}
			})
		})
	}
}
