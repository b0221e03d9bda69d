package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	loop "github.com/seed-f4525e22/skillopt/internal/train"
)

// endKey is the key of the decision to end a loop before its last step.
const endKey = loop.EndKey

// settleEnd finds out where the loop is to end before its last step: where that was decided
// in an earlier session, or now if the user says so.
func (t *operation) settleEnd(ctx context.Context) error {
	s, r := t.session, t.session.Run
	rec, ok := r.Journal.Decision(endKey)
	if !ok && s.Replay != nil {
		found, err := s.Replay.Find(endKey, journal.Digest{}, "", false)
		rec, ok = found, err == nil
	}
	if ok {
		t.end = &loop.LoopEnd{}
		if err := json.Unmarshal(rec.Result, t.end); err != nil {
			return fmt.Errorf("read the recorded decision %s: %w", endKey, err)
		}
		if t.end.Continued {
			t.end = nil
		} else if t.end.Limit == "" {
			t.options.EndAfter = &t.end.Units
			return nil
		}
	}
	switch {
	case !s.Finish:
		return nil
	case s.Replay != nil:
		return fault.Input(errors.New("--finish ends a run that models have answered; a replay ends where its record does"))
	}
	return t.endNow(ctx)
}

// endNow decides that the loop ends where its record does, for good, and records it. The
// step that has begun is left out.
func (t *operation) endNow(ctx context.Context) (err error) {
	s := t.session.AsRecorded(t.session.Run)
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Connect(ctx); err != nil {
		return err
	}
	s.Emit = func(event.Event) {}
	s.Caller.Stop()
	deps, err := t.deps(s)
	if err != nil {
		return err
	}
	o := t.options
	result, err := loop.Run(ctx, o, deps)
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, caller.ErrStopping):
		return s.Cause(ctx, err)
	case len(result.History.Steps) == 0:
		return fault.Input(fmt.Errorf("--finish: %s holds nothing to evaluate yet: the seed skill is not scored; raise the ceiling and train on", s.Run.Dir))
	case result.History.Stop != nil || result.History.Final != nil || result.Units == o.Units(s.Data.Drawable()):
		return nil // only the final evaluation is left
	}
	return t.recordEnd(ctx, loop.LoopEnd{Units: result.Units, Steps: len(result.History.Steps) - 1})
}
