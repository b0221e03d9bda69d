package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/plural"
	"github.com/seed-f4525e22/skillopt/schedule"
)

// Part is a part of a run that is begun only as a whole.
type Part struct {
	Name string // "step", "second try", "epoch end" or "final evaluation"
	Step int    // of a step or a second try
	// Tasks is how many train tasks a step is to roll out, Least how few it may if
	// there is no room for all.
	Tasks, Least int
	// Arms is how many different skills the final evaluation would score now.
	Arms int
	// Closing is how many rollouts of selection tasks come before it: the last
	// decisions, the re-selection and the fresh pass.
	Closing int
}

// The names of parts.
const (
	PartStep     = "step"
	PartEpochEnd = "epoch end"
	PartFinal    = "final evaluation"
	// Within a step another candidate is judged, or more tasks are rolled out. The answer
	// is 0 tasks where there is no room for that.
	PartSecondTry = "second try"
	PartMore      = "more tasks"
)

// ErrEnded says that the loop ends before its time and the final evaluation follows: as
// Options.EndAfter has it, or Deps.Pace by returning it.
var ErrEnded = errors.New("the loop was ended early")

// next begins a part of the loop, if it may begin.
func (t *trainer) next(p Part) error {
	if !t.loops(t.parts) {
		return ErrEnded
	}
	_, err := t.pace(p)
	return err
}

// leastTasks is the smallest batch that a step is cut to: of fewer there is hardly a
// failure to learn from.
const leastTasks = 10

// fit begins a step, if it may begin, with as many tasks as there is room for. How many
// is recorded, unless it is all: what is left of a ceiling may change from session to
// session, what a step has rolled out does not.
func (t *trainer) fit(ctx context.Context, s *step) error {
	if !t.loops(t.parts) {
		return ErrEnded
	}
	batches, known, err := t.fitted(s.sizeKey(), s.batches)
	if err != nil {
		return err
	}
	s.batches = batches
	all := tasksOf(s.batches)
	p := Part{Name: PartStep, Step: s.number, Tasks: all, Least: all}
	switch {
	case known:
	case t.Shrinks:
		p.Least = min(all, leastTasks)
	case t.warms(s.number):
		p.Least = min(all, t.BatchSize*t.Accumulation)
	}
	n, err := t.pace(p)
	if err != nil || n >= all {
		return err
	}
	t.Events(event.Warning{Text: fmt.Sprintf("step %d has %s and not %d: that is what the ceiling has room for", s.number, plural.Of(n, "task", "tasks"), all)})
	if _, err = t.Record.Decision(ctx, s.sizeKey(), func() ([]byte, error) { return json.Marshal(stepSize{n}) }); err != nil {
		return err
	}
	s.batches = cutTo(s.batches, n)
	return nil
}

// stepSize is the recorded size of a step that was cut.
type stepSize struct {
	Tasks int `json:"tasks"`
}

const sizeSuffix = "/size"

// IsSize reports whether a key is that of the recorded size of a step.
func IsSize(key string) bool { return strings.HasSuffix(key, sizeSuffix) }

func (s *step) sizeKey() string { return s.key() + sizeSuffix }

// fitted cuts batches to what is recorded under a key, if anything is.
func (t *trainer) fitted(key string, batches []schedule.Batch) (out []schedule.Batch, known bool, err error) {
	data, known := t.Record.Decided(key)
	if !known {
		return batches, false, nil
	}
	var size stepSize
	if err := json.Unmarshal(data, &size); err != nil {
		return nil, true, fmt.Errorf("read the recorded decision %s: %w", key, err)
	}
	return cutTo(batches, size.Tasks), true, nil
}

// cutTo keeps the first n tasks of batches, shared out among them, of each one at least.
func cutTo(batches []schedule.Batch, n int) []schedule.Batch {
	all, out := tasksOf(batches), make([]schedule.Batch, len(batches))
	for i, b := range batches {
		b.Items = b.Items[:min(len(b.Items), max(1, n*len(b.Items)/max(1, all)))]
		out[i] = b
	}
	return out
}

func tasksOf(batches []schedule.Batch) int {
	n := 0
	for _, b := range batches {
		n += len(b.Items)
	}
	return n
}

// loops reports whether the loop goes on after so many parts, as far as EndAfter
// has it.
func (t *trainer) loops(parts int) bool { return t.EndAfter == nil || parts < *t.EndAfter }

// pace asks whether there is enough left for a part, and of a step for how many tasks.
func (t *trainer) pace(p Part) (tasks int, err error) {
	if t.Pace == nil {
		return p.Tasks, nil
	}
	p.Arms, p.Closing = t.arms(), t.closing()
	return t.Pace(p)
}

// arms counts the different skills among seed, best and current, and no skill.
func (t *trainer) arms() int {
	texts := map[string]bool{t.Skill.Text(): true, t.skills.best.skill.Text(): true, t.skills.current.skill.Text(): true}
	if t.NoSkill {
		return len(texts) + 1
	}
	return len(texts)
}

// closing is how many rollouts on the selection split the end of the run takes at
// most: the part to come may accept one more skill, and it may find out that one
// evaluation is not the truth after all, so that fresh passes are made where none
// seemed to be needed before.
func (t *trainer) closing() int {
	n, passes := len(t.Data.Selection), 0
	if t.Gate == "off" {
		return 0
	}
	raced := t.Gate == ModeRace
	if t.unjudged() {
		passes++ // the skill as it is
		if raced {
			passes += 2 // and fresh samples of both
		}
	}
	if !raced {
		if t.freshens() || t.Data.InFolds() {
			passes++
		}
		return passes * n
	}
	if t.Reselect > 1 {
		known, _ := t.skills.store.shrunken()
		for field := min(len(known)+1, t.Reselect); field > 1; field = halved(field) {
			passes += field
		}
	}
	return (passes + 1) * n // and a fresh one of what is shipped
}

// unjudged reports whether the current skill is one that no gate has seen when
// the run ends, as guidance that is forced in may be.
func (t *trainer) unjudged() bool {
	if t.SlowUpdate && !t.SlowGated && t.Epochs > 1 {
		return true
	}
	return t.skills.current.skill.Text() != t.skills.best.skill.Text() && !t.skills.known(t.skills.current)
}

// Parts is how many parts the whole loop over a train split of n tasks has.
func (o Options) Parts(n int) int { return o.Epochs * (o.StepsPerEpoch(n) + 1) }
