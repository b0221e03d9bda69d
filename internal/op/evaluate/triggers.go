package evaluate

import (
	"cmp"
	"context"
	"math"

	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
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

// scored are the splits whose tasks have scores: all, or none where there are trigger
// tasks alone.
func (e *evaluation) scored() []task.Split {
	if e.session.Set.Len() == 0 {
		return nil
	}
	return e.splits
}

// asked is how many trigger tasks agents are asked in a pass.
func (e *evaluation) asked() int {
	if e.untellable() != "" {
		return 0
	}
	n := 0
	for _, split := range e.splits {
		n += e.session.Triggers.Count(split)
	}
	return n
}

// triggers measures how often the agent loads the skill; nil: the splits have no trigger
// tasks. Where nothing could be told of any, no agent is asked.
func (e *evaluation) triggers(ctx context.Context) (*result.Triggers, error) {
	s := e.session
	out := &result.Triggers{Agent: e.agent(), Splits: map[string]result.TriggerRates{}}
	for _, split := range e.splits {
		tasks := s.Triggers.Split(split)
		if len(tasks) == 0 {
			continue
		}
		if why := e.untellable(); why != "" {
			out.Splits[string(split)] = notMeasured(tasks, why)
			continue
		}
		passes, err := e.triggerPasses(ctx, split, tasks)
		if err != nil {
			return nil, err
		}
		out.Splits[string(split)] = loadRates(tasks, passes)
	}
	if len(out.Splits) == 0 {
		return nil, nil
	}
	return out, nil
}

// untellable is why nobody can tell whether the agent loads the skill, "" if it can be
// told.
func (e *evaluation) untellable() string {
	s := e.session
	return cmp.Or(rollout.Untellable(s.Skill), wiring.UntellableAgent(s.Config.Agent.Gateway, s.Config.Agent.Name))
}

// agent is the name of the agent, and of the model in it if the config names one.
func (e *evaluation) agent() string {
	c := e.session.Config
	if c.Models.Target.Model == "" {
		return c.Agent.Name
	}
	return c.Agent.Name + " with " + c.Models.Target.Model
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

// notMeasured are the rates of tasks of which nothing can be told: there are none.
func notMeasured(tasks []task.Task, why string) result.TriggerRates {
	out := result.TriggerRates{Reason: why}
	for _, t := range tasks {
		out.Unmeasured = append(out.Unmeasured, t.ID)
	}
	return out
}

// loadRates sums up the passes over trigger tasks. What was not measured counts nowhere.
func loadRates(tasks []task.Task, passes [][]trajectory.Outcome) result.TriggerRates {
	out := result.TriggerRates{Unmeasured: missing(passes)}
	means := map[task.Trigger][]float64{}
	rates := map[task.Trigger]*result.LoadRate{}
	for i, t := range tasks {
		loaded, n := 0, 0
		for _, pass := range passes {
			if o := pass[i]; o.Status.Measured() && o.Load != "" {
				n++
				if o.Load == trajectory.Loaded {
					loaded++
				}
			}
		}
		if n == 0 {
			continue
		}
		r := rates[t.Trigger]
		if r == nil {
			r = &result.LoadRate{}
			rates[t.Trigger] = r
		}
		r.Tasks, r.Loaded, r.Evaluations = r.Tasks+1, r.Loaded+loaded, r.Evaluations+n
		means[t.Trigger] = append(means[t.Trigger], float64(loaded)/float64(n))
	}
	for kind, r := range rates {
		r.Rate, r.SE = meanAndError(means[kind])
	}
	out.Should, out.ShouldNot = rates[task.TriggerShould], rates[task.TriggerShouldNot]
	return out
}

// meanAndError is the mean of the rates of tasks and its standard error, nil of one task.
func meanAndError(rates []float64) (mean float64, se *float64) {
	n := float64(len(rates))
	for _, r := range rates {
		mean += r
	}
	mean /= n
	if len(rates) < 2 {
		return mean, nil
	}
	squares := 0.0
	for _, r := range rates {
		squares += (r - mean) * (r - mean)
	}
	e := math.Sqrt(squares / (n - 1) / n)
	return mean, &e
}
