package train

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// rollouts makes the rollouts of all stages: it reports progress, uses what was
// prefetched, asks after each batch whether it makes sense to continue, and records what
// could not be measured. It knows nothing of skills beyond the one it is given. It is
// safe for concurrent use.
type rollouts struct {
	roller     Roller
	record     Recorder
	emit       event.Sink
	usage      func() event.Progress // nil: not known
	health     func() error          // nil: nothing says so
	prefetched prefetched
}

// rolloutSet names rollouts: tasks with a skill, and where they are in the run.
type rolloutSet struct {
	place rollout.Place
	tasks []task.Task
	skill skill.Skill
}

// batch makes a set of rollouts as a stage of its own.
func (r *rollouts) batch(ctx context.Context, stage string, set rolloutSet) ([]trajectory.Outcome, error) {
	out, err := r.all(ctx, set, r.counter(stage, len(set.tasks)))
	if err != nil {
		return out, err
	}
	return out, r.healthy()
}

// all makes a set of rollouts, or waits for them if they were prefetched.
func (r *rollouts) all(ctx context.Context, set rolloutSet, done func()) ([]trajectory.Outcome, error) {
	if p := r.prefetched.take(set); p != nil {
		return p.wait(ctx, done)
	}
	return r.roller.All(ctx, set.place, set.tasks, set.skill, done)
}

// one makes a single rollout.
func (r *rollouts) one(ctx context.Context, place rollout.Place, t task.Task, s skill.Skill) (trajectory.Outcome, error) {
	return r.roller.One(ctx, place, t, s)
}

// healthy asks whether it makes sense to continue.
func (r *rollouts) healthy() error {
	if r.health == nil {
		return nil
	}
	return r.health()
}

// counter returns a function that counts finished rollouts and now and then
// reports how far the stage is.
func (r *rollouts) counter(stage string, total int) func() {
	r.emit(event.Progress{Stage: stage, Total: total})
	if r.usage == nil {
		return func() {}
	}
	var done atomic.Int64
	every := int64(max(1, total/50))
	return func() {
		n := done.Add(1)
		if n%every == 0 || n == int64(total) {
			p := r.usage()
			p.Stage, p.Done, p.Total = stage, int(n), total
			r.emit(p)
		}
	}
}

// giveUp records, as the named decision, items that something continues without.
func (r *rollouts) giveUp(ctx context.Context, decisionKey string, place rollout.Place, tasks []task.Task) error {
	keys := make([]string, len(tasks))
	for i, tk := range tasks {
		keys[i] = place.Key(tk)
	}
	decision, err := json.Marshal(map[string]any{"without": keys})
	if err != nil {
		return fmt.Errorf("encode decision: %w", err)
	}
	return r.record.Unmeasured(ctx, decisionKey, decision, keys)
}

// giveUpMissing records those of a set that could not be measured, under the key of its
// place, and returns their tasks.
func (r *rollouts) giveUpMissing(ctx context.Context, set rolloutSet, out []trajectory.Outcome) ([]task.Task, error) {
	missing := findMissing(out)
	if len(missing) == 0 {
		return nil, nil
	}
	gone := pick(set.tasks, missing)
	return gone, r.giveUp(ctx, set.place.Prefix+"/without", set.place, gone)
}

// A NothingMeasuredError says that no task of a batch could be measured.
type NothingMeasuredError struct{ Place, Reason string }

func (e *NothingMeasuredError) Error() string {
	return fmt.Sprintf("nothing could be measured in %s: %s", e.Place, e.Reason)
}

// tooFewMeasured says that too many items have no score.
func tooFewMeasured(place string, all, missing int, reason string) error {
	return &NothingMeasuredError{Place: place, Reason: fmt.Sprintf("%d of %s without a score: %s", missing, wording.Plural(all, "item is", "items are"), reason)}
}
