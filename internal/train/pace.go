package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/schedule"
)

// Unit is what a run does that is begun only as a whole.
type Unit struct {
	Name string // one of the names of units
	Step int    // of a step, or of what comes within or after it
	// Tasks is how many train tasks a step is to roll out, Least how few it may if
	// there is no room for all.
	Tasks, Least int
	Key          string // of a confirmation: where it is in the record
	// Closing is how many rollouts the end of the run takes after it, at most: the last
	// decisions, the fresh pass, and the test of the seed skill and the
	// best one.
	Closing int
}

// The names of units.
const (
	UnitStep = "step"
	// Draws of worked examples are compared by Tasks rollouts. The answer is for how many there
	// is room, next to a step.
	UnitExamples = "worked examples"
	// The best draw meets the gate. The answer is 0 if there is no room for that.
	UnitExamplesGate = "worked examples at the gate"
	UnitEpochEnd     = "epoch end"
	UnitFinal        = "final evaluation"
	// After a step Tasks selection tasks are asked again, to see whether training may stop.
	UnitConfirmation = "confirmation"
	// Within a step another candidate is judged, or more tasks are rolled out. The answer
	// is 0 tasks where there is no room for that.
	UnitSecondTry = "second try"
	UnitMore      = "more tasks"
	// The final skill is scored on the test split too, where it is not the best one. Tasks
	// are the rollouts of the whole test; the answer is 0 where there is no room for them.
	UnitFinalArm = "final skill"
)

// ErrEnded says that the loop ends before its time and the final evaluation follows: as
// Options.EndAfter has it, or Deps.Pace by returning it.
var ErrEnded = errors.New("the loop was ended early")

// pacer asks whether there is room for a unit of the run, and records what was decided
// by that: what is left of a ceiling may change from session to session, what a run has
// done does not.
type pacer struct {
	opts   Options
	data   Data
	skills *skills
	record Recorder
	emit   event.Sink
	ask    func(Unit) (tasks int, err error) // nil: there is room for all
}

// AskedInStep is about how many requests a step puts to the optimizer.
const AskedInStep = 8

// LeastTasks is the smallest batch that a step is cut to: of fewer there is hardly a
// failure to learn from.
const LeastTasks = 10

// step returns the batches of a step with as many tasks as there is room for. How many
// is recorded, unless it is all.
func (p *pacer) step(ctx context.Context, id stepID, batches []schedule.Batch) ([]schedule.Batch, error) {
	batches, known, err := recordedSize(p.record, id, batches)
	if err != nil || id.number <= p.opts.carriedOut() {
		return batches, err // another run has had room for it
	}
	all := countTasks(batches)
	unit := Unit{Name: UnitStep, Step: id.number, Tasks: all, Least: all}
	switch {
	case known:
	case p.opts.Shrinks:
		unit.Least = min(all, LeastTasks)
	case p.opts.warms(id.number):
		unit.Least = min(all, p.opts.BatchSize*p.opts.Accumulation)
	}
	n, err := p.admit(unit)
	if err != nil || n >= all {
		return batches, err
	}
	p.emit(event.Warning{Text: fmt.Sprintf("step %d has %s and not %d: that is what the ceiling has room for", id.number, wording.Plural(n, "task", "tasks"), all)})
	if _, err = p.record.Decision(ctx, id.sizeKey(), func() ([]byte, error) { return json.Marshal(stepSize{n}) }); err != nil {
		return nil, err
	}
	return cutTo(batches, n), nil
}

// stepSize is the recorded size of a step that was cut.
type stepSize struct {
	Tasks int `json:"tasks"`
}

const sizeSuffix = "/size"

// IsSize reports whether a key is that of the recorded size of a step.
func IsSize(key string) bool { return strings.HasSuffix(key, sizeSuffix) }

func (id stepID) sizeKey() string { return id.key() + sizeSuffix }

// recordedSize cuts the batches of a step to the size that is recorded of it, if any is.
func recordedSize(record Recorder, id stepID, batches []schedule.Batch) (out []schedule.Batch, known bool, err error) {
	data, known := record.Decided(id.sizeKey())
	if !known {
		return batches, false, nil
	}
	var size stepSize
	if err := json.Unmarshal(data, &size); err != nil {
		return nil, true, fmt.Errorf("read the recorded decision %s: %w", id.sizeKey(), err)
	}
	return cutTo(batches, size.Tasks), true, nil
}

