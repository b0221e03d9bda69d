package env

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/skillenv"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/task"
)

// Finding is what a case of CheckProgram found.
type Finding struct {
	Name   string
	Wanted string
	Seen   string // "" = what is wanted
}

// CheckProgram tries out whether a program speaks skill-env/1 as a run relies on it, with a task; nil: the first one that the program
// brings, else one of ours. Models answer it with the same word each time. The error says that it cannot be
// started.
func CheckProgram(ctx context.Context, o Options, known *task.Task) ([]Finding, error) {
	e, err := New(o) // which starts nothing
	if err != nil {
		return nil, err
	}
	t := &trial{options: e.options, bound: ctx, open: map[string]bool{}}
	defer t.end()
	t.task = skillenv.Task{ID: "check", Prompt: "This is a check."}
	if known != nil {
		t.task = newWireTask(*known)
	}
	var found []Finding
	for _, c := range trialCases() {
		found = append(found, Finding{Name: c.name, Wanted: c.wanted, Seen: t.try(c)})
		if ctx.Err() != nil {
			return found, context.Cause(ctx)
		}
		if t.unusable != nil {
			return found, nil
		}
	}
	return found, nil
}

// trial is a program that is tried out.
type trial struct {
	options  Options
	bound    context.Context // of all cases
	running  sync.WaitGroup
	peer     *peer
	info     skillenv.Info
	task     skillenv.Task
	number   int   // of episodes
	unusable error // it cannot be started, or has no handshake

	mu    sync.Mutex
	open  map[string]bool // episodes under way
	fault *skillenv.Error // what models answer; nil: a word
	asked []skillenv.Question
	odd   error // the first question that no model could be asked
}

// try tries out a case and returns what was seen, "" if that is what is wanted.
func (t *trial) try(c trialCase) string {
	ctx, cancel := context.WithTimeoutCause(t.bound, t.options.Timeout, errDeadline)
	defer cancel()
	if err := t.ready(ctx); err != nil {
		t.unusable = err
		return err.Error()
	}
	err := c.run(t, ctx)
	t.mu.Lock()
	t.fault, err = nil, cmp.Or(err, t.odd)
	t.odd = nil
	t.mu.Unlock()
	switch {
	case err == nil && t.peer.isGone() && !c.ends:
		err = t.peer.err
	case errors.Is(err, errDeadline):
		err = fmt.Errorf("no answer within %v", t.options.Timeout)
		t.peer.stop(err)
	}
	if err == nil {
		return ""
	}
	return cmp.Or(err.Error(), "an error without words")
}

// ready starts the program, if it is not there.
func (t *trial) ready(ctx context.Context) (err error) {
	if t.peer != nil && !t.peer.isGone() {
		return nil
	}
	if t.peer, err = startPeer(t.options, &t.running, t.serve); err != nil {
		return err
	}
	return t.result(ctx, skillenv.Initialize, skillenv.Begin{Protocol: skillenv.Protocol, Config: map[string]any{"check": "ü"}}, &t.info)
}

func (t *trial) end() {
	if t.peer != nil && !t.peer.isGone() {
		t.peer.dismiss()
	}
	t.running.Wait()
}

