package rollout

import (
	"context"
	"errors"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Doer makes one durable model call; *caller.Caller is one.
type Doer interface {
	Do(ctx context.Context, c caller.Call) (model.Response, error)
}

// Chat is the plain environment: one question, one answer.
type Chat struct {
	Model   Doer
	Prompt  *ChatPrompt
	Assess  Assess
	RunSeed int64
	Pages   *Pages // what is fetched where a reply holds no answer; nil: nothing is
}

// Run asks the target once, or, with pages, twice. See Episode.
func (c *Chat) Run(ctx context.Context, p Place, t task.Task, s skill.Skill) (out trajectory.Outcome, err error) {
	messages, err := c.Prompt.messages(t, s)
	if err != nil {
		return trajectory.Outcome{}, err
	}
	seed := caller.Seed(c.RunSeed, t.ID, p.Sample)
	call := caller.Call{
		Key: p.Key(t), Turn: 1, Role: model.Target, Stage: model.StageRollout,
		Messages: messages, Seed: &seed, Reask: caller.Reask{Same: 8},
	}
	resp, err := c.Model.Do(ctx, call)
	question := addImageNames(messages[len(messages)-1].Text(), t)
	reason, err := limitReason(&resp, err)
	if err != nil {
		return trajectory.Outcome{}, err
	}
	out = base(t, question, &resp)
	reply := resp.Text
	if reason == "" {
		if reply, reason, err = c.askAgain(ctx, call, t, reply, &out); err != nil {
			return trajectory.Outcome{}, err
		}
	}
	if reason != "" {
		out.Status, out.FailReason = score.AgentError, reason
		return out, nil
	}
	err = settle(ctx, c.Assess, p.Key(t), t, Evidence{Reply: reply, Turns: out.Trajectory}, &out)
	return out, err
}

// limitReason names the limit that an answer ran into, "" if none. The limit of a
// task that was refused for it is no error: it is the target's failure.
func limitReason(resp *model.Response, err error) (string, error) {
	var limit *caller.TaskLimitError
	if errors.As(err, &limit) {
		return string(limit.Code) + ": " + limit.Error(), nil
	}
	return ReplyLimit(resp), err
}

// ReplyLimit returns the limit that a reply says it ran into, "" if none.
func ReplyLimit(resp *model.Response) string {
	switch cause := resp.Finish.Refusal(); resp.Finish {
	case model.FinishLength:
		return "length: the answer was cut at the output limit (max_tokens)"
	case model.FinishFilter:
		return cause + ": the provider's filter cut the answer"
	case model.FinishRefusal:
		return cause + ": the model declined to answer"
	}
	return ""
}

func base(t task.Task, question string, resp *model.Response) trajectory.Outcome {
	out := trajectory.Outcome{ID: t.ID, Type: t.Type, Question: question, Reference: Reference(t), Usage: resp.Usage, Served: resp.Served()}
	if resp.Text != "" {
		out.Trajectory = []trajectory.Turn{{Role: model.Assistant, Content: resp.Text}}
	}
	return out
}

// Reference returns what analysts may know of a task beyond what the target saw.
func Reference(t task.Task) string {
	parts := make([]string, 0, 2)
	if len(t.Gold) > 0 {
		parts = append(parts, "expected: "+strings.Join(t.Gold, " | "))
	}
	if t.Hidden != "" {
		parts = append(parts, t.Hidden)
	}
	return strings.Join(parts, "\n")
}

// joinLines returns two texts, the second on lines of its own.
func joinLines(text, more string) string { return strings.Trim(text+"\n"+more, "\n") }
