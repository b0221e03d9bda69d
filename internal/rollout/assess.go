package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Evidence is what a rollout left to be scored.
type Evidence struct {
	Reply   string
	Turns   []trajectory.Turn
	Dir     string          // the workspace as the agent left it, "" if there was none
	Seen    string          // the path at which the agent had it, as far as it can be had again
	Before  json.RawMessage // what Snapshot said of it before
	Written []string        // what was put into it that is not the agent's work
	Digest  string          // names the episode that left it, and its task; "" if it has no workspace
}

// Assessment is an answer and its score.
type Assessment struct {
	Answer    string
	Extracted string // the rule that found the answer, see check.Extractor.Extract
	Score     score.Score
}

// Assess finds the answer in what a rollout left and scores it. key is that of
// the rollout. An error that caller.ErrUnmeasured matches means that it could
// not be scored; an *check.UndecidedError among its causes says what was decided.
type Assess func(ctx context.Context, key string, t task.Task, ev Evidence) (Assessment, error)

// settle scores what a rollout left and fills in the outcome. A score that is
// none is no measurement.
func settle(ctx context.Context, assess Assess, key string, t task.Task, ev Evidence, out *trajectory.Outcome) error {
	a, err := assess(ctx, key, t, ev)
	s := a.Score
	out.Answer, out.Extracted = a.Answer, a.Extracted
	if err != nil {
		out.Checks = findVerdicts(err)
		return fmt.Errorf("score task %s: %w", t.ID, err)
	}
	out.Status, out.Hard, out.Soft = score.OK, s.Hard, s.Soft
	out.Cause = s.Cause
	out.FailReason, out.Feedback, out.Checks = s.Reason, feedback(s.Feedback), trajectory.VerdictsOf(s.Components)
	if err := checkScores(*out); err != nil {
		return caller.Unmeasurable(fmt.Errorf("score task %s: %w", t.ID, err))
	}
	return nil
}

// findVerdicts returns the verdicts of checks one of which could not be decided; nil if it is
// something else that kept the rollout from being scored.
func findVerdicts(err error) []trajectory.CheckVerdict {
	var undecided *check.UndecidedError
	if !errors.As(err, &undecided) {
		return nil
	}
	return trajectory.VerdictsOf(undecided.Components)
}
