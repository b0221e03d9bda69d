package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/offer"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/world"
)

// Acting is a CodingAgent that plays a world of commands: it gives them by the tool act, which it is offered over MCP.
type Acting struct {
	CodingAgent
	World world.World
	Turns int // commands at most
	Door  *offer.Door
}

// play is an episode that an agent plays.
type play struct {
	episode  world.Episode
	turns    int
	commands []string
	score    *float64
	failure  string
	done     bool
	err      error // of the world: nothing is measured
	end      context.CancelCauseFunc
}

// Work implements CodingAgent.
func (a Acting) Work(ctx context.Context, job AgentJob) (r AgentReport, err error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	p := &play{turns: a.Turns, end: end}
	if p.episode, err = a.World.Open(ctx, world.Setting{Task: job.Task, Seed: job.Seed, Dir: job.Dir}); err != nil {
		return r, fmt.Errorf("world: %w", err)
	}
	defer func() { err = errors.Join(err, p.episode.Close()) }()
	scene, err := p.episode.Start(ctx)
	switch {
	case err != nil:
		return r, fmt.Errorf("world: %w", err)
	case !scene.Acts:
		return r, errors.New("world: it has tools of its own, and an agent plays worlds of commands alone, by the tool act")
	}
	o := a.Door.Offer(FormTool.tools()[0], p.act)
	job.Given(o.Key)
	job.Tools = &ToolAccess{URL: o.URL, Key: o.Key}
	job.Prompt = joinTexts(job.Prompt, scene.Text, "Give commands one after the other by the tool act of the server world (MCP), until it says that the episode has ended.", listChoices(scene.Choices))
	r, err = a.CodingAgent.Work(ctx, job)
	o.Withdraw()
	if p.err != nil {
		return r, p.err
	}
	if err != nil {
		return r, err
	}
	r.Question, r.Hidden = job.Prompt, scene.Hidden
	return r, p.settle(&r, scene, o.HasListed())
}

// act carries out a call of the agent.
func (p *play) act(ctx context.Context, arguments json.RawMessage) (text string, failed bool) {
	command, missing := FormTool.command(model.Response{Parts: []model.Part{{Call: &model.ToolCall{Name: ToolAct, Arguments: arguments}}}})
	switch {
	case p.err != nil || p.done:
		return "The episode has ended.", true
	case len(p.commands) == p.turns:
		return fmt.Sprintf("No more than %s are allowed (env.turns): the episode has ended.", wording.Plural(p.turns, "command", "commands")), true
	case missing != "":
		return missing, true
	}
	n := len(p.commands) + 1
	seen, err := p.episode.Act(ctx, world.Action{Turn: n, Last: n == p.turns, Text: command})
	if err != nil {
		p.err = fmt.Errorf("world: %w", err)
		p.end(p.err)
		return "The world has failed.", true
	}
	p.commands, p.failure, p.done = append(p.commands, command), seen.Failure, seen.Done || seen.Failure != ""
	if seen.Score != nil {
		p.score = seen.Score
	}
	if p.done {
		return joinTexts(seen.Text, "The episode has ended."), seen.Failed
	}
	return joinTexts(seen.Text, listChoices(seen.Choices)), seen.Failed
}

// settle takes in how the episode has ended. listed says whether the agent has seen the tool.
func (p *play) settle(r *AgentReport, scene world.Scene, listed bool) error {
	if !listed {
		return errors.New("the agent has not asked for the tool act, by which it plays the world: it does not use the server of tools that it was given")
	}
	if len(p.commands) > 0 {
		r.Answer = wording.Middle(strings.Join(p.commands, "; "), maxSaid)
	}
	switch {
	case p.failure != "":
		r.Failure = p.failure
		return nil
	case r.Failure == "" && len(p.commands) == 0:
		r.Failure = "action: the target gave no command"
	case r.Failure == "" && !p.done && len(p.commands) == p.turns:
		r.Failure = fmt.Sprintf("turns: no end after %s", wording.Plural(p.turns, "command", "commands"))
	}
	if !scene.Scores || len(p.commands) == 0 {
		return nil
	}
	s, err := checkScore(p.score)
	r.Score = s
	return err
}
