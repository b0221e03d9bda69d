package train

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/schedule"
)

// Stretch is a part of the loop that another run has carried out, which this one continues
// from: it is carried out again as it was, from the record.
type Stretch struct {
	RunID  string `json:"run_id"`
	Name   string `json:"name"`
	Units  int    `json:"parts"` // of the loop, at its end
	Steps  int    `json:"steps"`
	Epochs int    `json:"epochs"` // that it was planned with

	PerEpoch int    `json:"steps_per_epoch,omitempty"` // 0: it ended before its first step
	Asked    Stop   `json:"asked"`                     // the rules of its configuration
	Stop     Stop   `json:"stop"`                      // those of them that held
	Ended    string `json:"ended"`                     // the rule that ended it, "" for none
	Tested   bool   `json:"tested"`                    // its test split was read
}

// EndKey is the key of the recorded decision to end a loop before its last step.
const EndKey = "loop/end"

// LoopEnd is that decision: after how many of its units, and of its steps.
type LoopEnd struct {
	Units int `json:"parts"`
	Steps int `json:"steps"`

	// Limit is the key of the ceiling that ended it, Of what that was: a higher one continues
	// the loop. "": the user did, for good.
	Limit string  `json:"limit,omitempty"`
	Of    float64 `json:"of,omitempty"`

	Continued bool `json:"continued,omitempty"` // it was raised: this is no end any more
}

// After returns the rules of what comes after a stretch, of those that somebody asks for then. A
// rule that ended the stretch, or that did not hold in it because it had ended one before, ends
// what continues from there only if it is set again.
func (s Stretch) After(asked Stop) Stop {
	held := s.Stop.dropRule(s.Ended)
	if asked.Perfect == s.Asked.Perfect {
		asked.Perfect = held.Perfect
	}
	if asked.Score == s.Asked.Score {
		asked.Score = held.Score
	}
	if asked.Evidence == s.Asked.Evidence {
		asked.Evidence = held.Evidence
	}
	return asked
}

// rulesAt returns the rules that may end the loop after that many units.
func (o Options) rulesAt(units int) Stop {
	for _, s := range o.Earlier {
		if units < s.Units {
			return s.Stop
		}
	}
	return o.Stop
}

// begins reports whether a part of the loop that continues another run begins after that many units.
func (o Options) begins(units int) bool {
	for _, s := range o.Earlier {
		if units == s.Units {
			return true
		}
	}
	return false
}

// carriedOut returns how many steps another run has carried out.
func (o Options) carriedOut() int {
	if n := len(o.Earlier); n > 0 {
		return o.Earlier[n-1].Steps
	}
	return 0
}

// carriedUnits returns how many units of the loop another run has carried out.
func (o Options) carriedUnits() int {
	if n := len(o.Earlier); n > 0 {
		return o.Earlier[n-1].Units
	}
	return 0
}

// epochsAt returns the number of epochs with which a step was planned.
func (o Options) epochsAt(step int) int {
	for _, s := range o.Earlier {
		if step <= s.Steps {
			return s.Epochs
		}
	}
	return o.Epochs
}

// CarriedOut reports whether another run has carried out what a key of the record represents:
// the seed skill's scores, steps, the ends of epochs, and the test of the seed skill.
func (o Options) CarriedOut(key string) bool {
	if len(o.Earlier) == 0 {
		return false
	}
	last := o.Earlier[len(o.Earlier)-1]
	unit, rest, _ := strings.Cut(key, "/")
	if unit == "final" {
		return last.Tested && (key == testPlace(1, "seed").Prefix || key == testPlace(1, "no_skill").Prefix)
	}
	epoch, step := 0, 0
	if _, err := fmt.Sscanf(unit, "e%d", &epoch); err != nil {
		return unit == "seed"
	}
	if _, err := fmt.Sscanf(rest, "s%d", &step); err == nil {
		return step <= last.Steps
	}
	return last.PerEpoch > 0 && epoch <= last.Units/(last.PerEpoch+1)
}

// ForDryRun returns the options that a dry run of the loop takes: no rule ends the part that
// another run has carried out.
func (o Options) ForDryRun() Options {
	o.Earlier = slices.Clone(o.Earlier)
	for i := range o.Earlier {
		o.Earlier[i].Stop = Stop{}
	}
	return o
}

// Rest returns about what of the loop no other run has carried out: as many epochs as are left, one
// that has begun among them. It is for bounds.
func (o Options) Rest() Options {
	if len(o.Earlier) == 0 {
		return o
	}
	last := o.Earlier[len(o.Earlier)-1]
	done := 0
	if last.PerEpoch > 0 {
		done = last.Units / (last.PerEpoch + 1)
	}
	o.Epochs, o.Earlier, o.Warm = max(1, o.Epochs-done+1), nil, 0
	return o
}

// budgets are the edit budgets of steps.
type budgets struct {
	opts Options
	by   map[int]*schedule.Budget // by the epochs that steps were planned with
}

// newBudgets returns the schedules of edit budgets, nil if the optimizer chooses: a step of a
// run that continues from another one has the budget of a run that was planned as long.
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

// of returns the schedule that a step, from 1 up, is in.
func (b *budgets) of(step int) *schedule.Budget { return b.by[b.opts.epochsAt(step)] }