// cutTo keeps the first n tasks of batches, shared out among them, of each one at least.
func cutTo(batches []schedule.Batch, n int) []schedule.Batch {
	all, out := countTasks(batches), make([]schedule.Batch, len(batches))
	for i, b := range batches {
		b.Items = b.Items[:min(len(b.Items), max(1, n*len(b.Items)/max(1, all)))]
		out[i] = b
	}
	return out
}

func countTasks(batches []schedule.Batch) int {
	n := 0
	for _, b := range batches {
		n += len(b.Items)
	}
	return n
}

// loops reports whether the loop continues after a number of units, as far as EndAfter
// has it.
func (o Options) loops(units int) bool { return o.EndAfter == nil || units < *o.EndAfter }

// admit asks whether there is enough left for a unit, and of a step for how many tasks.
func (p *pacer) admit(unit Unit) (tasks int, err error) {
	if p.ask == nil {
		return unit.Tasks, nil
	}
	unit.Closing = p.closingRollouts() + p.testRollouts()
	return p.ask(unit)
}

const roomSuffix = "/room"

// IsRoom reports whether a key is that of a recorded decision whether there was room for
// more within a step: a second try, or tasks that its batch grows by.
func IsRoom(key string) bool { return strings.HasSuffix(key, roomSuffix) }

// room is that decision.
type room struct {
	Go bool `json:"go"`
}

// roomFor asks whether there is room for more within a step, and records it.
func (p *pacer) roomFor(ctx context.Context, prefix string, unit Unit) (bool, error) {
	key := prefix + roomSuffix
	data, err := p.record.Decision(ctx, key, func() ([]byte, error) {
		n, err := p.admit(unit)
		if err != nil {
			return nil, err
		}
		return json.Marshal(room{n > 0})
	})
	if err != nil {
		return false, err
	}
	var r room
	if err := json.Unmarshal(data, &r); err != nil {
		return false, fmt.Errorf("read the recorded decision %s: %w", key, err)
	}
	return r.Go, nil
}

// testArms leaves the final skill out of the test where there is no room for it. That is
// recorded.
func (p *pacer) testArms(ctx context.Context, place string, arms []testArm) ([]testArm, error) {
	i := slices.IndexFunc(arms, func(a testArm) bool { return a.name == "final" })
	if p.ask == nil || sameAs(arms, i) < i {
		return arms, nil
	}
	different := map[string]bool{}
	for _, a := range arms {
		different[a.of] = true
	}
	room, err := p.roomFor(ctx, place+"/final", Unit{Name: UnitFinalArm, Tasks: len(different) * len(p.data.Test)})
	if err != nil || room {
		return arms, err
	}
	return slices.Delete(arms, i, i+1), nil
}

// testRollouts returns how many rollouts the test takes after the unit to come, which may find a
// better skill: those of equal arms are made once.
func (p *pacer) testRollouts() int {
	switch {
	case !p.opts.Test:
		return 0
	case p.opts.NoSkill:
		return 3 * len(p.data.Test)
	}
	return 2 * len(p.data.Test)
}

// closingRollouts returns how many rollouts on the selection split the end of the run takes at
// most: the unit to come may accept one more skill, and it may find out that one evaluation is not
// the truth after all, so that fresh passes are made where none seemed to be needed before.
func (p *pacer) closingRollouts() int {
	n, evaluations := len(p.data.Selection), 0
	if p.opts.Gate == gate.ModeOff {
		return 0
	}
	if p.isUnjudged() {
		evaluations++ // the skill as it is
	}
	if p.opts.freshens() || p.data.NumFolds() > 1 {
		evaluations++
	}
	return evaluations * n
}

// isUnjudged reports whether the current skill is one that no gate has seen when
// the run ends, as guidance that is forced in may be.
func (p *pacer) isUnjudged() bool {
	if p.opts.SlowUpdate && !p.opts.SlowGated && p.opts.Epochs > 1 {
		return true
	}
	return !p.skills.bestIsCurrent() && !p.skills.isKnown(p.skills.current)
}

// Units returns how many units the whole loop over a train split of n tasks has.
func (o Options) Units(n int) int { return o.Epochs * (o.StepsPerEpoch(n) + 1) }
