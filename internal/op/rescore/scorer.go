package rescore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// rescorer scores replies again. It may be used concurrently.
type rescorer struct {
	Tasks   map[string]task.Task // by id
	Suite   *check.Suite
	Extract *check.Extractor
	Prompt  *rollout.ChatPrompt
	World   bool // a world follows the prompt with a text of its own
	// Judged finds what a judge said to a request about the rollout with a key. What no one
	// asked is record.ErrNoReply.
	Judged func(ctx context.Context, key string, q check.JudgeRequest) (string, error)
}

// A refusedError says why a reply cannot be rescored. It has no score then.
type refusedError struct{ Reason string }

func (e *refusedError) Error() string { return e.Reason }

func newRefusedError(format string, args ...any) error {
	return &refusedError{Reason: fmt.Sprintf(format, args...)}
}

// Reasons why a reply is not rescored.
const (
	noTask     = "the config has no task with this id"
	otherTask  = "it asks something else now: another task has its id"
	ownScore   = "the environment has scored it by itself"
	noFolder   = "its checks look at what an agent leaves in its workspace, which the record does not hold"
	noJudgment = "a judge would have to be asked, and nothing is asked"
)

// outcome scores the reply of the rollout with a key to the task with an id, made with the
// skill s. The error is that of ctx, one to read the record, or a *refusedError.
func (s *rescorer) outcome(ctx context.Context, id, key string, r record.Reply, sk skill.Skill) (trajectory.Outcome, error) {
	t, ok := s.Tasks[id]
	if !ok {
		return trajectory.Outcome{}, newRefusedError(noTask)
	}
	if !s.same(t, r, sk) {
		return trajectory.Outcome{}, newRefusedError(otherTask)
	}
	out := trajectory.Outcome{ID: t.ID, Type: t.Type, Question: r.Question, Reference: rollout.Reference(t), Trajectory: r.Turns}
	switch {
	case r.Scored:
		return out, newRefusedError(ownScore)
	case r.Failure != "":
		out.Status, out.FailReason = score.AgentError, r.Failure
		return out, nil
	case s.Suite.Needs(t).Workspace:
		return out, newRefusedError(noFolder)
	}
	return out, s.score(ctx, key, t, r, &out)
}

// score fills in what the checks say.
func (s *rescorer) score(ctx context.Context, key string, t task.Task, r record.Reply, out *trajectory.Outcome) (err error) {
	out.Answer = r.Text
	if !r.Answer {
		if out.Answer, out.Extracted, err = s.Extract.Extract(r.Text); err != nil {
			return newRefusedError("%v", err)
		}
	}
	got, err := s.Suite.Assess(ctx, check.Evidence{Answer: out.Answer, Turns: r.Turns}, t, check.Means{
		Judge: func(ctx context.Context, _ string, q check.JudgeRequest) (string, error) {
			return s.Judged(ctx, key, q)
		},
	})
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, record.ErrNoReply):
		return newRefusedError(noJudgment)
	default:
		return newRefusedError("%v", err)
	}
	out.Status, out.Hard, out.Soft = score.OK, got.Hard, got.Soft
	out.FailReason, out.Feedback, out.Checks = got.Reason, got.Feedback, trajectory.VerdictsOf(got.Components)
	return nil
}

// same reports whether a task asks what a reply answers.
func (s *rescorer) same(t task.Task, r record.Reply, sk skill.Skill) bool {
	if r.Episode {
		return r.Task != nil && r.Task.Prompt == t.Prompt && equalJSON(r.Task.Data, t.Data)
	}
	asked, err := s.Prompt.Question(t, sk)
	shown := s.World && strings.HasPrefix(r.Question, asked+"\n\n")
	return err == nil && (asked == r.Question || rollout.NameImages(asked, t) == r.Question || shown)
}

// equalJSON compares values according to what JSON makes of them.
func equalJSON(a, b map[string]any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && (len(a) == 0 && len(b) == 0 || bytes.Equal(x, y))
}

// recordedReply returns the reply in an outcome of a chat. The run has written it down whole.
func recordedReply(o trajectory.Outcome) record.Reply {
	r := record.Reply{Question: o.Question, Turns: o.Trajectory}
	if n := len(o.Trajectory); n > 0 && o.Trajectory[n-1].Role == model.Assistant {
		r.Text = o.Trajectory[n-1].Content
	}
	if o.Status == score.AgentError {
		r.Failure = o.FailReason
	}
	return r
}

// differs reports whether an answer scores otherwise than it did, or something else is
// scored of it.
func differs(then, now trajectory.Outcome) bool {
	return then.Hard != now.Hard || then.Soft != now.Soft || strings.TrimSpace(then.Answer) != strings.TrimSpace(now.Answer)
}
