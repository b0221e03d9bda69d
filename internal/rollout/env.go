package rollout

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/env"
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

// Program is an environment that may leave the score to the checks; *wiring.EnvRunner is
// one. It may be called concurrently.
type Program interface {
	// Answer returns the outcome of a task. The program may ask client, whose calls
	// are those of the episode. scored says that the task is scored, or
	// failed within its limits; else the answer is to be scored. Errors are
	// those of task.Env.
	Answer(ctx context.Context, t task.Task, s skill.Skill, client model.Client) (out trajectory.Outcome, scored bool, err error)
}

// Env carries out tasks in a user's own environment: Env or Program. The episode
// as a whole is the durable step: what happens inside may have effects that no
// record undoes. What is left to be scored is scored after it, so that a score
// which could not be had is asked for again without the environment.
type Env struct {
	Env     task.Env
	Program Program
	Assess  Assess // for Program
	Record  EpisodeRecorder
	RunSeed int64
	Timeout time.Duration // the task's own deadline; 0 = none
	Slots   *Slots
	// Patience is how long the environment may give nothing but failures before they
	// end the run, with a *caller.StoppedError; 0 = for ever. Fewer failures than two
	// a slot, or than 20, never do: a few tasks that hang are no proof.
	Patience time.Duration
	// RawGold says that the program is given gold as the task has it, so that the
	// outcome depends on it in addition to the task.
	RawGold bool
	Context []byte        // what an outcome depends on apart from task and skill
	Hide    *redact.Exact // removes secrets that the environment was given from what it says; nil if it was given none
	Warn    func(error)   // what a user should know, each thing once; nil: no one is notified

	omissions
	noted   sync.Map // what was reported
	failing failing
	broken  broken
}

// Run carries out one episode. See Episode.
func (e *Env) Run(ctx context.Context, p Place, t task.Task, s skill.Skill) (trajectory.Outcome, error) {
	own, err := e.own(t)
	if err != nil {
		return trajectory.Outcome{}, fmt.Errorf("encode task %s: %w", t.ID, err)
	}
	call := caller.EpisodeCall{
		Key: p.Key(t), Stage: model.StageRollout, Role: model.Target,
		Shared: [][]byte{skillBytes(s), e.Context}, Own: own, Seed: caller.Seed(e.RunSeed, t.ID, p.Sample),
	}
	raw, err := e.episode(ctx, call, t, s)
	if err != nil {
		return trajectory.Outcome{}, err
	}
	var did answered
	if err := json.Unmarshal(raw, &did); err != nil {
		return trajectory.Outcome{}, fmt.Errorf("read the recorded outcome of %s: %w", p.Key(t), err)
	}
	e.note(did.LeftOut)
	if did.Unscored {
		return did.Outcome, e.score(ctx, p.Key(t), t, &did.Outcome)
	}
	return did.Outcome, nil
}

// note keeps and reports the parts of a program's requests that did not reach the model.
func (e *Env) note(left []trajectory.LeftOut) {
	e.omit(left)
	if len(left) == 0 || e.Warn == nil {
		return
	}
	text := "environment: its model did not get all of its requests: " + formatLeftOut(left) + " left out"
	if _, known := e.noted.LoadOrStore(text, true); !known {
		e.Warn(errors.New(text))
	}
}

// own returns what the outcome of a task depends on apart from the skill, as JSON.
func (e *Env) own(t task.Task) ([]byte, error) {
	if !e.RawGold {
		return json.Marshal(t)
	}
	return json.Marshal(env.Seen(t))
}

// episode carries out a task once it has a slot, or takes it from the record.
func (e *Env) episode(ctx context.Context, call caller.EpisodeCall, t task.Task, s skill.Skill) ([]byte, error) {
	e.failing.begin()
	raw, err := e.runEpisode(ctx, call, func(ctx context.Context, client model.Client) (caller.EpisodeResult, error) {
		var did answered
		err := e.supervise(ctx, t.ID, func() (err error) {
			did, err = e.roll(task.WithSeed(ctx, call.Seed), t, s, client)
			return err
		})
		if err != nil {
			return caller.EpisodeResult{}, err
		}
		did.Served, did.Refused = cmp.Or(did.Served, servedBy(client)), cmp.Or(did.Refused, refusedBy(client))
		data, err := json.Marshal(did)
		return caller.EpisodeResult{Data: e.Hide.JSON(data), Usage: did.Usage}, err
	})
	return raw, e.failing.end(err, e.Patience, max(minFailures, 2*e.Slots.Size()))
}

// runEpisode runs an episode in a slot.
func (e *Env) runEpisode(ctx context.Context, call caller.EpisodeCall, run func(context.Context, model.Client) (caller.EpisodeResult, error)) ([]byte, error) {
	leave, err := e.Slots.take(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer leave()
	return e.Record.Episode(ctx, call, run)
}

// answered is what is recorded of an episode.
type answered struct {
	trajectory.Outcome
	Unscored bool `json:"unscored,omitempty"`
}

// score has the checks score an answer. What the program says of it itself comes
// first.
func (e *Env) score(ctx context.Context, key string, t task.Task, out *trajectory.Outcome) error {
	reason, said := out.FailReason, out.Feedback
	if err := settle(ctx, e.Assess, key, t, Evidence{Reply: out.Answer, Turns: out.Trajectory}, out); err != nil {
		return err
	}
	out.FailReason, out.Feedback = cmp.Or(reason, out.FailReason), cmp.Or(said, out.Feedback)
	return nil
}

// roll runs the environment under the task's deadline and checks what it says.
// Only an environment that names a status of its own may report a failure of
// the agent; one that hangs or breaks measured nothing.
func (e *Env) roll(ctx context.Context, t task.Task, s skill.Skill, client model.Client) (answered, error) {
	if e.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, e.Timeout, errDeadline)
		defer cancel()
	}
	out, scored, err := e.answer(ctx, t, s, client)
	if err == nil {
		err = checkOutcome(out)
	}
	if tools := missingTools(out.LeftOut); tools != nil && e.Program != nil {
		return answered{}, &ToolError{Task: t.ID, Tools: tools, Program: true}
	}
	if err != nil {
		return answered{}, caller.Unmeasurable(fmt.Errorf("environment, task %s: %w", t.ID, err))
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
	return answered{Outcome: out, Unscored: !scored}, nil
}

func (e *Env) answer(ctx context.Context, t task.Task, s skill.Skill, client model.Client) (out trajectory.Outcome, scored bool, err error) {
	if e.Program != nil {
		return e.Program.Answer(ctx, t, s, client)
	}
	out, err = e.Env.Rollout(ctx, t, s, client)
	return out, true, err
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

// refusedBy returns the cause of the first refusal that an episode got, "" if it got none.
func refusedBy(client model.Client) string {
	if c, ok := client.(interface{ Refused() string }); ok {
		return c.Refused()
	}
	return ""
}

// servedBy returns the model that answered an episode's calls, "" if none went through its client.
func servedBy(client model.Client) string {
	if c, ok := client.(interface{ Served() string }); ok {
		return c.Served()
	}
	return ""
}
