// Package toolserver is a world whose tools are those of servers that speak MCP: programs that are started for
// each episode, confined to its folder, or servers at an address.
//
// What servers say and do is not trusted: their tools are listed once, at the beginning of a run, and one whose list
// changes ends it. What a call returns is data for the model, within bounds. Requests of a server to its client
// (sampling, roots, elicitation) are refused. A server that fails is no failure of the target: nothing is measured.
//
// It knows nothing of scores, checks and models' vendors.
package toolserver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/world"
)

// Server is one server of tools: a program, or an address.
type Server struct {
	Key    string // of the config, for messages: env.mcp[0]
	Shared bool   // one process or session serves all episodes

	Argv    []string                              // of the program; the first is absolute
	Environ []string                              // all that the program sees of the environment, apart from its home folder
	Confine *sandbox.Confine                      // bounds the program, apart from its folders; nil: not at all
	Places  func(dir, home string) sandbox.Places // at which the program sees its folders; nil: where they are

	URL           string // of a server that speaks streamable HTTP
	Authorization string // value of the header; "": none is sent
}

// Options say which servers there are.
type Options struct {
	Servers []Server
	// Timeout is how long the start of a server, the list of its tools, and one call may take; 0 = a minute.
	Timeout time.Duration
}

// defaultTimeout is how long a server may take to answer.
const defaultTimeout = time.Minute

// maxAtOnce is how many episodes use a shared server at a time.
const maxAtOnce = 8

// World is a world.World. It may be used concurrently.
type World struct {
	Options
	lists  []List
	tools  []model.Tool
	owners map[string]owner // by the name of a tool as the model calls it
	shared []*shared        // by server; nil: each episode has one of its own
}

// owner says whose tool it is.
type owner struct {
	server int
	tool   string // as the server calls it
}

// New returns a world of servers whose tools were listed.
func New(o Options, lists []List) (*World, error) {
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	w := &World{Options: o, lists: lists, shared: make([]*shared, len(o.Servers))}
	for i, s := range o.Servers {
		if s.Shared {
			w.shared[i] = &shared{slots: make(chan struct{}, maxAtOnce)}
		}
	}
	var err error
	w.tools, w.owners, err = name(o.Servers, lists)
	return w, err
}

// Pure reports that what servers answer and leave is nowhere else.
func (*World) Pure() bool { return false }

// Close ends the shared servers.
func (w *World) Close() error {
	var errs []error
	for _, s := range w.shared {
		if s != nil {
			errs = append(errs, s.close())
		}
	}
	return errors.Join(errs...)
}

// Open connects to the servers. Those that are programs start in the folder of the episode.
func (w *World) Open(ctx context.Context, at world.Setting) (world.Episode, error) {
	e := &episode{world: w, sessions: make([]*session, len(w.Servers))}
	for i := range w.Servers {
		if err := e.connect(ctx, i, at.Dir); err != nil {
			return nil, errors.Join(err, e.Close())
		}
	}
	return e, nil
}

// episode is a world at work on one task.
type episode struct {
	world    *World
	sessions []*session // by server
	leave    []func()   // gives shared servers back
}

// connect gets a session with a server.
func (e *episode) connect(ctx context.Context, i int, dir string) (err error) {
	if s := e.world.shared[i]; s != nil {
		session, leave, err := s.take(ctx, func() (*session, error) { return e.world.dial(ctx, i, "") })
		if err == nil {
			e.sessions[i], e.leave = session, append(e.leave, leave)
		}
		return err
	}
	e.sessions[i], err = e.world.dial(ctx, i, dir)
	return err
}

// dial opens a session with a server, and fails unless its tools are those that the run began with.
func (w *World) dial(ctx context.Context, i int, dir string) (*session, error) {
	s, err := w.Servers[i].dial(ctx, dir, w.Timeout)
	if err != nil {
		return nil, err
	}
	if err := w.compare(ctx, i, s); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// compare fails when the tools of a server are not those that the run began with.
func (w *World) compare(ctx context.Context, i int, s *session) error {
	now, err := s.list(ctx)
	if err != nil {
		return err
	}
	if change := w.lists[i].difference(now); change != "" {
		return &world.ChangedError{Err: fmt.Errorf("%s: %s: the tools of this server are not those that the run began with: begin another run, or restore the server", s.name, change)}
	}
	return nil
}

// Start returns the tools.
func (e *episode) Start(context.Context) (world.Scene, error) {
	return world.Scene{Tools: e.world.tools}, nil
}

// Act has a server carry out a call. A reply without one ends the episode.
func (e *episode) Act(ctx context.Context, a world.Action) (world.Observation, error) {
	if a.Call == nil {
		for i := range e.sessions {
			if err := e.settle(ctx, i); err != nil {
				return world.Observation{}, err
			}
		}
		return world.Observation{Done: true}, nil
	}
	at, ok := e.world.owners[a.Call.Name]
	if !ok {
		names := slices.Sorted(maps.Keys(e.world.owners))
		return refuse(fmt.Sprintf("There is no tool %q. There are: %s.", a.Call.Name, strings.Join(names, ", "))), nil
	}
	seen, err := e.sessions[at.server].call(ctx, at.tool, a.Call.Arguments)
	if err == nil {
		err = e.settle(ctx, at.server)
	}
	return seen, err
}

// settle lists the tools of a server again that has said that they changed.
func (e *episode) settle(ctx context.Context, i int) error {
	if !e.sessions[i].changed.Swap(false) {
		return nil
	}
	return e.world.compare(ctx, i, e.sessions[i])
}

// Close ends the servers of the episode.
func (e *episode) Close() error {
	var errs []error
	for i, s := range e.sessions {
		if s != nil && e.world.shared[i] == nil {
			errs = append(errs, s.close())
		}
	}
	for _, leave := range e.leave {
		leave()
	}
	e.leave = nil
	return errors.Join(errs...)
}

func refuse(text string) world.Observation { return world.Observation{Text: text, Failed: true} }

// shared is a server that all episodes use.
type shared struct {
	slots chan struct{}

	mu      sync.Mutex
	session *session // nil: there is none yet
}

// take returns the session, with a new one when there is none or the last has failed, and what gives it back.
func (s *shared) take(ctx context.Context, dial func() (*session, error)) (*session, func(), error) {
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	leave := func() { <-s.slots }
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session != nil && s.session.failed.Load() {
		_ = s.session.close() // that it has failed is known
		s.session = nil
	}
	if s.session == nil {
		var err error
		if s.session, err = dial(); err != nil {
			leave()
			return nil, nil, err
		}
	}
	return s.session, leave, nil
}

func (s *shared) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil {
		return nil
	}
	return s.session.close()
}
