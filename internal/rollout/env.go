package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// EpisodeRecorder makes a whole episode one durable step; *caller.Caller is one.
type EpisodeRecorder interface {
	Episode(ctx context.Context, c caller.EpisodeCall, run func(context.Context, model.Client) (caller.EpisodeResult, error)) ([]byte, error)
}

// Env carries out tasks in a user's own environment. The episode as a whole is
// the durable step: what happens inside may have effects that no record undoes.
type Env struct {
	Env     task.Env
	Record  EpisodeRecorder
	RunSeed int64
	Timeout time.Duration // the task's own deadline; 0 = none
	Context []byte        // what an outcome depends on besides task and skill
	Hide    *redact.Exact // takes secrets that the environment was handed out of what it says; nil if it was handed none
}

// Run carries out one episode. See Episode.
func (e *Env) Run(ctx context.Context, p Place, t task.Task, s skill.Skill) (trajectory.Outcome, error) {
	own, err := json.Marshal(t)
	if err != nil {
		return trajectory.Outcome{}, fmt.Errorf("encode task %s: %w", t.ID, err)
	}
	call := caller.EpisodeCall{
		Key: p.Key(t), Stage: model.StageRollout, Role: model.Target,
		Shared: [][]byte{[]byte(s.Text()), e.Context}, Own: own, Seed: caller.Seed(e.RunSeed, t.ID, p.Sample),
	}
	raw, err := e.Record.Episode(ctx, call, func(ctx context.Context, client model.Client) (caller.EpisodeResult, error) {
		out, err := e.roll(task.WithSeed(ctx, call.Seed), t, s, client)
		if err != nil {
			return caller.EpisodeResult{}, err
		}
		data, err := json.Marshal(out)
		return caller.EpisodeResult{Data: e.Hide.JSON(data), Usage: out.Usage}, err
	})
	if err != nil {
		return trajectory.Outcome{}, err
	}
	var out trajectory.Outcome
	if err := json.Unmarshal(raw, &out); err != nil {
		return trajectory.Outcome{}, fmt.Errorf("read the recorded outcome of %s: %w", p.Key(t), err)
	}
	return out, nil
}

// roll runs the environment under the task's deadline and checks what it says.
// Only an environment that names a status of its own may report a failure of
// the agent; one that hangs or breaks measured nothing.
func (e *Env) roll(ctx context.Context, t task.Task, s skill.Skill, client model.Client) (trajectory.Outcome, error) {
	if e.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, e.Timeout, errDeadline)
		defer cancel()
	}
	out, err := e.Env.Rollout(ctx, t, s, client)
	if err != nil {
		return out, caller.Unmeasurable(fmt.Errorf("environment, task %s: %w", t.ID, err))
	}
	if err := checkOutcome(out); err != nil {
		return out, caller.Unmeasurable(fmt.Errorf("environment, task %s: %w", t.ID, err))
	}
	if out.Status == score.AgentError {
		out.Hard, out.Soft = 0, 0
	}
	out.ID, out.Type, out.Feedback = t.ID, t.Type, feedback(out.Feedback)
	if out.Question == "" {
		out.Question = t.Prompt
	}
	if out.Reference == "" {
		out.Reference = Reference(t)
	}
	return out, nil
}

var errDeadline = errors.New("the task's deadline (env.timeout) passed")

func checkOutcome(out trajectory.Outcome) error {
	switch out.Status {
	case score.OK, score.AgentError:
	default:
		return fmt.Errorf("outcome with status %q, allowed: %s, %s", out.Status, score.OK, score.AgentError)
	}
	if err := checkScores(out); err != nil {
		return err
	}
	if u := out.Usage; min(u.Input, u.Output, u.Cached, u.Reasoning) < 0 {
		return fmt.Errorf("outcome with usage %+v, allowed: no negative numbers", u)
	}
	return nil
}
