package rollout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/env"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
	"github.com/seed-f4525e22/skillopt/world"
)

// Bounds of what is kept of a dialogue, in bytes. The model sees all of it.
const (
	maxSaid     = 8 << 10
	maxObserved = 4 << 10
)

// Talk says how a target is asked in a world, and when a dialogue ends.
type Talk struct {
	World   world.World
	Prompt  *ChatPrompt
	Turns   int           // replies at most
	Tokens  int64         // of all requests and replies at most; 0 = no bound
	Form    Form          // of commands
	History int           // turns that a request shows, with commands; 0 = all, as a conversation
	Timeout time.Duration // of one task, which is not measured beyond it; 0 = none
}

// dialogue is one at work.
type dialogue struct {
	Talk
	client   model.Client
	episode  world.Episode
	messages []model.Message
	tools    []model.Tool
	scene    world.Scene
	score    *float64 // the last that the world gave
	commands []string // that were given
	played   []string // turns of commands, as a request shows them; with History
	failed   bool     // the world said that the target has failed

	did AgentReport
}

// play carries out a task in the world. An error means that nothing was measured.
func (k Talk) play(ctx context.Context, at world.Setting, s skill.Skill, client model.Client) (did AgentReport, err error) {
	if k.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, k.Timeout, errDeadline)
		defer cancel()
	}
	d := &dialogue{Talk: k, client: client}
	if d.messages, err = k.Prompt.messages(at.Task, s); err != nil {
		return did, err
	}
	if d.episode, err = k.World.Open(ctx, at); err != nil {
		return did, newWorldError(ctx, at.Task, err)
	}
	err = d.playTurns(ctx)
	if cerr := d.episode.Close(); err == nil {
		err = cerr
	}
	return d.did, newWorldError(ctx, at.Task, err)
}

// newWorldError returns an error of a world, or the end of the time of a task, as one that keeps the task from being measured.
// What the model's caller says stays as it is.
func newWorldError(ctx context.Context, t task.Task, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(context.Cause(ctx), errDeadline):
		return caller.Unmeasurable(fmt.Errorf("world, task %s: %w", t.ID, errDeadline))
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	var broken *env.BrokenError
	if errors.As(err, &broken) {
		return &caller.StoppedError{Endpoint: "the environment", Useless: "ended twice without finishing a task", Err: broken.Err}
	}
	var asked *askedError
	if errors.As(err, &asked) {
		return asked.err
	}
	return caller.Unmeasurable(fmt.Errorf("world, task %s: %w", t.ID, err))
}

// askedError is an error of the model's caller, not of the world.
type askedError struct{ err error }

func (e *askedError) Error() string { return e.err.Error() }

// playTurns plays from the first message to the end.
func (d *dialogue) playTurns(ctx context.Context) (err error) {
	if d.scene, err = d.episode.Start(ctx); err != nil {
		return err
	}
	d.tools, d.did.Hidden = d.scene.Tools, d.scene.Hidden
	text := d.scene.Text
	if d.scene.Acts {
		d.tools = d.Form.tools()
		if d.History == 0 { // else each request ends with those of its turn
			text = joinTexts(text, listChoices(d.scene.Choices), d.Form.rule())
		}
	}
	asked := &d.messages[len(d.messages)-1]
	if text != "" {
		*asked = addText(*asked, text)
	}
	d.did.Question = asked.Text()
	for turn := 1; turn <= d.Turns; turn++ {
		if done, err := d.turn(ctx, turn); err != nil {
			return err
		} else if done {
			return d.settle()
		}
	}
	d.did.Failure = fmt.Sprintf("turns: no end after %s", wording.Plural(d.Turns, "reply", "replies"))
	return d.settle()
}

