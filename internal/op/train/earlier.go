package train

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/session"
	loop "github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/result"
)

// settleEarlier reads from the record of the run what the run continues from, if it is there.
func (t *operation) settleEarlier() error {
	rec, ok := t.session.Run.Journal.Decision(session.StretchesKey)
	if !ok {
		return nil
	}
	if err := json.Unmarshal(rec.Result, &t.earlier); err != nil {
		return fmt.Errorf("read the recorded decision %s: %w", session.StretchesKey, err)
	}
	return nil
}

// recordEarlier records what the run continues from, before anything rests on it.
func (t *operation) recordEarlier(ctx context.Context) error {
	j := t.session.Run.Journal
	if _, ok := j.Decision(session.StretchesKey); len(t.earlier) == 0 || ok {
		return nil
	}
	data, err := json.Marshal(t.earlier)
	if err != nil {
		return fmt.Errorf("encode the decision %s: %w", session.StretchesKey, err)
	}
	return j.Append(ctx, journal.Record{Key: session.StretchesKey, Kind: journal.Decision, Result: data})
}

// testedBefore reports whether the run continues from one that has read the test split.
func (t *operation) testedBefore() bool {
	return len(t.earlier) > 0 && t.earlier[len(t.earlier)-1].Tested
}

// goingOn returns the options of a loop that continues from stretches of it.
func goingOn(o loop.Options, earlier []loop.Stretch) loop.Options {
	if len(earlier) == 0 {
		return o
	}
	o.Earlier = earlier
	o.Stop = earlier[len(earlier)-1].After(o.Stop)
	return o
}

// newContinues returns what a summary says of the stretch that a loop continues, nil if there is none.
func newContinues(earlier []loop.Stretch) *result.Continues {
	if len(earlier) == 0 {
		return nil
	}
	last := earlier[len(earlier)-1]
	return &result.Continues{RunID: last.RunID, Name: last.Name, Steps: last.Steps, Tested: last.Tested}
}

func continuesWords(earlier []loop.Stretch) string {
	if c := newContinues(earlier); c != nil {
		return c.Words()
	}
	return ""
}
