package evaluate

import (
	"context"

	"github.com/seed-f4525e22/skillopt/internal/passes"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// require fails when there is nothing to measure in a split. Trigger tasks alone will do.
func (e *evaluation) require() error {
	s := e.session
	if s.Set.Len() > 0 || s.Triggers.Len() == 0 {
		return s.Set.Require(e.splits...)
	}
	for _, split := range e.splits {
		if s.Triggers.Count(split) > 0 {
			return nil
		}
	}
	return s.Triggers.Require(e.splits...)
}

// scoredSplits returns the splits whose tasks have scores: all, or none if there are only trigger
// tasks.
func (e *evaluation) scoredSplits() []task.Split {
	if e.session.Set.Len() == 0 {
		return nil
	}
	return e.splits
}

// countTriggers counts the trigger tasks that agents are asked in a pass.
func (e *evaluation) countTriggers() int {
	if session.Untellable(e.session.Inputs) != "" {
		return 0
	}
	n := 0
	for _, split := range e.splits {
		n += e.session.Triggers.Count(split)
	}
	return n
}

// triggers measures how often the agent loads the skill; nil: the splits have no trigger
// tasks. Where nothing could be said of any, no agent is asked.
func (e *evaluation) triggers(ctx context.Context) (*result.Triggers, error) {
	s := e.session
	out := &result.Triggers{Agent: session.AgentName(s.Inputs), Splits: map[string]result.TriggerRates{}}
	for _, split := range e.splits {
		tasks := s.Triggers.Split(split)
		if len(tasks) == 0 {
			continue
		}
		if why := session.Untellable(s.Inputs); why != "" {
			out.Splits[string(split)] = notMeasured(tasks, why)
			continue
		}
		asked, err := e.triggerPasses(ctx, split, tasks)
		if err != nil {
			return nil, err
		}
		out.Splits[string(split)] = passes.LoadRates(tasks, asked)
	}
	if len(out.Splits) == 0 {
		return nil, nil
	}
	return out, nil
}

func (e *evaluation) triggerPasses(ctx context.Context, split task.Split, tasks []task.Task) ([][]trajectory.Outcome, error) {
	var passes [][]trajectory.Outcome
	for pass := range e.repeats {
		out, err := rollOut(ctx, e.session, tasks, "trigger/"+string(split), pass)
		if err != nil {
			return nil, err
		}
		passes = append(passes, out)
		name := "trigger_" + string(split)
		e.outcomes[name] = append(e.outcomes[name], out...)
	}
	return passes, nil
}

// notMeasured returns the rates of tasks of which nothing can be said: there are none.
func notMeasured(tasks []task.Task, why string) result.TriggerRates {
	out := result.TriggerRates{Reason: why}
	for _, t := range tasks {
		out.Unmeasured = append(out.Unmeasured, t.ID)
	}
	return out
}
