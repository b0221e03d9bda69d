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

// endAfter returns after how many units the loop is to end, nil if at its own
// end: what was decided in an earlier session, or now if the user says so.
func (t *operation) endAfter(ctx context.Context) (*int, error) {
	s, r := t.session, t.session.Run
	rec, ok := r.Journal.Decision(endKey)
	if !ok && s.Replay != nil {
		found, err := s.Replay.Find(endKey, journal.Digest{}, "", false)
		rec, ok = found, err == nil
	}
	switch {
	case ok:
		var end loop.LoopEnd
		if err := json.Unmarshal(rec.Result, &end); err != nil {
			return nil, fmt.Errorf("read the recorded decision %s: %w", endKey, err)
		}
		return &end.Units, nil
	case !s.Finish:
		return nil, nil
	case s.Replay != nil:
		return nil, fault.Input(errors.New("--finish ends a run that models have answered; a replay ends where its record does"))
	}
	return t.endNow(ctx)
}

// endNow decides that the loop ends where its record does, and records it. The
// step that has begun is left out.
func (t *operation) endNow(ctx context.Context) (_ *int, err error) {
	s := t.session.AsRecorded(t.session.Run)
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Connect(ctx); err != nil {
		return nil, err
	}
	s.Emit = func(event.Event) {}
	s.Caller.Stop()
	deps, err := t.deps(s)
	if err != nil {
		return nil, err
	}
	o := t.options
	result, err := loop.Run(ctx, o, deps)
	switch {
	case err == nil:
		return nil, nil
	case !errors.Is(err, caller.ErrStopping):
		return nil, s.Cause(ctx, err)
	case len(result.History.Steps) == 0:
		return nil, fault.Input(fmt.Errorf("--finish: %s holds nothing to evaluate yet: the seed skill is not scored; raise the ceiling and train on", s.Run.Dir))
	case result.History.Stop != nil || result.History.Final != nil || result.Units == o.Units(s.Data.Drawable()):
		return nil, nil // only the final evaluation is left
	}
	decision, err := json.Marshal(loop.LoopEnd{Units: result.Units, Steps: len(result.History.Steps) - 1})
	if err != nil {
		return nil, fmt.Errorf("encode the decision %s: %w", endKey, err)
	}
	_, err = s.Caller.Decision(ctx, endKey, func() ([]byte, error) { return decision, nil })
	return &result.Units, err
}
