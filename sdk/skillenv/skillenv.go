// Package skillenv serves worlds to skillopt over standard input and output, in a program of their own: the protocol
// skill-env/1, which docs/worlds.md describes.
//
// It knows nothing of skills' training, models' vendors or records.
package skillenv

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/skillenv"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/world"
)

// Program is what is served: a World, or Play.
type Program struct {
	Name, Version string
	// World answers commands, or calls of tools, and scores its episodes. Setting.Client asks the judge of the run.
	World world.World
	// Play carries out a task by itself: it asks the target by Setting.Client, and returns the end with its score, or a
	// failure. It may be called concurrently.
	Play func(ctx context.Context, s world.Setting, skill string) (world.Observation, error)
	// Tasks are the program's own, each as a line of a file of tasks; nil: it has none.
	Tasks []json.RawMessage
	// Concurrent is how many episodes are played at a time; 0 = 16.
	Concurrent int
}

// Serve answers requests until in ends, ctx does or the host says so. It returns nil for a good end.
func Serve(ctx context.Context, in io.Reader, out io.Writer, p Program) error {
	ctx, cancel := context.WithCancel(ctx)
	s := &server{Program: p, out: out, episodes: map[string]world.Episode{}, asked: map[string]chan skillenv.Message{}}
	defer s.answers.Wait()
	defer cancel()
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		} else if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read a request: %w", err)
		}
		var m skillenv.Message
		if err := json.Unmarshal(line, &m); err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		switch m.Method {
		case "":
			s.hear(m)
		case skillenv.Shutdown:
			s.answer(m.ID, struct{}{}, nil)
			return nil
		default:
			s.answers.Go(func() {
				result, err := s.do(ctx, m)
				s.answer(m.ID, result, err)
			})
		}
	}
}

// server is a program at work.
type server struct {
	Program
	answers sync.WaitGroup

	mu       sync.Mutex
	out      io.Writer
	episodes map[string]world.Episode
	asked    map[string]chan skillenv.Message // questions to models
	last     int
}

