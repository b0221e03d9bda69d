package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/template"
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
	System  *template.Template // over the fields of the task and {{skill}}
	User    *template.Template // over the fields of the task
	Assess  Assess
	Images  *Images
	Extras  map[string]any
	RunSeed int64
	// Bare leaves the system message out for an empty skill.
	Bare bool

	mu     sync.Mutex
	system map[string]string // skill text -> system message, when it depends on nothing else
}

// Run asks the target once. See Episode.
func (c *Chat) Run(ctx context.Context, p Place, t task.Task, s skill.Skill) (trajectory.Outcome, error) {
	messages, err := c.messages(t, s)
	if err != nil {
		return trajectory.Outcome{}, err
	}
	seed := caller.Seed(c.RunSeed, t.ID, p.Sample)
	resp, err := c.Model.Do(ctx, caller.Call{
		Key: p.Key(t), Turn: 1, Role: model.Target, Stage: model.StageRollout,
		Messages: messages, Seed: &seed, Reask: caller.Reask{Same: 8},
	})
	question := seen(messages[len(messages)-1].Text(), t)
	var limit *caller.TaskLimitError
	if errors.As(err, &limit) {
		return failed(t, question, model.Response{}, string(limit.Code)+": "+limit.Error()), nil
	}
	if err != nil {
		return trajectory.Outcome{}, err
	}
	if reason := limitReason(resp.Finish); reason != "" {
		return failed(t, question, resp, reason), nil
	}
	out := base(t, question, resp)
	return out, settle(ctx, c.Assess, p.Key(t), t, Evidence{Reply: resp.Text, Turns: out.Trajectory}, &out)
}

func limitReason(f model.Finish) string {
	switch f {
	case model.FinishLength:
		return "length: the answer was cut at the output limit (max_tokens)"
	case model.FinishFilter:
		return "content_filter: the provider's filter cut the answer"
	case model.FinishRefusal:
		return "refusal: the model declined to answer"
	}
	return ""
}

func failed(t task.Task, question string, resp model.Response, reason string) trajectory.Outcome {
	out := base(t, question, resp)
	out.Status, out.FailReason = score.AgentError, reason
	return out
}

func base(t task.Task, question string, resp model.Response) trajectory.Outcome {
	out := trajectory.Outcome{ID: t.ID, Type: t.Type, Question: question, Reference: Reference(t), Usage: resp.Usage, Served: resp.Served()}
	if resp.Text != "" {
		out.Trajectory = []trajectory.Turn{{Role: model.Assistant, Content: resp.Text}}
	}
	return out
}

// Reference is what analysts may know of a task beyond what the target saw.
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

func (c *Chat) messages(t task.Task, s skill.Skill) ([]model.Message, error) {
	fields := t.Fields()
	given := map[string]any{"skill": s.Text()}
	if len(c.Extras) > 0 {
		given["extras"] = c.Extras
	}
	for name, v := range given {
		if _, own := fields[name]; !own {
			fields[name] = v // as the lint of tasks has it
		}
	}
	user, err := c.User.Render(fields)
	if err != nil {
		return nil, fmt.Errorf("render tasks.prompt for task %s (%s): %w", t.ID, t.Origin, err)
	}
	system, err := c.systemText(fields, s)
	if err != nil {
		return nil, fmt.Errorf("render tasks.system for task %s (%s): %w", t.ID, t.Origin, err)
	}
	asked, err := c.asked(t, user)
	if err != nil || system == "" {
		return []model.Message{asked}, err
	}
	return []model.Message{{Role: model.System, Content: system}, asked}, nil
}

// asked is the user's message: the text, and the pictures of the task.
func (c *Chat) asked(t task.Task, text string) (model.Message, error) {
	images, err := c.Images.of(t)
	if err != nil || len(images) == 0 {
		return model.Message{Role: model.User, Content: text}, err
	}
	m := model.Message{Role: model.User, Parts: []model.Part{{Text: text}}}
	for i := range images {
		m.Parts = append(m.Parts, model.Part{Image: &images[i]})
	}
	return m, nil
}

// systemText renders the system message. One that depends on the skill alone is
// rendered once a skill: a batch shares it, and so do provider caches.
func (c *Chat) systemText(fields map[string]any, s skill.Skill) (string, error) {
	text := s.Text()
	if c.Bare && strings.TrimSpace(text) == "" {
		return "", nil
	}
	for _, name := range c.System.Names() {
		if name != "skill" {
			fields["skill"] = text
			return c.System.Render(fields)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if out, ok := c.system[text]; ok {
		return out, nil
	}
	out, err := c.System.Render(map[string]any{"skill": text})
	if err != nil {
		return "", err
	}
	if c.system == nil || len(c.system) > 64 {
		c.system = map[string]string{}
	}
	c.system[text] = out
	return out, nil
}
