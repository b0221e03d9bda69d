// Package env runs a user's own environment as processes: a program in any
// language that reads one JSON object a line and answers each with one.
//
// It knows where a program finds a model (Access), and nothing about how
// models are called, training or how answers are scored: what a program does not score
// itself is the caller's to score. It does not read its own environment variables; the
// caller says which of them the processes get.
package env

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// DefaultTimeout is how long a process may take for one task unless the caller
// says otherwise.
const DefaultTimeout = 2 * time.Minute

// Options say what to run and how.
type Options struct {
	// Command is the program and its arguments.
	Command []string
	// Dir is the working directory of the processes, "" for that of the caller.
	Dir string
	// Environ is all that the processes see of the environment, as "NAME=value":
	// see Allowed, and what the user passes by name.
	Environ []string
	// Timeout is how long one task may take. 0 is DefaultTimeout.
	Timeout time.Duration
	// Slots is the largest number of processes at a time, at least 1.
	Slots int
	// Extras are passed to the program with every task. Nil: none are.
	Extras map[string]any
	// Asks is how many requests to models a Program may make for one episode.
	Asks int
	// Hide takes what the program was given in secret out of all that it writes,
	// before any of it is cut. Nil: it was given nothing.
	Hide *redact.Exact
	// Keyed makes what a process about to start finds a model by: a key of its own, and
	// further variables that name it. Nil: processes learn of none. It may be called
	// concurrently.
	Keyed func() (key string, environ []string, err error)
}

// Env has processes carry out tasks. Each process does one task at a time and is
// kept for the next one. Close ends them. It is safe for concurrent use.
type Env struct {
	options Options
	slots   chan struct{} // holds one token per rollout under way
	ended   context.Context
	end     context.CancelCauseFunc
	running sync.WaitGroup // rollouts and processes

	mu     sync.Mutex
	idle   []*process
	closed bool
}

// errClosed is why rollouts end when the environment is closed under them.
var errClosed = errors.New("the environment is closed")

// New makes an environment. It starts no process yet, but fails with an *Error
// if the program is not there.
func New(o Options) (*Env, error) {
	if len(o.Command) == 0 || o.Command[0] == "" {
		return nil, &Error{Kind: Start, Detail: "env.command is empty; it is a list of the program and its arguments"}
	}
	if o.Timeout < 0 {
		return nil, fmt.Errorf("env.timeout %v is negative", o.Timeout)
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if err := programExists(o); err != nil {
		return nil, &Error{Kind: Start, Detail: "env.command names a program that cannot be run", Err: err}
	}
	ended, end := context.WithCancelCause(context.Background())
	return &Env{options: o, slots: make(chan struct{}, max(1, o.Slots)), ended: ended, end: end}, nil
}

// programExists looks for the program as starting it will: a bare name on the
// path, anything else relative to the working directory of the processes.
func programExists(o Options) error {
	cmd := exec.Command(o.Command[0])
	if errors.Is(cmd.Err, exec.ErrNotFound) {
		if _, err := os.Stat(filepath.Join(o.Dir, o.Command[0])); err == nil {
			return fmt.Errorf("%w; for the file next to the config write ./%s", cmd.Err, o.Command[0])
		}
	}
	if cmd.Err != nil {
		return cmd.Err
	}
	cmd.Dir = o.Dir
	return executable(cmd)
}

// Answer hands t and the text of s to a process and reads its answer. access is the
// model that the program may use meanwhile, nil if there is none. scored says
// that the program scored it itself, or has failed at the task; else there is an
// answer and no score yet. Every fault of the process (it does not start, dies,
// hangs, answers rubbish) is an *Error, and the process is ended; nothing was
// measured then.
func (e *Env) Answer(ctx context.Context, t task.Task, s skill.Skill, access *Access) (o trajectory.Outcome, scored bool, err error) {
	release, err := e.acquire(ctx)
	if err != nil {
		return trajectory.Outcome{}, false, err
	}
	defer release()
	line, err := encodeRequest(ctx, t, s, e.options, access.model())
	if err != nil {
		return trajectory.Outcome{}, false, fmt.Errorf("environment: task %q: %w", t.ID, err)
	}
	hide := access.hide()
	q := question{line: line, access: access, accept: func(reply []byte) error {
		var err error
		o, scored, err = decodeReply(hide.JSON(reply), t)
		return err
	}}
	if err := e.ask(ctx, q); err != nil {
		return trajectory.Outcome{}, false, hidden(e.blame(ctx, t, err), hide)
	}
	return o, scored, nil
}

// question is what a process is asked, and what is made of its answer.
type question struct {
	line   []byte
	access *Access
	accept func(reply []byte) error
}

// acquire waits for a slot.
func (e *Env) acquire(ctx context.Context) (release func(), err error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("environment: %w", context.Cause(ctx))
	}
	select {
	case e.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("environment: %w", context.Cause(ctx))
	case <-e.ended.Done():
		return nil, fmt.Errorf("environment: %w", errClosed)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		<-e.slots
		return nil, fmt.Errorf("environment: %w", errClosed)
	}
	e.running.Add(1)
	return func() {
		<-e.slots
		e.running.Done()
	}, nil
}