// serve answers what the program asks.
func (t *trial) serve(_ context.Context, m skillenv.Message) (any, *skillenv.Error) {
	var q skillenv.Question
	err := skillenv.Read(m.Params, &q)
	if err == nil {
		_, err = readQuestion(q)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch t.asked = append(t.asked, q); {
	case m.Method != skillenv.Generate:
		t.odd = fmt.Errorf("it asked for %q", m.Method)
	case err != nil:
		t.odd = err
	case !t.open[q.Episode]:
		t.odd = fmt.Errorf("it asked for the episode %q, which is not under way", q.Episode)
	default:
		return skillenv.Reply{Text: "check", Finish: "stop"}, t.fault
	}
	return nil, &skillenv.Error{Code: skillenv.BadParams, Message: t.odd.Error()}
}

// result asks for a result.
func (t *trial) result(ctx context.Context, method string, params, v any) error {
	err := t.peer.ask(ctx, method, params, v)
	var failed *agentError
	if errors.As(err, &failed) {
		return fmt.Errorf("%s: the target has failed: %w", method, err)
	}
	return err
}

// askRefused asks for what must be refused.
func (t *trial) askRefused(ctx context.Context, method string, params any) error {
	m, err := t.peer.call(ctx, method, params)
	switch {
	case err != nil:
		return err
	case m.Error == nil:
		return fmt.Errorf("%s: the result %s", method, excerpt(m.Result))
	case m.Error.Message == "":
		return fmt.Errorf("%s: an error without a message", method)
	case m.Error.Data.Kind == skillenv.Agent:
		return fmt.Errorf("%s: an error of the kind agent, as if the target had failed", method)
	}
	return nil
}

// episode returns the id of the episode that was started last.
func (t *trial) episode() string { return fmt.Sprintf("check-%d", t.number) }

// start starts an episode, which has ended already if the program plays. It may have been lost then.
func (t *trial) start(ctx context.Context, seed int64) (o skillenv.Observation, err error) {
	t.number++
	t.begin(t.episode())
	open := skillenv.Opening{Episode: t.episode(), Task: t.task, Seed: seed}
	if t.info.Plays {
		open.Skill = "Be brief."
	}
	err = t.peer.ask(ctx, skillenv.Start, open, &o)
	var failed *agentError
	if errors.As(err, &failed) && t.info.Plays {
		return skillenv.Observation{Failure: cmp.Or(failed.text, "failed")}, nil
	}
	if err == nil && t.info.Plays && o.Score == nil && o.Failure == "" {
		err = errors.New("start: an end without a score or a failure")
	}
	return o, cmp.Or(err, checkObservation(o))
}

// act gives a command. One that fails the target is an end as well.
func (t *trial) act(ctx context.Context, command string) (o skillenv.Observation, err error) {
	err = t.peer.ask(ctx, skillenv.Act, skillenv.Action{Episode: t.episode(), Command: command}, &o)
	var failed *agentError
	if errors.As(err, &failed) {
		return skillenv.Observation{Failure: cmp.Or(failed.text, "failed")}, nil
	}
	return o, cmp.Or(err, checkObservation(o))
}

// checkObservation reports what is wrong with an answer to start or act.
func checkObservation(o skillenv.Observation) error {
	if o.Score != nil && !isScore(*o.Score) {
		return fmt.Errorf("a score of %v", *o.Score)
	}
	for _, c := range o.Choices {
		if c == "" {
			return errors.New("a choice without text")
		}
	}
	for _, tool := range o.Tools {
		if tool.Name == "" {
			return errors.New("a tool without a name")
		}
	}
	return nil
}

// begin notes that an episode is under way.
func (t *trial) begin(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open[id] = true
}

func (t *trial) close(ctx context.Context) error {
	t.mu.Lock()
	delete(t.open, t.episode())
	t.mu.Unlock()
	return t.result(ctx, skillenv.Close, skillenv.Action{Episode: t.episode()}, nil)
}

// playCommand plays one command in an episode of its own.
func playCommand(command string) func(*trial, context.Context) error {
	return func(t *trial, ctx context.Context) error {
		if _, err := t.start(ctx, 1); err != nil {
			return err
		}
		if !t.info.Plays {
			if _, err := t.act(ctx, command); err != nil {
				return fmt.Errorf("%s: %w", wording.Middle(command, 40), err)
			}
		}
		return t.close(ctx)
	}
}

// play plays to the end by the first command that is possible, or by the name of one.
func (t *trial) play(ctx context.Context, seed int64) (seen []skillenv.Observation, err error) {
	o, err := t.start(ctx, seed)
	seen = append(seen, o)
	for turn := 0; turn < 20 && err == nil && !t.info.Plays && !o.Done && o.Failure == ""; turn++ {
		command := "look"
		if len(o.Choices) > 0 {
			command = o.Choices[turn%len(o.Choices)]
		}
		o, err = t.act(ctx, command)
		seen = append(seen, o)
	}
	return seen, errors.Join(err, t.close(ctx))
}

// awaitEnd does f and waits for the end of the process.
func (t *trial) awaitEnd(ctx context.Context, f func() error) error {
	if err := f(); err != nil {
		return err
	}
	timer := time.NewTimer(closing)
	defer timer.Stop()
	select {
	case <-t.peer.gone:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		t.peer.stop(errClosed)
		return fmt.Errorf("it is still there after %v", closing)
	}
	if t.peer.process.exit != nil {
		return t.peer.process.exit
	}
	return nil
}