// send writes a line. A host that is gone reads none, and its end is that of the input.
func (s *server) send(m skillenv.Message) {
	line, err := skillenv.Line(m)
	if err != nil {
		line, _ = skillenv.Line(skillenv.Message{ID: m.ID, Error: &skillenv.Error{Code: skillenv.Failed, Message: err.Error()}})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.out.Write(line)
}

// answer answers a request.
func (s *server) answer(id json.RawMessage, result any, err error) {
	m := skillenv.Message{ID: id}
	if err == nil {
		m.Result, err = skillenv.Value(result)
	}
	var known *skillenv.Error
	if err != nil && !errors.As(err, &known) {
		known = &skillenv.Error{Code: skillenv.Failed, Message: err.Error(), Data: skillenv.ErrorData{Kind: skillenv.Infra}}
	}
	if m.Error = known; known != nil {
		m.Result = nil
	}
	s.send(m)
}

// do carries out a request.
func (s *server) do(ctx context.Context, m skillenv.Message) (any, error) {
	switch m.Method {
	case skillenv.Initialize:
		return s.initialize(m.Params)
	case skillenv.Tasks:
		return skillenv.TaskList{Tasks: s.Tasks}, nil
	case skillenv.Start:
		return s.start(ctx, m.Params)
	case skillenv.Act, skillenv.Close:
		return s.act(ctx, m)
	}
	return nil, &skillenv.Error{Code: skillenv.UnknownMethod, Message: fmt.Sprintf("the method %q is unknown", m.Method)}
}

func (s *server) initialize(params json.RawMessage) (any, error) {
	var b skillenv.Begin
	if err := json.Unmarshal(params, &b); err != nil || b.Protocol != skillenv.Protocol {
		return nil, fmt.Errorf("the protocol is %q, allowed: %s", b.Protocol, skillenv.Protocol)
	}
	return skillenv.Info{
		Name: s.Name, Version: s.Version, Plays: s.Play != nil, Pure: s.World != nil && s.World.Pure(), Tasks: s.Tasks != nil, Concurrent: cmp.Or(s.Concurrent, 16),
	}, nil
}

// start opens an episode, or plays it.
func (s *server) start(ctx context.Context, params json.RawMessage) (any, error) {
	var o skillenv.Opening
	if err := json.Unmarshal(params, &o); err != nil {
		return nil, err
	}
	t := task.Task{ID: o.Task.ID, Type: o.Task.Type, Prompt: o.Task.Prompt, Gold: goldTexts(o.Task.Gold), RawGold: o.Task.Gold, Hidden: o.Task.Hidden, Data: o.Task.Data}
	setting := world.Setting{Task: t, Seed: o.Seed, Client: client{s, o.Episode}}
	if s.Play != nil {
		seen, err := s.Play(ctx, setting, o.Skill)
		return newObservation(seen), err
	}
	e, err := s.World.Open(ctx, setting)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.episodes[o.Episode] = e
	s.mu.Unlock()
	scene, err := e.Start(ctx)
	return skillenv.Observation{Text: scene.Text, Choices: scene.Choices, Tools: scene.Tools}, err
}

// goldTexts returns the accepted answers of a task as texts.
func goldTexts(raw json.RawMessage) []string {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	var texts []string
	for _, one := range list {
		text := string(one)
		if json.Unmarshal(one, &text); text != "null" && text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// act carries out a command, or closes an episode. One that plays by itself has ended before it is closed.
func (s *server) act(ctx context.Context, m skillenv.Message) (any, error) {
	var a skillenv.Action
	if err := json.Unmarshal(m.Params, &a); err != nil {
		return nil, err
	}
	s.mu.Lock()
	e, ok := s.episodes[a.Episode]
	if m.Method == skillenv.Close {
		delete(s.episodes, a.Episode)
	}
	s.mu.Unlock()
	switch {
	case m.Method == skillenv.Close && s.Play != nil:
		return struct{}{}, nil
	case !ok:
		return nil, &skillenv.Error{Code: skillenv.BadParams, Message: fmt.Sprintf("the episode %q is not under way", a.Episode)}
	case m.Method == skillenv.Close:
		return struct{}{}, e.Close()
	}
	action := world.Action{Text: a.Command}
	if a.Call != nil {
		action.Call = &model.ToolCall{Name: a.Call.Name, Arguments: a.Call.Arguments}
	}
	seen, err := e.Act(ctx, action)
	return newObservation(seen), err
}

func newObservation(o world.Observation) skillenv.Observation {
	return skillenv.Observation{Text: o.Text, Choices: o.Choices, Done: o.Done, Score: o.Score, Failure: o.Failure}
}

// client asks the models of the run on behalf of an episode.
type client struct {
	server  *server
	episode string
}

// Generate implements model.Client, for messages that are text. The role is that of the tags: the target, or the judge.
func (c client) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	q := skillenv.Question{Episode: c.episode, Role: req.Tags.Role, MaxTokens: req.MaxTokens}
	for _, m := range req.Messages {
		q.Messages = append(q.Messages, skillenv.Said{Role: m.Role, Content: m.Text()})
	}
	var reply skillenv.Reply
	if err := c.server.ask(ctx, q, &reply); err != nil {
		return model.Response{}, err
	}
	return model.Response{Text: reply.Text, Finish: reply.Finish}, nil
}

// ask asks the host. Its error keeps the kind: a world that returns it says the same.
func (s *server) ask(ctx context.Context, q skillenv.Question, reply *skillenv.Reply) error {
	params, err := skillenv.Value(q)
	if err != nil {
		return err
	}
	answer := make(chan skillenv.Message, 1)
	s.mu.Lock()
	s.last++
	id := strconv.Quote(fmt.Sprintf("p%d", s.last))
	s.asked[id] = answer
	s.mu.Unlock()
	s.send(skillenv.Message{ID: []byte(id), Method: skillenv.Generate, Params: params})
	select {
	case m := <-answer:
		if m.Error != nil {
			return m.Error
		}
		return json.Unmarshal(m.Result, reply)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// hear takes in the answer of the host.
func (s *server) hear(m skillenv.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if answer := s.asked[string(m.ID)]; answer != nil {
		answer <- m
		delete(s.asked, string(m.ID))
	}
}
