package skillopt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/plural"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// tried are the tasks that are put through: a few of those that training may look at,
// from all over the list. The test split is read by nobody here.
func (s *setup) tried() []task.Task {
	list := s.data.Train
	if len(list) < shownTasks {
		list = slices.Concat(list, s.data.Selection)
	}
	n := min(len(list), shownTasks)
	var out []task.Task
	for i := range n {
		out = append(out, list[i*(len(list)-1)/max(1, n-1)])
	}
	return out
}

// try puts a few tasks through prompt, model or environment, extraction and checks, as a
// rollout of a run does, and shows them. What is found wrong with the scoring fails; so
// does what could not be measured.
func (e *Examination) try(ctx context.Context, s *setup) {
	if why := s.untried(e); why != "" {
		e.Rows = append(e.Rows, Finding{Name: "real tasks", Skipped: true, Detail: why})
		return
	}
	tasks := s.tried()
	out, err := s.trial(ctx, tasks)
	if err != nil {
		e.add("real tasks", "", s.unfitTask(err), s.mendTask())
		return
	}
	l := s.lookAt(tasks, out)
	for _, o := range out {
		if o.Status == score.Unmeasured {
			e.add("real tasks", "", s.unfitTask(errors.New(s.loaded.Redactor().Text(o.FailReason))), s.mendTask())
			return
		}
	}
	if sign := l.missed(); sign != "" {
		e.add("real tasks", "", &inputError{errors.New(sign + "\n" + l.shown())}, "correct tasks.extract, tasks.checks or the environment: a run would end with this before its first step")
		return
	}
	row := Finding{Name: "real tasks", OK: true, Detail: l.outcome() + "\n" + l.shown()}
	for _, sign := range []string{l.notExtracted(), l.doubt()} {
		if sign != "" && !row.Warning {
			row.Warning, row.Detail = true, sign+"\n"+l.shown()
		}
	}
	e.Rows = append(e.Rows, row)
}

// outcome sums up what tasks scored.
func (l *firstScores) outcome() string {
	scores := make([]string, len(l.measured))
	for i, o := range l.measured {
		scores[i] = fmt.Sprintf("%s %v", o.ID, o.Hard)
	}
	return fmt.Sprintf("%s carried out with the seed skill, hard scores: %s", plural.Of(len(l.measured), "task", "tasks"), strings.Join(scores, ", "))
}

// untried says why no task is put through, "" if some are.
func (s *setup) untried(e *Examination) string {
	switch {
	case len(s.tried()) == 0:
		return "there is no task that training may look at"
	case s.replay != nil:
		return "a replay asks nobody"
	case s.cfg.Agent.Name != "":
		return "none is put to an agent here, which would work for minutes and at your cost: the proof above shows what it can"
	}
	needed := []string{"environment", "model " + model.Target}
	if s.needs().Judge {
		needed = append(needed, "model "+model.Judge)
	}
	for _, r := range e.Rows {
		for _, name := range needed {
			if r.Name == name && !r.OK {
				return "not before " + name + " is mended"
			}
		}
	}
	for role, b := range s.models {
		if b.Questions != nil && (role != model.Optimizer) {
			return "models." + role + " is somebody who answers by hand, and is asked nothing here"
		}
	}
	return ""
}

// mendTask says what helps when a task could not be carried out.
func (s *setup) mendTask() string {
	if len(s.cfg.Env.Command) > 0 && s.env == nil {
		return "check env.command and env.timeout; it is started in the folder of the config, and reads one JSON line a task"
	}
	return "check models.target, tasks.prompt and tasks.checks"
}

// unfitTask makes what a program of the user's did bad input.
func (s *setup) unfitTask(err error) error {
	if s.ownEnv() && !errors.Is(err, context.Canceled) {
		return &inputError{err}
	}
	return err
}

// trial carries out tasks in a run of their own, of which nothing stays.
func (s *setup) trial(ctx context.Context, tasks []task.Task) (out []trajectory.Outcome, err error) {
	dir, err := os.MkdirTemp("", "skillopt-doctor-*")
	if err != nil {
		return nil, fmt.Errorf("make a folder for a trial: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if _, loaded := s.models[model.Target]; !loaded { // an environment calls models by itself
		if err := s.loadModel(model.Target); err != nil {
			return nil, err
		}
	}
	id, err := s.identity()
	if err != nil {
		return nil, err
	}
	r, err := run.Open(ctx, run.OpenOptions{
		Dir: filepath.Join(dir, "run"), Name: "doctor", Version: s.programVersion(), Identity: id, Simulated: s.simulated(), Now: s.now, Compare: describeChanges,
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	w, err := s.asRecorded().world(ctx, r)
	if err != nil {
		return nil, err
	}
	defer w.close()
	w.runner.Extra = 0
	out, err = w.runner.All(ctx, rollout.Place{Prefix: "doctor"}, tasks, s.skill, nil)
	var stopped *caller.StoppedError
	if err = w.cause(ctx, err); errors.As(err, &stopped) {
		err = stopped // without the advice to call doctor
	}
	return out, err
}
