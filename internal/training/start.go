package training

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/schedule"
)

// start are decisions that rest on a ceiling, which may change when a run continues, or on
// what rests on one.
type start struct {
	Warm   int  `json:"warm,omitempty"`   // train tasks of the warm start
	Epochs int  `json:"epochs,omitempty"` // where the configuration leaves them to the run
	Twice  *int `json:"twice,omitempty"`  // selection tasks that are asked twice, at most

	KeepOpen bool `json:"keep_open,omitempty"` // nothing is made smaller for a ceiling
	small
}

// decideStart makes those decisions for a new run.
func (z *Sizes) decideStart() {
	out := start{KeepOpen: z.KeepsOpen(), small: z.decideSmall()}
	z.start = &out
	z.in.Data = z.in.Data.Fewer(out.Selection, z.in.Config.Train.Seed)
	out.Warm = z.warmTasks()
	if z.in.Config.Train.Epochs == config.AutoCount {
		steps := schedule.StepsPerEpoch(z.in.Data.Drawable(), z.batchSize(), z.in.Config.Train.Accumulation)
		out.Epochs = schedule.Epochs(steps)
	}
	if c := z.callCeiling(); c != nil && z.in.Config.Gate.Fresh {
		if n := c.Twice(train.TwiceLeast); n < train.TwiceMost {
			out.Twice = &n
		}
	}
}

// warms reports whether the run begins with a warm start. By default it does, but not where
// somebody chose how many trajectories an analyst reads or how many edits a step makes: of
// many small analysts each adds what it gets wrong, and a warm start has no budget that would
// leave that out.
func (z *Sizes) warms() bool {
	c := z.in.Config
	if c.Train.Warm == config.WarmAuto {
		return c.Reflect.MinibatchSize == config.AutoCount && c.Edits.Budget == config.AutoCount
	}
	return c.Train.Warm == config.WarmOn
}

// warmTasks returns how many train tasks a warm start has, 0 if there is none. No one knows what
// episodes take: there it has no more than a batch may.
func (z *Sizes) warmTasks() int {
	n := z.in.Data.Drawable()
	switch c := z.callCeiling(); {
	case !z.warms():
		return 0
	case z.in.Episodes():
		return min(n, schedule.MostEpisodes)
	case c != nil:
		return max(1, c.Batch(schedule.WarmBatch(n)))
	}
	return schedule.WarmBatch(n)
}

// KeepsOpen reports whether the run makes nothing smaller for its ceilings, and does not end
// with its result where one ends it.
func (z *Sizes) KeepsOpen() bool {
	if z.start != nil {
		return z.start.KeepOpen
	}
	return z.in.KeepOpen
}

// EndsWithResult reports whether the run ends with its result where a ceiling ends it.
func (z *Sizes) EndsWithResult() bool {
	share, fixed := z.in.Config.Limits.ReserveShare()
	return !z.KeepsOpen() && (!fixed || share > 0)
}

// ExamplesFollow reports whether worked examples take no more than a ceiling has room for.
func (z *Sizes) ExamplesFollow() bool {
	return z.EndsWithResult() || !z.KeepsOpen() && z.in.Config.Train.BatchSize == config.AutoCount
}

// callCeiling returns the run's ceiling of calls where sizes are to follow it, which they do unless
// the size of batches was chosen. A ceiling of money or tokens says nothing of calls before any was
// made, and what an episode takes is not known: nil.
func (z *Sizes) callCeiling() *schedule.Ceiling {
	calls := z.in.Config.Limits.Calls
	if calls == nil || z.KeepsOpen() || z.in.Config.Train.BatchSize != config.AutoCount || z.in.Episodes() {
		return nil
	}
	c := &schedule.Ceiling{Calls: int(*calls) - z.examples().Rollouts}
	c.Rollouts = z.in.Config.Reflect.Rollouts
	if gate.Mode(z.in.Config.Gate.Mode) != gate.ModeOff {
		c.Selection = z.in.Data.Judges()
	}
	c.Test = z.testCalls()
	return c
}

// Settle takes what was decided from the record of the run, and decides the rest. Record
// records that.
func (z *Sizes) Settle(r *run.Run) error {
	start, err := z.settleStart(r)
	if err != nil {
		return err
	}
	batch, err := z.settleBatch(r)
	if err != nil {
		return err
	}
	z.open = z.open[:0]
	if !batch {
		z.open = append(z.open, decision{session.BatchKey, z.batch})
	}
	if !start {
		z.open = append(z.open, decision{session.StartKey, z.start})
	}
	return nil
}

// Decide decides what a new run would, for a plan of it.
func (z *Sizes) Decide() {
	z.decideStart()
}

// decision is one that is not recorded yet.
type decision struct {
	key   string
	value any
}

// Record records what Settle has decided, all of it at once, before anything rests on it.
func (z *Sizes) Record(ctx context.Context, r *run.Run) error {
	var records []journal.Record
	for _, d := range z.open {
		data, err := json.Marshal(d.value)
		if err != nil {
			return fmt.Errorf("encode the decision %s: %w", d.key, err)
		}
		records = append(records, journal.Record{Key: d.key, Kind: journal.Decision, Result: data})
	}
	z.open = nil
	return r.Journal.Append(ctx, records...)
}

// settleStart takes the decisions from the record of the run or of what it replays. What was
// forked or replayed from a run without them continues without; it has a warm start if the
// configuration asks for one. A run that was killed before they were recorded decides again.
func (z *Sizes) settleStart(r *run.Run) (known bool, err error) {
	rec, ok := r.Journal.Decision(session.StartKey)
	if ok {
		known = true
	} else if z.in.Replay != nil {
		found, err := z.in.Replay.Find(session.StartKey, journal.Digest{}, "", false)
		rec, ok = found, err == nil
	}
	switch {
	case ok:
		z.start = &start{}
		if err := json.Unmarshal(rec.Result, z.start); err != nil {
			return false, fmt.Errorf("read the recorded decision %s: %w", session.StartKey, err)
		}
		z.in.Data = z.in.Data.Fewer(z.start.Selection, z.in.Config.Train.Seed)
		return known, nil
	case z.in.Fork != "" || z.in.Replay != nil:
		z.start = &start{Warm: z.warmTasks()}
	default:
		z.decideStart()
	}
	return reflect.ValueOf(*z.start).IsZero(), nil
}

// settleBatch takes the size of batches from the record of the run, if it is there.
func (z *Sizes) settleBatch(r *run.Run) (known bool, err error) {
	if z.in.Config.Train.BatchSize != config.AutoCount {
		return true, nil
	}
	rec, ok := r.Journal.Decision(session.BatchKey)
	if !ok && z.in.Replay != nil {
		found, err := z.in.Replay.Find(session.BatchKey, journal.Digest{}, "", false)
		rec, ok = found, err == nil
	}
	if !ok {
		z.batch = z.batchSize()
		if wide := schedule.WideBatch(z.in.Data.Drawable()); z.batch < wide && z.models.Has(model.Optimizer) {
			z.in.Warnings = append(z.in.Warnings, fmt.Sprintf("limits.calls is %d: batches have %d tasks, not %d, so that more than one step fits; train.batch_size chooses otherwise", *z.in.Config.Limits.Calls, z.batch, wide))
		}
		return false, nil
	}
	if err := json.Unmarshal(rec.Result, &z.batch); err != nil {
		return false, fmt.Errorf("read the recorded decision %s: %w", session.BatchKey, err)
	}
	_, ok = r.Journal.Decision(session.BatchKey)
	return ok, nil
}
