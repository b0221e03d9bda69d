package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/seedcheck"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// trialTasks returns the tasks that are put through: a few of those that training may look at, from
// all over the list and of as many types as there are. Nothing here reads the test split.
func (e *examiner) trialTasks() []task.Task {
	list := e.session.Data.Train
	if len(list) < seedcheck.ShownTasks {
		list = slices.Concat(list, e.session.Data.Selection)
	}
	return spread(list, min(len(list), seedcheck.ShownTasks))
}

// spread returns n of the tasks, in steps over the list. Where the task of a step or its type is
// among them already, the next one after it that is not is taken.
func spread(list []task.Task, n int) []task.Task {
	var out []task.Task
	taken, types := map[int]bool{}, map[string]bool{}
	for i := range n {
		from := i * (len(list) - 1) / max(1, n-1)
		at := -1
		for d := range list {
			j := (from + d) % len(list)
			switch {
			case taken[j]:
				continue
			case at < 0: // the best so far, if no other type is left
				at = j
			}
			if !types[list[j].Type] {
				at = j
				break // nothing is nearer
			}
		}
		taken[at], types[list[at].Type] = true, true
		out = append(out, list[at])
	}
	return out
}

// try puts a few tasks through prompt, model or environment, extraction and checks, as a
// rollout of a run does, and shows them. What is found wrong with the scoring fails; so
// does what could not be measured.
func (e *examiner) try(ctx context.Context) {
	if why := e.skipReason(); why != "" {
		e.rows = append(e.rows, result.Finding{Name: "real tasks", Skipped: true, Detail: why})
		return
	}
	tasks := e.trialTasks()
	out, asked, err := e.trial(ctx, tasks)
	if err != nil {
		e.add("real tasks", "", e.unfitTask(err), e.fixTask())
		return
	}
	l := seedcheck.Look(e.session.Inputs, tasks, out)
	for _, o := range out {
		if o.Status == score.Unmeasured {
			e.add("real tasks", "", e.unfitTask(errors.New(e.session.Loaded.Redactor().Text(o.FailReason))), e.fixTask())
			return
		}
	}
	if sign := l.FindMissed(); sign != "" {
		e.add("real tasks", "", fault.Input(errors.New(sign+"\n"+l.FormatTasks())), "correct tasks.extract, tasks.checks or the environment: a run would end with this before its first step")
		return
	}
	row := result.Finding{Name: "real tasks", OK: true, Detail: l.Outcome() + "\n" + l.FormatTasks()}
	for _, sign := range []string{l.NotExtracted(), l.Doubt()} {
		if sign != "" && !row.Warning {
			row.Warning, row.Detail = true, sign+"\n"+l.FormatTasks()
		}
	}
	e.rows = append(e.rows, row)
	e.programAsked(len(tasks), asked)
}

// programAsked reports what the program of env.command has asked its model. One that asks
// nothing may do without: that is no failure.
func (e *examiner) programAsked(tasks int, asked caller.StageStats) {
	s := e.session
	if !session.ProgramAsks(s) {
		return
	}
	row := result.Finding{Name: "environment's model", OK: true}
	if asked.Calls == 0 {
		row.Warning = true
		row.Detail = fmt.Sprintf("models.target is set, and %s asked it nothing: a program finds it in the field model of each task, or in OPENAI_BASE_URL, ANTHROPIC_BASE_URL and the like "+
			"(docs/environments.md); env.gateway=false names no model to it", wording.Plural(tasks, "task", "tasks"))
	} else {
		used := asked.Tokens()
		row.Detail = fmt.Sprintf("%s asked models.target by %s through the gateway, %s", wording.Plural(tasks, "task", "tasks"), wording.Plural(asked.Calls, "call", "calls"), wording.Plural(used.Input+used.Output, "token", "tokens"))
	}
	e.rows = append(e.rows, row)
}

// skipReason returns why no task is put through, "" if some are.
func (e *examiner) skipReason() string {
	switch {
	case len(e.trialTasks()) == 0:
		return "there is no task that training may look at"
	case e.session.Replay != nil:
		return "a replay asks no one"
	case e.session.Config.Agent.Name != "":
		return "none is put to an agent here, which would work for minutes and at your cost: the proof above shows what it can"
	}
	needed := []string{"environment", "world " + cmp.Or(e.session.Config.Env.World, "env.url"), "model " + model.Target}
	if e.session.Needs().Judge {
		needed = append(needed, "model "+model.Judge)
	}
	for _, r := range e.rows {
		for _, name := range needed {
			if r.Name == name && !r.OK {
				return "not before " + name + " is fixed"
			}
		}
	}
	for _, role := range e.session.Models.Roles() {
		if e.session.Models.Of(role).Kind == wiring.ByHand && role != model.Optimizer {
			return "models." + role + " is somebody who answers by hand, and is asked nothing here"
		}
	}
	return ""
}

// fixTask says what helps when a task could not be carried out.
func (e *examiner) fixTask() string {
	if len(e.session.Config.Env.Command) > 0 && e.session.Env == nil {
		return "check env.command and env.timeout; it is started in the folder of the config"
	}
	return "check models.target, tasks.prompt and tasks.checks"
}

// unfitTask makes what a program of the user's did bad input.
func (e *examiner) unfitTask(err error) error {
	if e.session.OwnEnv() && !errors.Is(err, context.Canceled) {
		return fault.Input(err)
	}
	return err
}

// trial carries out tasks in a run of their own, of which nothing stays, and returns what
// the target was asked meanwhile.
func (e *examiner) trial(ctx context.Context, tasks []task.Task) (out []trajectory.Outcome, asked caller.StageStats, err error) {
	dir, err := os.MkdirTemp("", "skillopt-doctor-*")
	if err != nil {
		return nil, asked, fmt.Errorf("make a folder for a trial: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s := e.session
	if !s.Models.Has(model.Target) { // an environment calls models by itself
		if err := s.Models.Load(model.Target); err != nil {
			return nil, asked, err
		}
	}
	id, err := s.Identity()
	if err != nil {
		return nil, asked, err
	}
	r, err := run.Open(ctx, run.OpenOptions{
		Dir: filepath.Join(dir, "run"), Name: "doctor", Version: s.ProgramVersion(), Identity: id, Simulated: s.Simulated(), Now: s.Now, Compare: session.DescribeChanges,
	})
	if err != nil {
		return nil, asked, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	w := s.AsRecorded(r)
	w.Config.Limits.Calls = e.remainingCalls()
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := w.Connect(ctx); err != nil {
		return nil, asked, err
	}
	w.Runner.Extra = 0
	out, err = w.Runner.All(ctx, rollout.Place{Prefix: "doctor"}, tasks, s.Skill, nil)
	var stopped *caller.StoppedError
	if err = w.Cause(ctx, err); errors.As(err, &stopped) {
		err = stopped // without the advice to call doctor
	}
	return out, rolloutStats(w.Caller, model.Target), err
}

// rolloutStats returns what a role was asked in rollouts.
func rolloutStats(c *caller.Caller, role string) (sum caller.StageStats) {
	_ = c.Settle() // what cannot be written is reported when the run is closed
	for _, st := range c.Stats().Stages {
		if st.Role == role && st.Stage == model.StageRollout {
			sum = st
		}
	}
	return sum
}
