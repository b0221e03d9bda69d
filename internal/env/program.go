package env

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/skillenv"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/world"
)

// closing is how long a program may take to close an episode.
const closing = 10 * time.Second

// Program is a world: one process that plays episodes by the protocol skill-env/1, several at a time. One that ends, or
// does not speak the protocol, is started again; what was under way is not measured. A second one that ends before it has
// finished an episode is not replaced.
type Program struct {
	options Options
	info    skillenv.Info
	running sync.WaitGroup

	mu       sync.Mutex
	peer     *peer
	lost     bool // a process has ended, and the next has finished no episode yet
	closed   bool
	last     int
	episodes map[string]*episode
}

var _ world.World = (*Program)(nil)

// OpenProgram starts the program and has it say what it is.
func OpenProgram(ctx context.Context, o Options) (*Program, error) {
	e, err := New(o) // which starts nothing
	if err != nil {
		return nil, err
	}
	p := &Program{options: e.options, episodes: map[string]*episode{}}
	if p.peer, p.info, err = p.start(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// start starts a process, up to its first answer.
func (p *Program) start(ctx context.Context) (*peer, skillenv.Info, error) {
	var info skillenv.Info
	r, err := startPeer(p.options, &p.running, p.serve)
	if err != nil {
		return nil, info, err
	}
	config := p.options.Extras
	if config == nil {
		config = map[string]any{}
	}
	err = p.askInTime(ctx, func(ctx context.Context) error {
		return r.ask(ctx, skillenv.Initialize, skillenv.Begin{Protocol: skillenv.Protocol, Config: config}, &info)
	})
	if err == nil && (info.Name == "" || info.Version == "" || info.Concurrent < 0) {
		err = rubbish("initialize: it has the name %q, the version %q and concurrent %d; wanted are a name, a version and a number from 1", info.Name, info.Version, info.Concurrent)
	}
	if err != nil {
		r.stop(err)
		return nil, info, r.err
	}
	return r, info, nil
}

// askInTime asks within the time of a task.
func (p *Program) askInTime(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, p.options.Timeout, errDeadline)
	defer cancel()
	err := ask(ctx)
	if errors.Is(err, errDeadline) {
		return &Error{Kind: Deadline, Detail: fmt.Sprintf("no answer within env.timeout %v; the process was ended", p.options.Timeout)}
	}
	return err
}

// Plays reports whether the program asks the target by itself.
func (p *Program) Plays() bool { return p.info.Plays }

// Pure implements world.World.
func (p *Program) Pure() bool { return p.info.Pure && !p.info.Plays }

// Name returns the program's name and version.
func (p *Program) Name() string { return p.info.Name + " " + p.info.Version }

// Concurrent returns how many episodes the program plays at a time.
func (p *Program) Concurrent() int { return max(1, p.info.Concurrent) }

// Tasks returns the program's own tasks as the lines of a file, nil if it has none.
func (p *Program) Tasks(ctx context.Context) ([]byte, error) {
	if !p.info.Tasks {
		return nil, nil
	}
	var list skillenv.TaskList
	r, err := p.findPeer(ctx)
	if err == nil {
		err = p.askInTime(ctx, func(ctx context.Context) error { return r.ask(ctx, skillenv.Tasks, struct{}{}, &list) })
	}
	var lines []byte
	for _, t := range list.Tasks {
		lines = append(append(lines, t...), '\n')
	}
	return lines, err
}

// findPeer returns the process, a new one if the last has ended.
func (p *Program) findPeer(ctx context.Context) (*peer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return nil, errClosed
	case !p.peer.isGone():
		return p.peer, nil
	case p.lost:
		return nil, &BrokenError{p.peer.err}
	}
	p.lost = true
	r, info, err := p.start(ctx)
	if err != nil {
		return nil, err
	}
	if info.Name != p.info.Name || info.Version != p.info.Version || info.Plays != p.info.Plays || info.Pure != p.info.Pure {
		r.stop(errClosed)
		return nil, rubbish("it was %s, and is %s %s after it was started again", p.Name(), info.Name, info.Version)
	}
	p.peer = r
	return r, nil
}

// BrokenError says that a program has ended twice without an episode between, and is not started again.
type BrokenError struct{ Err error }

func (e *BrokenError) Error() string { return e.Err.Error() }
func (e *BrokenError) Unwrap() error { return e.Err }

// Close asks the process to end and waits for it.
func (p *Program) Close() error {
	p.mu.Lock()
	r, closed := p.peer, p.closed
	p.closed = true
	p.mu.Unlock()
	if r != nil && !closed {
		r.dismiss()
	}
	p.running.Wait()
	return nil
}

