package training

import (
	"fmt"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
)

// small is what a run leaves out so that its ceiling of calls has room for a step.
type small struct {
	NoTest    bool `json:"no_test,omitempty"`   // the test
	Selection int  `json:"selection,omitempty"` // selection tasks, all but this many; 0: none is left out
}

// What a step needs at least: fewer tasks teach and show hardly anything.
const (
	leastTasks     = 10
	usefulTasks    = 20 // of a batch, as long as the selection split can shrink
	leastSelection = 10
	askedAgain     = 20 // one of this many calls
)

// need is what a ceiling has to have room for.
type need struct{ test, selection, batch int }

// calls returns how many calls the seed skill's scores, one step and the end of the run take.
func (z *Sizes) calls(n need) int {
	in := z.in
	if gate.Mode(in.Config.Gate.Mode) == gate.ModeOff {
		n.selection = 0
	}
	pass, total := n.selection, 0
	if in.Data.InFolds() {
		pass, n.batch = in.Data.Pass(), 0 // it reads what the seed skill answered
	}
	if in.Config.Gate.Fresh && z.callCeiling() == nil {
		total = train.CountTwice(n.selection, z.models.Deterministic())
	}
	total += n.selection + pass + n.test
	if z.models.Has(model.Optimizer) {
		total += n.batch*max(1, in.Config.Reflect.Rollouts) + train.AskedInStep
	} else {
		total += z.examples().Rollouts
	}
	if in.Config.Gate.Fresh {
		total += n.selection
	}
	return total + (total+askedAgain-1)/askedAgain
}

// decideSmall decides what a new run leaves out so that its ceiling has room for a step: the
// test, unless the configuration asks for it, then selection tasks.
func (z *Sizes) decideSmall() (s small) {
	in := z.in
	calls := in.Config.Limits.Calls
	if calls == nil || !z.EndsWithResult() || in.Episodes() {
		return s
	}
	n := need{test: z.testCalls(), selection: len(in.Data.Selection), batch: z.batchSize() * in.Config.Train.Accumulation}
	useful := n
	if in.Config.Train.BatchSize == config.AutoCount {
		n.batch, useful.batch = min(leastTasks, in.Data.Drawable()), min(usefulTasks, in.Data.Drawable())
	}
	room := int(*calls)
	if _, chosen := in.Loaded.Origins["eval.test"]; z.calls(n) > room && n.test > 0 && !chosen {
		z.leftOut = append(z.leftOut, fmt.Sprintf("limits.calls is %d: no step has room next to the test, which takes up to %s; it is left out, unless eval.test=true asks for it", room, wording.Plural(n.test, "call", "calls")))
		s.NoTest, n.test, useful.test = true, 0, 0
	}
	if z.calls(n) > room && !in.Data.InFolds() {
		all, least := n.selection, min(leastSelection, n.selection)
		for useful.selection = all; useful.selection > least && z.calls(useful) > room; useful.selection-- {
		}
		if n.selection = useful.selection; n.selection < all && z.calls(n) <= room {
			z.leftOut = append(z.leftOut, fmt.Sprintf("limits.calls is %d: the gate judges by %d of %d selection tasks, so that a step has room", room, n.selection, all))
			s.Selection = n.selection
		}
	}
	if least := z.calls(n); least > room {
		z.refused = fault.Input(fmt.Errorf("limits.calls: found %d, which allows no step; the least that does is %d. --keep-open begins a run whose ceiling will be raised", room, least))
	}
	return s
}

// testCalls returns how many calls the test takes: with the seed skill, the best one, and none.
func (z *Sizes) testCalls() int {
	arms := 0
	if z.in.Config.Eval.Test && (z.start == nil || !z.start.NoTest) {
		arms = 2
		if z.in.Config.Eval.NoSkill {
			arms++
		}
	}
	return arms * len(z.in.Data.Test)
}

// Refused returns why a new run cannot be begun with its ceilings, nil if it can.
func (z *Sizes) Refused() error { return z.refused }

// LeftOut says what a new run leaves out for its ceiling of calls.
func (z *Sizes) LeftOut() []string { return z.leftOut }
