package skillopt

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/schedule"
)

// batchKey is the key of the recorded size of a batch. It depends on a ceiling, which may
// change when a run goes on; the batches of a run do not.
const batchKey = "train/batch"

// batchSize is the number of tasks of a batch.
func (s *setup) batchSize() int {
	n := s.data.Drawable()
	switch size := s.cfg.Train.BatchSize; {
	case size > 0:
		return int(size)
	case size == 0:
		return schedule.DefaultBatch(n)
	case s.batch > 0:
		return s.batch
	}
	return max(1, s.affordable(schedule.WideBatch(n)))
}

// affordable is the batch that a ceiling of calls allows for.
func (s *setup) affordable(wide int) int {
	if c := s.ceiling(); c != nil {
		return c.Batch(wide)
	}
	return wide
}

// settleBatch takes the size of batches from the record of the run, if it is there.
func (s *setup) settleBatch(r *run.Run) (known bool, err error) {
	if s.cfg.Train.BatchSize != config.AutoCount {
		return true, nil
	}
	rec, ok := r.Journal.Decision(batchKey)
	if !ok && s.replay != nil {
		found, err := s.replay.Find(batchKey, journal.Digest{}, "", false)
		rec, ok = found, err == nil
	}
	if !ok {
		s.batch = s.batchSize()
		if wide := schedule.WideBatch(s.data.Drawable()); s.batch < wide {
			s.warnings = append(s.warnings, fmt.Sprintf("limits.calls is %d: batches have %d tasks, not %d, so that more than one step fits; train.batch_size chooses otherwise", *s.cfg.Limits.Calls, s.batch, wide))
		}
		return false, nil
	}
	if err := json.Unmarshal(rec.Result, &s.batch); err != nil {
		return false, fmt.Errorf("read the recorded decision %s: %w", batchKey, err)
	}
	_, ok = r.Journal.Decision(batchKey)
	return ok, nil
}

// recordBatch records the size of batches, before anything rests on it.
func (s *setup) recordBatch(ctx context.Context, r *run.Run) error {
	size, err := json.Marshal(s.batch)
	if err != nil {
		return fmt.Errorf("encode the decision %s: %w", batchKey, err)
	}
	return r.Journal.Append(ctx, journal.Record{Key: batchKey, Kind: journal.Decision, Result: size})
}

// kept reports whether a fork takes a decision over: that the test split was opened, and
// how large batches and steps are, how it began and where there was room for a second try, which its parent has paid for.
func kept(key string) bool {
	return key == batchKey || key == startKey || train.IsSize(key) || train.IsRoom(key) || train.IsOpening(key)
}