// Open implements world.World.
func (p *Program) Open(ctx context.Context, s world.Setting) (world.Episode, error) {
	return p.open(ctx, s)
}

func (p *Program) open(ctx context.Context, s world.Setting) (*episode, error) {
	r, err := p.findPeer(ctx)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	e := &episode{program: p, peer: r, id: fmt.Sprintf("e%d", p.last), setting: s}
	e.ctx, e.cancel = context.WithCancel(ctx)
	p.episodes[e.id] = e
	return e, nil
}

// Play has a program that plays carry out a task, and returns the end of it.
func (p *Program) Play(ctx context.Context, s world.Setting, sk skill.Skill) (seen world.Observation, turns []model.Message, err error) {
	e, err := p.open(ctx, s)
	if err != nil {
		return seen, nil, err
	}
	o, err := e.start(ctx, sk.Text())
	seen, err = e.observe(o, err)
	if err == nil && seen.Failure == "" && seen.Score == nil {
		err = rubbish("start: the answer of a program that plays has no score, and no failure")
	}
	err = errors.Join(err, e.Close())
	if e.overlap {
		e.said = nil
	}
	return seen, e.said, err
}

// episode is one that the process plays.
type episode struct {
	program *Program
	peer    *peer
	id      string
	setting world.Setting
	ctx     context.Context // of the episode, for what the program asks
	cancel  context.CancelFunc
	asking  sync.WaitGroup // requests to models

	mu      sync.Mutex
	asked   int             // requests to models
	inside  int             // those under way
	overlap bool            // two requests were under way at a time: what was said has no order
	said    []model.Message // to the target and by it
	limit   string          // of the task, that a request to a model has met
}

// Start implements world.Episode.
func (e *episode) Start(ctx context.Context) (world.Scene, error) {
	o, err := e.start(ctx, "")
	var failed *agentError
	if errors.As(err, &failed) || err == nil && (o.Failure != "" || o.Done || o.Score != nil && !isScore(*o.Score)) {
		err = rubbish("start: the episode has ended before the target did anything, which a program that plays alone may answer")
	}
	if err != nil {
		return world.Scene{}, err
	}
	return world.Scene{Text: o.Text, Tools: o.Tools, Acts: len(o.Tools) == 0, Choices: o.Choices, Scores: true}, nil
}

func (e *episode) start(ctx context.Context, skillText string) (o skillenv.Observation, err error) {
	t := e.setting.Task
	err = e.peer.ask(ctx, skillenv.Start, skillenv.Opening{Episode: e.id, Seed: e.setting.Seed, Skill: skillText, Task: newWireTask(t)}, &o)
	return o, err
}

func newWireTask(t task.Task) skillenv.Task {
	return skillenv.Task{ID: t.ID, Type: t.Type, Prompt: t.Prompt, Gold: t.GoldJSON(), Hidden: t.Hidden, Data: t.Data}
}

// Act implements world.Episode.
func (e *episode) Act(ctx context.Context, a world.Action) (world.Observation, error) {
	act := skillenv.Action{Episode: e.id, Command: a.Text}
	if a.Call != nil {
		act.Command, act.Call = "", &skillenv.Call{Name: a.Call.Name, Arguments: a.Call.Arguments}
	}
	var o skillenv.Observation
	err := e.peer.ask(ctx, skillenv.Act, act, &o)
	return e.observe(o, err)
}

func isScore(score float64) bool { return score >= 0 && score <= 1 }

// observe returns what an answer to start or act means.
func (e *episode) observe(o skillenv.Observation, err error) (world.Observation, error) {
	var failed *agentError
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case err != nil && e.limit != "" && isRefusal(err), errors.As(err, &failed) && e.limit != "":
		o.Failure, err = e.limit, nil
	case errors.As(err, &failed):
		o.Failure, err = cmp.Or(failed.text, "no reason given"), nil
	}
	if err != nil {
		return world.Observation{}, err
	}
	if o.Score != nil && !isScore(*o.Score) {
		return world.Observation{}, rubbish("its score is %v, allowed: 0 to 1, or null", *o.Score)
	}
	if o.Failure != "" && !strings.Contains(o.Failure, ": ") {
		o.Failure = "program: " + o.Failure
	}
	return world.Observation{Text: o.Text, Choices: o.Choices, Done: o.Done || o.Failure != "", Failure: o.Failure, Score: o.Score}, nil
}

