package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// stockroom is an environment of several turns. The target asks for shelf cards
// by "lookup NAME" and ends with "answer TEXT". It holds no state of its own, so
// that rollouts may run side by side.
type stockroom struct {
	turns int // after that many the target has failed
}

var _ task.Env = stockroom{}

// card is what is known of a product. It is in the task's data.
type card struct {
	Stock int    `json:"stock"`
	Kilos string `json:"kilos"`
	Shelf string `json:"shelf"`
}

// Rollout carries out one task. Whatever goes wrong with the model is an error:
// then nothing was measured. What goes wrong with the answer is an outcome.
func (r stockroom) Rollout(ctx context.Context, t task.Task, s skill.Skill, client model.Client) (trajectory.Outcome, error) {
	cards, err := cardsOf(t)
	if err != nil {
		return trajectory.Outcome{}, err
	}
	out := trajectory.Outcome{Status: score.OK}
	messages := []model.Message{{Role: model.System, Content: s.Text()}, {Role: model.User, Content: t.Prompt}}
	for range r.turns {
		resp, err := client.Generate(ctx, model.Request{Messages: messages})
		if err != nil {
			return out, fmt.Errorf("ask the target: %w", err)
		}
		verb, argument, _ := strings.Cut(strings.TrimSpace(resp.Text), " ")
		if verb == "answer" {
			out.Trajectory = append(out.Trajectory, trajectory.Turn{Role: model.Assistant, Content: argument})
			judge(&out, argument, t)
			return out, nil
		}
		observation := look(cards, verb, argument)
		out.Trajectory = append(out.Trajectory, trajectory.Turn{Kind: trajectory.EnvStep, Action: resp.Text, Observation: observation})
		messages = append(messages,
			model.Message{Role: model.Assistant, Content: resp.Text},
			model.Message{Role: model.User, Content: observation})
	}
	out.Status = score.AgentError // the task's own limit, so a score of 0
	out.FailReason = fmt.Sprintf("turns: no answer in %d turns", r.turns)
	return out, nil
}

func look(cards map[string]card, verb, name string) string {
	c, ok := cards[name]
	switch {
	case verb != "lookup":
		return "write: lookup NAME, or: answer TEXT"
	case !ok:
		return "there is no card for " + name
	}
	return fmt.Sprintf("stock %d, weight %s kg, shelf %s", c.Stock, c.Kilos, c.Shelf)
}

// judge scores an answer. The feedback is for the optimizer only.
func judge(out *trajectory.Outcome, answer string, t task.Task) {
	out.Answer = answer
	if answer == t.Gold[0] {
		out.Hard, out.Soft = 1, 1
		return
	}
	out.FailReason = "form: the answer does not have the form of the house"
	out.Feedback = fmt.Sprintf("got %q, expected %q", answer, t.Gold[0])
}

// cardsOf reads the shelf cards out of the task's data.
func cardsOf(t task.Task) (map[string]card, error) {
	text, err := json.Marshal(t.Data["cards"])
	if err != nil {
		return nil, fmt.Errorf("task %s: %w", t.ID, err)
	}
	var cards map[string]card
	if err := json.Unmarshal(text, &cards); err != nil {
		return nil, fmt.Errorf("task %s: cards: %w", t.ID, err)
	}
	return cards, nil
}
