package train

import "github.com/seed-f4525e22/skillopt/schedule"

// Stretch is a part of the loop that another run has carried out, which this one goes on
// from: it is carried out again as it was, from the record.
type Stretch struct {
	RunID  string `json:"run_id"`
	Name   string `json:"name"`
	Units  int    `json:"parts"` // of the loop, at its end
	Steps  int    `json:"steps"`
	Epochs int    `json:"epochs"` // that it was planned with
	Stop   Stop   `json:"stop"`   // its rules
	Ended  string `json:"ended"`  // the rule that ended it, "" for none
	Tested bool   `json:"tested"` // its test split was read
}

// After is the rules of what comes after a stretch: the one that ended it does not end what
// goes on from there, unless somebody has set it anew.
func (s Stretch) After(rules Stop) Stop {
	then, now := s.Stop, rules
	if s.Ended == "" || then != now && then.without(s.Ended) == now.without(s.Ended) {
		return rules
	}
	return rules.without(s.Ended)
}

// rulesAt is by which rules the loop may end after so many units.
func (o Options) rulesAt(units int) Stop {
	for _, s := range o.Earlier {
		if units < s.Units {
			return s.Stop
		}
	}
	return o.Stop
}

// begins reports whether what goes on from another run begins after so many units.
func (o Options) begins(units int) bool {
	for _, s := range o.Earlier {
		if units == s.Units {
			return true
		}
	}
	return false
}

// epochsAt is with how many epochs a step was planned.
func (o Options) epochsAt(step int) int {
	for _, s := range o.Earlier {
		if step <= s.Steps {
			return s.Epochs
		}
	}
	return o.Epochs
}

// budgets are the edit budgets of steps.
type budgets struct {
	opts Options
	by   map[int]*schedule.Budget // by the epochs that steps were planned with
}

// newBudgets returns the schedules of edit budgets, nil if the optimizer chooses: a step of a
// run that goes on from another one has the budget of a run that was planned as long.
func newBudgets(o Options, d Data) (*budgets, error) {
	if o.Schedule == "model" {
		return nil, nil
	}
	mode, err := schedule.ParseMode(o.Schedule)
	if err != nil {
		return nil, err
	}
	out := &budgets{opts: o, by: map[int]*schedule.Budget{}}
	epochs := []int{o.Epochs}
	for _, s := range o.Earlier {
		epochs = append(epochs, s.Epochs)
	}
	for _, n := range epochs {
		out.by[n], err = schedule.NewBudget(schedule.BudgetConfig{Mode: mode, Max: o.Budget, Min: o.MinBudget, Total: n * o.StepsPerEpoch(d.Drawable())})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// of is the schedule that a step, from 1 up, is in.
func (b *budgets) of(step int) *schedule.Budget { return b.by[b.opts.epochsAt(step)] }