// settle takes in the score of a world that scores. One that gave none has not measured the task, unless it says that the
// target has failed.
func (d *dialogue) settle() error {
	if !d.scene.Scores || d.failed {
		return nil
	}
	if d.score == nil && d.scene.Acts && len(d.commands) == 0 { // the target gave the world nothing that it could score
		d.did.Failure = cmp.Or(d.did.Failure, "action: the target gave no command")
		return nil
	}
	score, err := checkScore(d.score)
	d.did.Score = score
	return err
}

// checkScore returns the last score of an episode, which must be there.
func checkScore(last *float64) (*float64, error) {
	if last == nil {
		return nil, errors.New("the episode ended without a score")
	}
	if s := *last; !(s >= 0 && s <= 1) {
		return nil, fmt.Errorf("the world scored %v, allowed: 0 to 1", s)
	}
	return last, nil
}

// addText returns a message with a text after its own.
func addText(m model.Message, text string) model.Message {
	if len(m.Parts) == 0 {
		m.Content = joinTexts(m.Content, text)
		return m
	}
	m.Parts = append(slices.Clip(m.Parts), model.Part{Text: "\n\n" + text})
	return m
}

// turn asks once and has the world answer; done says that the dialogue has ended.
func (d *dialogue) turn(ctx context.Context, n int) (done bool, err error) {
	resp, err := d.client.Generate(ctx, model.Request{Messages: d.request(), Tools: d.tools, Tags: model.Tags{Stage: model.StageRollout, Role: model.Target}})
	reason, err := limitReason(&resp, err)
	if err != nil {
		return true, &askedError{err}
	}
	d.hear(resp)
	if spent := d.did.Usage.Input + d.did.Usage.Output; reason == "" && d.Tokens > 0 && spent > d.Tokens {
		reason = fmt.Sprintf("tokens: %d were used, allowed: %d (env.tokens)", spent, d.Tokens)
	}
	if reason != "" {
		d.did.Failure = reason
		return true, nil
	}
	act := world.Action{Turn: n, Last: n == d.Turns, Text: resp.Text}
	if d.scene.Acts {
		return d.command(ctx, act, resp)
	}
	calls := resp.Calls()
	if len(calls) == 0 {
		seen, err := d.episode.Act(ctx, act)
		if d.end(seen) || err != nil {
			return true, err
		}
		d.did.Turns = append(d.did.Turns, trajectory.Turn{Role: model.User, Content: wording.Middle(seen.Text, maxObserved)})
		d.messages = append(slices.Clip(d.messages), resp.Message(), model.Message{Role: model.User, Content: seen.Text})
		return false, nil
	}
	results, done, err := d.work(ctx, act, calls)
	d.messages = append(slices.Clip(d.messages), resp.Message(), results)
	return done, err
}

// hear keeps a reply.
func (d *dialogue) hear(resp model.Response) {
	d.did.Answer, d.did.Usage = resp.Text, d.did.Usage.Add(resp.Usage)
	d.did.Served = cmp.Or(resp.Served(), d.did.Served)
	if text := strings.TrimSpace(resp.Text); text != "" {
		d.did.Turns = append(d.did.Turns, trajectory.Turn{Role: model.Assistant, Content: wording.Middle(text, maxSaid)})
	}
}

// end takes in how the episode has ended, if it has.
func (d *dialogue) end(seen world.Observation) bool {
	d.did.Failure, d.failed = seen.Failure, seen.Failure != ""
	if seen.Score != nil {
		d.score = seen.Score
	}
	return seen.Done || seen.Failure != ""
}