// ask sends one line to a process and has its answer accepted. A process
// that was kept and has ended in the meantime without a word is replaced:
// programs that answer one line and exit are fine.
func (e *Env) ask(ctx context.Context, q question) error {
	ctx, cancel := context.WithTimeoutCause(ctx, e.options.Timeout, errDeadline)
	defer cancel()
	stop := context.AfterFunc(e.ended, cancel)
	defer stop()
	p, kept, err := e.take()
	if err != nil {
		return err
	}
	reply, err := p.answer(ctx, q)
	if kept && errors.Is(err, errLeft) {
		p.kill()
		if p, err = e.start(); err != nil {
			return err
		}
		reply, err = p.answer(ctx, q)
	}
	if err != nil {
		return p.abandon(err)
	}
	err = q.accept(reply)
	if err != nil && !isRefusal(err) {
		return p.abandon(err) // what else it writes cannot be trusted to fit the questions
	}
	q.access.unbind(p) // before another task has it
	e.give(ctx, p)
	return p.quote(err)
}

func isRefusal(err error) bool {
	var fault *Error
	return errors.As(err, &fault) && fault.Kind == Refused
}

// take returns an idle process, or starts one.
func (e *Env) take() (p *process, kept bool, err error) {
	e.mu.Lock()
	for len(e.idle) > 0 && p == nil {
		last := len(e.idle) - 1
		p, e.idle = e.idle[last], e.idle[:last]
		if p.hasExited() {
			p = nil
		}
	}
	e.mu.Unlock()
	if p != nil {
		return p, true, nil
	}
	p, err = e.start()
	return p, false, err
}

func (e *Env) start() (*process, error) {
	return start(e.options, &e.running)
}

// give keeps a process for the next task, unless its end is under way.
func (e *Env) give(ctx context.Context, p *process) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || ctx.Err() != nil {
		p.kill()
		return
	}
	e.idle = append(e.idle, p)
}

// blame gives an error the task, and distinguishes the deadline of the task from the
// end of the caller's patience.
func (e *Env) blame(ctx context.Context, t task.Task, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("environment: task %q: %w", t.ID, context.Cause(ctx))
	}
	if e.ended.Err() != nil {
		return fmt.Errorf("environment: task %q: %w", t.ID, errClosed)
	}
	var fault *Error
	if !errors.As(err, &fault) {
		return fmt.Errorf("environment: task %q: %w", t.ID, err)
	}
	fault.Task = t.ID
	if fault.Kind == Deadline {
		fault.Detail = fmt.Sprintf("no answer within env.timeout %v; the process was ended", e.options.Timeout)
	}
	return fault
}

// Close ends all processes and waits for them and for the rollouts under way,
// which fail. Idle processes are asked first, by the end of their input, and
// have a moment to obey. Close may be called more than once.
func (e *Env) Close() error {
	e.mu.Lock()
	e.closed = true
	idle := e.idle
	e.idle = nil
	e.mu.Unlock()
	e.end(errClosed)
	for _, p := range idle {
		e.running.Go(func() { p.dismiss() })
	}
	e.running.Wait()
	return nil
}