// Close implements world.Episode. A program that does not answer is ended: the next episode would wait for it too.
func (e *episode) Close() error {
	p := e.program
	p.mu.Lock()
	delete(p.episodes, e.id)
	p.mu.Unlock()
	e.cancel()
	e.asking.Wait()
	if e.peer.isGone() {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), closing, errDeadline)
	defer cancel()
	err := e.peer.ask(ctx, skillenv.Close, skillenv.Action{Episode: e.id}, nil)
	if errors.Is(err, errDeadline) {
		e.peer.stop(&Error{Kind: Deadline, Detail: fmt.Sprintf("close: no answer within %v; the process was ended", closing)})
		return nil
	}
	p.mu.Lock()
	p.lost = p.lost && err != nil
	p.mu.Unlock()
	return nil
}

// serve carries out a request of the process.
func (p *Program) serve(ctx context.Context, m skillenv.Message) (any, *skillenv.Error) {
	if m.Method != skillenv.Generate {
		return nil, &skillenv.Error{Code: skillenv.UnknownMethod, Message: fmt.Sprintf("the method %q is unknown, allowed: %s", m.Method, skillenv.Generate)}
	}
	var q skillenv.Question
	if err := skillenv.Read(m.Params, &q); err != nil {
		return nil, &skillenv.Error{Code: skillenv.BadParams, Message: fmt.Sprintf("generate: %v", err)}
	}
	p.mu.Lock()
	e := p.episodes[q.Episode]
	if e != nil {
		e.asking.Add(1)
	}
	p.mu.Unlock()
	if e == nil {
		return nil, &skillenv.Error{Code: skillenv.BadParams, Message: fmt.Sprintf("generate: episode %q is not under way", q.Episode)}
	}
	defer e.asking.Done()
	reply, err := e.generate(ctx, q)
	if err == nil {
		return reply, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if code := model.CodeOf(err); code == model.ContextLength || code == model.ContentFilter { // limits of the task
		e.limit = cmp.Or(e.limit, string(code)+": "+err.Error())
	}
	kind := skillenv.Infra
	if e.limit != "" {
		kind = skillenv.Agent
	}
	return nil, &skillenv.Error{Code: skillenv.Failed, Message: err.Error(), Data: skillenv.ErrorData{Kind: kind}}
}

// generate asks a model on behalf of the episode.
func (e *episode) generate(ctx context.Context, q skillenv.Question) (skillenv.Reply, error) {
	req, err := readQuestion(q)
	if err != nil {
		return skillenv.Reply{}, err
	}
	switch {
	case e.setting.Client == nil:
		return skillenv.Reply{}, errors.New("generate: a program that is pure asks no model")
	case req.Tags.Role == model.Target && !e.program.Plays():
		return skillenv.Reply{}, errors.New("generate: the target is asked by the host, whose commands act gives; a program that asks it by itself says plays: true")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(e.ctx, func() { cancel(context.Cause(e.ctx)) })()
	if err := e.count(); err != nil {
		return skillenv.Reply{}, err
	}
	resp, err := e.setting.Client.Generate(ctx, req)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inside--
	if err != nil {
		return skillenv.Reply{}, err
	}
	if req.Tags.Role == model.Target {
		e.said = append(e.said, req.Messages[len(req.Messages)-1], model.Message{Role: model.Assistant, Content: resp.Text})
	}
	return skillenv.Reply{Text: resp.Text, Finish: resp.Finish}, nil
}

// count counts a request, unless it is one too many.
func (e *episode) count() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	most := e.program.options.Asks
	if e.asked++; e.asked > most {
		e.limit = fmt.Sprintf("turns: the program asked more than %d times for one task (env.turns)", most)
		return errors.New(e.limit)
	}
	e.overlap = e.overlap || e.inside > 0
	e.inside++
	return nil
}

// readQuestion returns what a program asks as a request to a model.
func readQuestion(q skillenv.Question) (model.Request, error) {
	req := model.Request{Tags: model.Tags{Stage: model.StageRollout, Role: cmp.Or(q.Role, model.Target)}}
	if req.MaxTokens = q.MaxTokens; req.Tags.Role != model.Target && req.Tags.Role != model.Judge {
		return req, fmt.Errorf("generate: the role %q is unknown, allowed: %s, %s", q.Role, model.Target, model.Judge)
	}
	for _, m := range q.Messages {
		if m.Role != model.System && m.Role != model.User && m.Role != model.Assistant {
			return req, fmt.Errorf("generate: a message of %q, allowed: %s, %s, %s", m.Role, model.System, model.User, model.Assistant)
		}
		req.Messages = append(req.Messages, model.Message{Role: m.Role, Content: m.Content})
	}
	if len(req.Messages) == 0 {
		return req, errors.New("generate: there are no messages")
	}
	return req, nil
}
