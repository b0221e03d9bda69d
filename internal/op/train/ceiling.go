package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/session"
	loop "github.com/seed-f4525e22/skillopt/internal/train"
)

// train runs the loop. Where a ceiling ends it, the final evaluation follows within what was
// kept for it.
func (t *operation) train(ctx context.Context, deps loop.Deps) (*loop.Result, error) {
	if err := t.resumeEnd(ctx); err != nil {
		return nil, err
	}
	p := &pacer{session: t.session, sizes: t.sizes, ended: t.options.EndAfter != nil}
	deps.Pace = p.pace
	trained, err := loop.Run(ctx, t.options, deps)
	end := t.ceilingEnd(trained, err)
	if end == nil {
		return trained, err
	}
	if err := t.recordEnd(ctx, *end); err != nil {
		return trained, err
	}
	// The step that was under way has left its traces in the loop: it is carried out again
	// from the record, without that step.
	p.ended, p.quiet = true, true
	emit := deps.Events
	deps.Look, deps.Events = nil, func(e event.Event) {
		if !p.quiet {
			emit(e)
		}
	}
	return loop.Run(ctx, t.options, deps)
}

// resumeEnd ends the loop where a ceiling has ended it in an earlier session, unless that is
// higher by now.
func (t *operation) resumeEnd(ctx context.Context) error {
	end := t.end
	if end == nil || end.Limit == "" {
		return nil
	}
	s := t.session
	if now := findCeiling(session.InForce(s), end.Limit); s.Replay == nil && (now == nil || *now > end.Of) {
		text := fmt.Sprintf("%s ended training after step %d and is higher now: training continues", end.Limit, end.Steps)
		if loop.HasOpening(s.Caller) {
			text += ". The test split was read at that end: the next look at it is one more reading in the ledger of test sets"
		}
		s.Emit(event.Warning{Text: text})
		end.Continued, t.end = true, nil
		return t.record(ctx, *end)
	}
	t.options.EndAfter, t.options.Raisable = &end.Units, true
	return nil
}

// ceilingEnd returns where a ceiling has ended the loop, nil if the run does not end with its
// result there.
func (t *operation) ceilingEnd(trained *loop.Result, err error) *loop.LoopEnd {
	var over *caller.BudgetError
	s := t.session
	if !errors.As(err, &over) || strings.HasSuffix(over.Limit, ".time") || trained == nil || len(trained.History.Steps) == 0 {
		return nil
	}
	atEnd := t.options.EndAfter != nil || trained.History.Stop != nil || trained.Units == t.options.Units(s.Data.Drawable())
	if atEnd || s.Replay != nil || !t.sizes.EndsWithResult() || isLowered(s, over) {
		return nil
	}
	return &loop.LoopEnd{Units: trained.Units, Steps: len(trained.History.Steps) - 1, Limit: over.Limit, Of: over.Of}
}

// isLowered reports whether somebody has lowered a ceiling while the run was at work.
func isLowered(s *session.Session, over *caller.BudgetError) bool {
	set := findCeiling(s.Config.Limits, over.Limit)
	return set == nil || over.Of < *set
}

// recordEnd records where the loop has ended, and ends it there.
func (t *operation) recordEnd(ctx context.Context, end loop.LoopEnd) error {
	t.end, t.options.EndAfter, t.options.Raisable = &end, &end.Units, end.Limit != ""
	return t.record(ctx, end)
}

// record records where the loop has ended. A ceiling may have ended it before.
func (t *operation) record(ctx context.Context, end loop.LoopEnd) error {
	data, err := json.Marshal(end)
	if err != nil {
		return fmt.Errorf("encode the decision %s: %w", endKey, err)
	}
	return t.session.Run.Journal.Append(ctx, journal.Record{Key: endKey, Kind: journal.Decision, Result: data, Replace: true})
}

// findCeiling returns the ceiling under a key of the configuration, nil if there is none.
func findCeiling(l config.Limits, key string) *float64 {
	count := l.Calls
	switch key {
	case "limits.usd":
		return l.USD
	case "limits.tokens":
		count = l.Tokens
	}
	if count == nil {
		return nil
	}
	n := float64(*count)
	return &n
}
