package openenv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/world"
)

// episode is one task on a server.
type episode struct {
	server  *Server
	session *session
	setting world.Setting
	score   *float64 // of the last reward; nil: unknown
	stepped bool     // the server has taken an action
}

// Close implements world.Episode.
func (e *episode) Close() error {
	e.session.close()
	return nil
}

// Start implements world.Episode.
func (e *episode) Start(ctx context.Context) (world.Scene, error) {
	t := e.setting.Task
	reset := map[string]any{"seed": e.setting.Seed, "episode_id": t.ID}
	given, _ := t.Data[FieldReset].(map[string]any) // which Check has seen
	maps.Copy(reset, given)
	data, err := e.session.ask(ctx, "reset", reset)
	var p *problem
	if errors.As(err, &p) && p.Code == codeRefused {
		return world.Scene{}, fmt.Errorf("%w; correct the field %s of the task", err, FieldReset)
	}
	if err != nil {
		return world.Scene{}, err
	}
	seen, err := e.observe(data)
	if err == nil && seen.Done {
		err = e.server.fail(errors.New("the episode was over after its reset"), "")
	}
	return world.Scene{Text: strings.TrimSpace(seen.Text + "\n\n" + e.server.action.rule), Acts: true, Choices: seen.Choices, Scores: true}, err
}

// Act implements world.Episode.
func (e *episode) Act(ctx context.Context, a world.Action) (world.Observation, error) {
	action, refusal := e.server.action.encode(a.Text)
	if refusal != "" {
		return e.refuse(a, refusal), nil
	}
	data, err := e.session.ask(ctx, "step", action)
	var p *problem
	switch {
	case errors.As(err, &p) && p.Code == codeRefused:
		return e.refuse(a, "The action was refused: "+p.reason()), nil
	case p != nil && p.Code == codeRaised:
		return world.Observation{}, fmt.Errorf("%w; the environment failed at the action %s: what it cannot do it has to answer with an observation", err, wording.Middle(string(action), 200))
	case err != nil:
		return world.Observation{}, err
	}
	e.stepped = true
	seen, err := e.observe(data)
	if err == nil && (seen.Done || a.Last) { // what is scored was the answer to this action
		err = e.session.compareSteps(ctx)
	}
	return seen, err
}

// refuse returns what the target is answered to a command that is no action. A target that has given no other has failed.
func (e *episode) refuse(a world.Action, why string) world.Observation {
	seen := world.Observation{Text: why, Failed: true, Score: e.score}
	if a.Last && !e.stepped {
		seen.Failure = "action: no command was an action of the server; the last one: " + why
	}
	return seen
}

// observe reads an observation, and its reward.
func (e *episode) observe(data json.RawMessage) (world.Observation, error) {
	var got struct {
		Observation map[string]any
		Reward      json.RawMessage
		Done        bool
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	err := d.Decode(&got)
	if err == nil && got.Observation == nil {
		err = errors.New("observation is missing")
	}
	if err == nil {
		e.score, err = e.server.scoreReward(string(got.Reward))
	}
	if err != nil {
		return world.Observation{}, e.server.fail(fmt.Errorf("its observation cannot be read: %w", err), helpOther)
	}
	text, choices := e.server.action.observe(got.Observation)
	return world.Observation{Text: text, Choices: choices, Done: got.Done, Score: e.score}, nil
}

// scoreReward returns the score of a reward; nil: the server gave none.
func (s *Server) scoreReward(reward string) (*float64, error) {
	var value float64
	switch reward {
	case "", "null":
		return nil, nil
	case "true":
		value = 1
	case "false":
	default:
		var err error
		if value, err = strconv.ParseFloat(reward, 64); err != nil {
			return nil, fmt.Errorf("reward: found %s, want a number or null", wording.Cut(reward, 40))
		}
	}
	lowest, highest := s.reward[0], s.reward[1]
	score := min(1, max(0, (value-lowest)/(highest-lowest)))
	return &score, nil
}