// work has the world carry out the calls of a reply, in order: one may need what the one before it did.
func (d *dialogue) work(ctx context.Context, act world.Action, calls []model.ToolCall) (results model.Message, done bool, err error) {
	results.Role = model.ToolRole
	for _, c := range calls {
		act.Call = &c
		seen, err := d.episode.Act(ctx, act)
		if err != nil {
			return results, true, err
		}
		text := wording.Middle(seen.Text, maxObserved)
		if seen.Failed {
			text = "error: " + text
		}
		d.did.Turns = append(d.did.Turns, trajectory.Turn{Kind: trajectory.ToolCall, Action: wording.Middle(c.Name+" "+string(c.Arguments), maxSaid), Observation: text})
		results.Parts = append(results.Parts, model.Part{Result: &model.ToolResult{CallID: c.ID, Name: c.Name, Content: seen.Text, IsError: seen.Failed}})
		if d.end(seen) {
			return results, true, nil
		}
	}
	return results, false, nil
}

// Conversation makes each call of a dialogue a durable step; *caller.Caller does.
type Conversation interface {
	Bind(base caller.Call) model.Client
	// StepRecorded reports whether the first try of a turn has a result.
	StepRecorded(key string, turn int) bool
}

// maxTurns is the bound of env.turns: turns of a dialogue that was played again begin at its multiples.
const maxTurns = 1000

// Dialogue carries out tasks in a pure world: each reply of the model is recorded by itself.
type Dialogue struct {
	Talk
	Model   Conversation
	Assess  Assess
	RunSeed int64
	Slots   *Slots // dialogues at a time; nil bounds nothing
	Warn    func(error)
}

// Run carries out one task. After a kill the recorded replies are played again. Where the world answers
// otherwise than it did, the dialogue is played from the start, under further numbers of turns. See Episode.
func (d *Dialogue) Run(ctx context.Context, p Place, t task.Task, s skill.Skill) (trajectory.Outcome, error) {
	leave, err := d.Slots.take(ctx, 0)
	if err != nil {
		return trajectory.Outcome{}, err
	}
	defer leave()
	key, first := p.Key(t), 0
	for d.Model.StepRecorded(key, (first+1)*maxTurns+1) {
		first++
	}
	for ; ; first++ {
		out, err := d.playFrom(ctx, p, t, s, first*maxTurns+1)
		var diverged *caller.DivergedError
		if !errors.As(err, &diverged) || !isLaterTurn(diverged.Key) {
			return out, err
		}
		d.Warn(fmt.Errorf("world, task %s: it does not answer as it did when the run began: the task is played from the start", t.ID))
	}
}

// isLaterTurn reports whether a step is not the first turn of a dialogue: what it asks depends on the world.
func isLaterTurn(key string) bool {
	n, err := strconv.Atoi(strings.TrimPrefix(path.Base(key), "turn"))
	return err == nil && n%maxTurns != 1
}

// playFrom plays a task whose first turn has the number turn.
func (d *Dialogue) playFrom(ctx context.Context, p Place, t task.Task, s skill.Skill, turn int) (trajectory.Outcome, error) {
	seed := caller.Seed(d.RunSeed, t.ID, p.Sample)
	client := d.Model.Bind(caller.Call{
		Key: p.Key(t), Turn: turn, Role: model.Target, Stage: model.StageRollout, Seed: &seed, Reask: caller.Reask{Same: 8},
	})
	did, err := d.play(ctx, world.Setting{Task: t, Seed: seed}, s, client)
	if err != nil {
		return trajectory.Outcome{}, err
	}
	out := trajectory.Outcome{
		ID: t.ID, Type: t.Type, Question: addImageNames(did.Question, t), Reference: joinLines(Reference(t), did.Hidden), Trajectory: did.Turns, Usage: did.Usage, Served: did.Served,
	}
	if did.takeScore(&out) {
		return out, nil
	}
	err = settle(ctx, d.Assess, p.Key(t), t, Evidence{Reply: did.Answer, Turns: did.Turns}, &out)
	return out, err
}

// Player is a CodingAgent: a target in a world that is not pure, whose episodes are recorded as a whole.
type Player struct{ Talk }

// Work implements CodingAgent.
func (p Player) Work(ctx context.Context, job AgentJob) (AgentReport, error) {
	return p.play(ctx, job.newSetting(), job.Skill, job.Client)
}
