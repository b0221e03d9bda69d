package skillopt

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/schedule"
)

// startKey is the key of the recorded decisions of a run's beginning, beside the size of
// its batches. A run without them, as older builds began them, has none.
const startKey = "train/start"

// start are decisions that rest on a ceiling, which may change when a run goes on.
type start struct {
	Warm  int  `json:"warm,omitempty"`  // train tasks of the warm start
	Few   bool `json:"few,omitempty"`   // so few steps that what survives the gate is not confirmed
	Twice *int `json:"twice,omitempty"` // selection tasks that are asked twice, at most
}

// decideStart makes those decisions for a new run.
func (s *setup) decideStart() start {
	out := start{Warm: s.warmTasks()}
	if s.cfg.Gate.Mode != train.ModeRace {
		return out
	}
	o := s.trainOptions()
	steps := o.Steps(s.data.Drawable())
	if c := s.ceiling(); c != nil {
		steps = min(steps, c.Steps(o.BatchSize*o.Accumulation))
		if n := c.Twice(train.TwiceLeast); n < train.TwiceMost {
			out.Twice = &n
		}
	}
	out.Few = s.cfg.Gate.Confirm == string(gate.ConfirmMeasured) && schedule.Few(steps)
	return out
}

// warmDrafts is how many candidates the first step makes as a warm start, 0: it is none. By
// default there is one, but not where somebody chose how many trajectories an analyst reads
// or how many edits a step makes: of many small analysts each adds what it gets wrong, and a
// warm start has no budget that would leave that out.
func (s *setup) warmDrafts() int {
	auto := 1
	if s.cfg.Reflect.MinibatchSize != config.AutoCount || s.cfg.Edits.Budget != config.AutoCount {
		auto = 0
	}
	return s.cfg.Train.Warm.Drafts.Or(auto)
}

// warmTasks is how many train tasks a warm start has, 0 if there is none. What episodes
// take nobody knows: there it has no more than a batch may.
func (s *setup) warmTasks() int {
	n := s.data.Drawable()
	switch c := s.ceiling(); {
	case s.warmDrafts() == 0:
		return 0
	case s.episodes():
		return schedule.WideBatch(n)
	case c != nil:
		return max(1, c.Batch(schedule.WarmBatch(n)))
	}
	return schedule.WarmBatch(n)
}

// ceiling is the run's ceiling of calls where sizes are to follow it, which they do unless
// somebody chose the size of batches. One of money or tokens says nothing of calls before
// any was made, and what an episode takes nobody knows: nil.
func (s *setup) ceiling() *schedule.Ceiling {
	calls := s.cfg.Limits.Calls
	if calls == nil || s.cfg.Train.BatchSize != config.AutoCount || s.episodes() {
		return nil
	}
	c := &schedule.Ceiling{Calls: int(*calls), Confirms: s.cfg.Gate.Mode == train.ModeRace && s.cfg.Gate.Confirm != string(gate.ConfirmNone) && s.cfg.Gate.Confirm != string(gate.ConfirmMeasured)}
	if s.cfg.Gate.Mode != "off" {
		c.Selection = s.data.Judges()
	}
	if s.cfg.Eval.Test {
		c.Test = 2 * len(s.data.Test)
	}
	return c
}

// settleStart takes the decisions from the record of the run or of what it replays. One
// that went on before there were any, or was forked from it, goes on without; a warm
// start that somebody asked for it has all the same.
func (s *setup) settleStart(r *run.Run) (known bool, err error) {
	rec, ok := r.Journal.Decision(startKey)
	if ok {
		known = true
	} else if s.replay != nil {
		found, err := s.replay.Find(startKey, journal.Digest{}, "", false)
		rec, ok = found, err == nil
	}
	switch {
	case ok:
		s.start = &start{}
		if err := json.Unmarshal(rec.Result, s.start); err != nil {
			return false, fmt.Errorf("read the recorded decision %s: %w", startKey, err)
		}
		return known, nil
	case r.Journal.Counts().Results > 0 || s.fork != "" || s.replay != nil:
		s.start = &start{Warm: s.warmTasks()}
	default:
		decided := s.decideStart()
		s.start = &decided
	}
	return reflect.ValueOf(*s.start).IsZero(), nil
}

// recordStart records them, before anything rests on them.
func (s *setup) recordStart(ctx context.Context, r *run.Run) error {
	decided, err := json.Marshal(s.start)
	if err != nil {
		return fmt.Errorf("encode the decision %s: %w", startKey, err)
	}
	return r.Journal.Append(ctx, journal.Record{Key: startKey, Kind: journal.Decision, Result: decided})
}
