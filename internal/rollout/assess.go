package rollout

import (
	"context"
	"encoding/json"
	"fmt"

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

// Assess finds the answer in what a rollout left and scores it. key is that of
// the rollout. An error that caller.ErrUnmeasured matches means that it could
// not be scored.
type Assess func(ctx context.Context, key string, t task.Task, ev Evidence) (answer string, s score.Score, err error)

// settle scores what a rollout left and fills in the outcome. A score that is
// none is no measurement.
func settle(ctx context.Context, assess Assess, key string, t task.Task, ev Evidence, out *trajectory.Outcome) error {
	answer, s, err := assess(ctx, key, t, ev)
	if err != nil {
		return fmt.Errorf("score task %s: %w", t.ID, err)
	}
	out.Status, out.Hard, out.Soft = score.OK, s.Hard, s.Soft
	out.Answer, out.FailReason, out.Feedback = answer, s.Reason, feedback(s.Feedback)
	if err := checkScores(*out); err != nil {
		return caller.Unmeasurable(fmt.Errorf("score task %s: %w", t.ID, err))
	}
	return nil
}
