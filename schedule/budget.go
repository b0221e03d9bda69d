// Package schedule says what is due when: how many edits a step may make, which
// tasks each split holds, which of them a batch trains on, and how a curriculum
// prefers some to others.
//
// It deals in numbers, indices and keys, and knows nothing about what the tasks
// ask, about skills, models or scores' origin. It does no I/O; all chance comes
// from seeds or generators passed in.
package schedule

import (
	"fmt"
	"math"
	"strings"
)

// Mode names how the edit budget moves over a run.
type Mode string

const (
	Constant  Mode = "constant"  // the maximum at every step
	Linear    Mode = "linear"    // in a straight line from the maximum to the minimum
	Cosine    Mode = "cosine"    // along half a cosine from the maximum to the minimum
	Unlimited Mode = "unlimited" // no limit
)

// NoLimit is the budget of an Unlimited schedule. It represents "all of them":
// a caller does not cut at it.
const NoLimit = 999

// ParseMode reads the name of a mode; "autonomous" is another name of
// Unlimited. Case and surrounding white space do not matter.
func ParseMode(name string) (Mode, error) {
	switch m := Mode(strings.ToLower(strings.TrimSpace(name))); m {
	case "autonomous":
		return Unlimited, nil
	case Constant, Linear, Cosine, Unlimited:
		return m, nil
	}
	return "", fmt.Errorf("schedule %q is unknown: use %s, %s, %s or %s", name, Constant, Linear, Cosine, Unlimited)
}

// BudgetConfig describes an edit-budget schedule.
type BudgetConfig struct {
	Mode  Mode
	Max   int // edits at the start; the budget throughout if Total <= 1
	Min   int // edits at the end, and the floor
	Total int // steps of the whole run
}

// Budget is the schedule of the edit budget, the counterpart of a learning
// rate. Its steps count from 1. It is not safe for concurrent use.
type Budget struct {
	cfg  BudgetConfig
	step int
}

// NewBudget returns the schedule before its first step. An unknown mode is an
// error; bounds are taken as they are.
func NewBudget(cfg BudgetConfig) (*Budget, error) {
	switch cfg.Mode {
	case Constant, Linear, Cosine, Unlimited:
		return &Budget{cfg: cfg}, nil
	}
	return nil, fmt.Errorf("schedule %q is unknown: use %s, %s, %s or %s", cfg.Mode, Constant, Linear, Cosine, Unlimited)
}

// Step advances to the next step and returns its budget.
func (b *Budget) Step() int {
	b.step++
	return b.At(b.step)
}

// At returns the budget of a step, in edits, without moving the schedule. Steps
// past the last one keep the last one's budget. Halves round to even.
func (b *Budget) At(step int) int {
	c := b.cfg
	if c.Mode == Unlimited {
		return NoLimit
	}
	if c.Mode == Constant || c.Total <= 1 {
		return c.Max
	}
	progress := float64(min(max(0, step), c.Total)) / float64(c.Total)
	low, high := float64(c.Min), float64(c.Max)
	// Products are rounded before they are added: a fused multiply-add could
	// tip a half to the other side on some processors.
	value := high + float64((low-high)*progress)
	if c.Mode == Cosine {
		value = low + float64(0.5*(high-low)*(1+math.Cos(math.Pi*progress)))
	}
	return max(c.Min, int(math.RoundToEven(value)))
}

// BudgetState is the position of a schedule.
type BudgetState struct {
	CurrentStep int `json:"current_step"` // steps taken so far
}

// State returns the position for Restore.
func (b *Budget) State() BudgetState { return BudgetState{CurrentStep: b.step} }

// Restore moves the schedule to a position that State returned.
func (b *Budget) Restore(s BudgetState) { b.step = s.CurrentStep }
