package check

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Needs says what a list of checks needs apart from an answer.
type Needs struct {
	Workspace bool // the folder that an agent leaves
	Snapshot  bool // what was in it before
	Turns     bool // the calls of tools in the trajectory
	Command   bool // programs are run in the workspace
	Judge     bool // a model is asked
}

func (n Needs) or(m Needs) Needs {
	return Needs{
		Workspace: n.Workspace || m.Workspace, Snapshot: n.Snapshot || m.Snapshot, Turns: n.Turns || m.Turns,
		Command: n.Command || m.Command, Judge: n.Judge || m.Judge,
	}
}

// Needs says what the checks that score t need. It is zero for those that Score
// can decide, and for checks of t that cannot be read.
func (s *Suite) Needs(t task.Task) Needs {
	p, err := s.selectProgram(t)
	if err != nil {
		return Needs{}
	}
	return p.needs()
}

// Commands returns every command that the checks of t run, in their order: nothing
// for checks that cannot be read.
func (s *Suite) Commands(t task.Task) []Command {
	p, err := s.selectProgram(t)
	if err != nil {
		return nil
	}
	return p.commands()
}

// JudgeCalls returns how many requests the checks that score t put to a judge, a
// vote each, if there is an answer: 0 for checks that cannot be read.
func (s *Suite) JudgeCalls(t task.Task) int {
	p, err := s.selectProgram(t)
	if err != nil {
		return 0
	}
	return p.judgeCallCount()
}

// Evidence is what a rollout left.
type Evidence struct {
	Answer   string
	NotFound bool              // no rule has found an answer in the reply, which is all of Answer
	Question string            // the task as the target saw it; "" = the task's prompt
	Turns    []trajectory.Turn // calls of tools are those of Kind ToolCall, whose Action is "name arguments"
	Dir      string            // the workspace, absolute; "" = none. It may have been deleted
	Before   Manifest          // of the workspace before the agent began
}

// Means is what checks use to find out more. Each call has an id that is the
// same whenever the same checks score the same task ("check2", "check2/vote1",
// "check3/1" in a group), so that it can be recorded under it. An error means
// that nothing was measured; the reply to a request that its Usable refuses is
// one.
//
// Command runs a command by Carry, which knows its Execute and its reward, and gives
// it what is expected only if that is meant to be, see Told. It is called once at a
// time. Judge may be called concurrently.
type Means struct {
	Command func(ctx context.Context, id string, c Command) (CommandResult, error)
	Judge   func(ctx context.Context, id string, q JudgeRequest) (string, error)
}

// Assess scores what a rollout of t left by the checks of t, or by those of the
// set if t has none. The checks run in their order, so that one sees what the
// commands before it did; changes of files (diff) are those from before the
// first of them. An error means that there is no score: checks that cannot be
// read, means that are missing or failed, a judge that gives no usable reply, a
// pattern that runs out of time. It never represents a bad answer; an *UndecidedError
// among its causes says which checks had been decided.
func (s *Suite) Assess(ctx context.Context, ev Evidence, t task.Task, by Means) (score.Score, error) {
	p, err := s.selectProgram(t)
	if err != nil {
		return score.Score{}, fmt.Errorf("read checks: %w", err)
	}
	if err := checkNeeds(p.needs(), ev, by); err != nil {
		return score.Score{}, err
	}
	what := &subject{Evidence: ev, task: t, by: by}
	if what.Question == "" {
		what.Question = t.Prompt
	}
	if err := what.open(p.needs().Snapshot); err != nil {
		return score.Score{}, fmt.Errorf("open workspace: %w", err)
	}
	defer what.close()
	return p.run(ctx, what, "check", s.options)
}

// UndecidedError says that a check could not be decided, so that there is no score.
type UndecidedError struct {
	Components []score.Component // in the order of the checks: those that were decided, and those that were not run
	Err        error
}

func (e *UndecidedError) Error() string { return e.Err.Error() }

// Unwrap returns why.
func (e *UndecidedError) Unwrap() error { return e.Err }

func checkNeeds(n Needs, ev Evidence, by Means) error {
	switch {
	case n.Workspace && ev.Dir == "":
		return errors.New("the checks look at a workspace, but there is none")
	case n.Command && by.Command == nil:
		return errors.New("the checks run a command, but there is nothing to run it with")
	case n.Judge && by.Judge == nil:
		return errors.New("the checks ask a judge, but there is none")
	}
	return nil
}
