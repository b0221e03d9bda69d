package forecast

import (
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/result"
)

// ceiling keeps a dry run within limits.calls as a run is: what its end takes is left to it,
// and a step has as many tasks as there is room for.
type ceiling struct {
	calls, each, pass int  // answers to each train task; rollouts of a gate
	alone             bool // worked examples are all that is tried

	steps, tasks, spent int // of the steps that are done
	open, before        int // tasks of the step under way, 0: none is; calls before it
}

// room returns how many tasks of a unit there is room for after that many calls, as train.Deps.Pace does.
func (c *ceiling) room(unit train.Unit, used int) (tasks int, err error) {
	left := c.calls - used - unit.Closing
	switch unit.Name {
	case train.UnitStep, train.UnitEpochEnd, train.UnitFinal, train.UnitConfirmation:
		c.close(used)
	}
	need := func(int) int { return 0 }
	switch unit.Name {
	case train.UnitStep:
		need = c.need
	case train.UnitConfirmation:
		need = func(n int) int { return n }
	case train.UnitExamples:
		need = func(n int) int { return n + c.need(train.LeastTasks) }
	case train.UnitExamplesGate:
		need = func(int) int { return c.pass }
	case train.UnitSecondTry:
		need = func(int) int { return 1 + c.pass }
	case train.UnitMore:
		need = func(n int) int { return n*c.each + train.AskedInStep + c.pass }
	case train.UnitFinalArm:
		left = c.calls - used
		need = func(n int) int { return n }
	}
	for tasks = unit.Tasks; need(tasks) > left; {
		if tasks--; tasks < max(1, unit.Least) || unit.Name != train.UnitStep && unit.Name != train.UnitExamples {
			if unit.Name == train.UnitStep || unit.Name == train.UnitConfirmation {
				return 0, train.ErrEnded
			}
			return 0, nil
		}
	}
	if unit.Name == train.UnitStep {
		c.open, c.before = tasks, used
	}
	return tasks, nil
}

// close takes in the step that was under way.
func (c *ceiling) close(used int) {
	if c.open > 0 {
		c.steps, c.tasks, c.spent, c.open = c.steps+1, c.tasks+c.open, c.spent+used-c.before, 0
	}
}

// need returns how many calls a step of that many tasks takes, by the mean of those before it.
func (c *ceiling) need(tasks int) int {
	switch {
	case c.alone:
		return c.pass
	case c.steps == 0:
		return tasks*c.each + c.pass + train.AskedInStep
	}
	return c.spent/c.steps + (tasks-c.tasks/c.steps)*c.each
}

// used returns how many calls the dry run has counted.
func (r *dryRun) used() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, t := range r.tally {
		n += t.calls
	}
	return n
}

// capAt keeps a forecast at a ceiling of calls: what earlier runs report may be of others.
func capAt(f *result.Forecast, calls float64) {
	if f.Calls.Expected > calls {
		share := calls / f.Calls.Expected
		for i := range f.Stages {
			for _, v := range []*result.Interval{&f.Stages[i].Calls, &f.Stages[i].Input, &f.Stages[i].Output, f.Stages[i].USD} {
				scale(v, share)
			}
		}
		for _, v := range []*result.Interval{&f.Calls, &f.Input, &f.Output, f.USD, f.TimeS} {
			scale(v, share)
		}
	}
	f.Calls.High = min(f.Calls.High, calls)
}

func scale(v *result.Interval, share float64) {
	if v != nil {
		v.Expected, v.Low = share*v.Expected, share*v.Low
	}
}

// stepsWords says how many of the steps of a plan a ceiling has room for, "" if for all.
func stepsWords(p *result.Plan, calls int64) string {
	switch {
	case p.Forecast == nil || p.StepsFit == nil || *p.StepsFit >= p.Steps:
		return ""
	case *p.StepsFit == 0:
		return fmt.Sprintf("limits.calls = %d: no step of %d is expected to fit", calls, p.Steps)
	}
	return fmt.Sprintf("limits.calls = %d: about %d of %d steps fit, then the run ends with its result", calls, *p.StepsFit, p.Steps)
}
