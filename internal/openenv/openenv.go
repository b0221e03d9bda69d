// Package openenv is a world on a server of OpenEnv: an episode is a session over one websocket, and the last reward of
// the server is its score.
//
// The server is not trusted. What it sends is bounded, what it sends unasked ends the episode, and it cannot lead to
// another address. Its metadata, which may hold answers, never reach the target. The package knows nothing about models,
// skills and how dialogues are held.
package openenv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/world"
)

// FieldReset is the field of a task with what its episode is reset with, such as split and index.
const FieldReset = "reset"

// Bounds of a server.
const (
	maxMessage    = 16 << 20 // bytes
	maxSchema     = 1 << 20
	maxShown      = 64 << 10 // bytes of an observation that the target sees
	maxTries      = 5        // where the server has no free session
	firstPause    = time.Second
	timeToConnect = 20 * time.Second
	timeToClose   = 2 * time.Second
)

// Options say where a server is and what its rewards mean.
type Options struct {
	URL       string            // ws, wss, http or https
	Reward    [2]float64        // the rewards that are a score of 0 and of 1
	Transport http.RoundTripper // nil: the network, without a proxy
}

// Server implements world.World. It is safe for concurrent use.
type Server struct {
	base   url.URL // http or https
	reward [2]float64
	client *http.Client
	action action
	schema []byte        // as it was sent
	pause  time.Duration // before the second try, doubled after each
}

// ServerError is a fault of a server.
type ServerError struct {
	URL  string
	Err  error
	Help string
}

func (e *ServerError) Error() string {
	text := fmt.Sprintf("env.url %s: %v", e.URL, e.Err)
	if e.Help != "" {
		text += "; " + e.Help
	}
	return text
}

func (e *ServerError) Unwrap() error { return e.Err }

const (
	helpStart = "start the server, or correct the address"
	helpOther = "want a server of the Python package openenv, such as ws://127.0.0.1:8000"
)

// fail returns an error as a fault of the server. An address may hold a key, which is not shown.
func (s *Server) fail(err error, help string) error {
	return &ServerError{URL: s.base.Scheme + "://" + s.base.Host + s.base.EscapedPath(), Err: err, Help: help}
}

// newBase returns the address of a server by http or https, without the path of its websocket.
func newBase(address string) (url.URL, error) {
	u, err := url.Parse(address)
	if err != nil {
		return url.URL{}, cause(err)
	}
	u.Scheme = strings.Replace(u.Scheme, "ws", "http", 1)
	u.Path, u.RawPath = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/ws"), ""
	return *u, nil
}

// Connect asks a server what its actions are. An error is a *ServerError, but for what is no address.
func Connect(ctx context.Context, o Options) (*Server, error) {
	base, err := newBase(o.URL)
	if err != nil {
		return nil, fmt.Errorf("env.url: %w", err)
	}
	if o.Transport == nil {
		o.Transport = &http.Transport{TLSHandshakeTimeout: timeToConnect, DisableKeepAlives: true}
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s := &Server{base: base, reward: o.Reward, pause: firstPause, client: &http.Client{Transport: o.Transport, Timeout: timeToConnect, CheckRedirect: stay}}
	if s.schema, err = s.get(ctx, "schema"); err != nil {
		return nil, err
	}
	var schema struct{ Action json.RawMessage }
	if err := json.Unmarshal(s.schema, &schema); err != nil || schema.Action == nil {
		return nil, s.fail(errors.New("GET /schema does not say what an action is"), helpOther)
	}
	if s.action, err = parseAction(schema.Action); err != nil {
		return nil, s.fail(fmt.Errorf("GET /schema: action: %w", err), helpOther)
	}
	return s, nil
}

// get reads what the server has at a path.
func (s *Server) get(ctx context.Context, path string) (data []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base.JoinPath(path).String(), nil)
	if err != nil {
		return nil, s.fail(err, "")
	}
	resp, err := s.client.Do(r)
	if err != nil {
		return nil, s.fail(fmt.Errorf("it cannot be reached: %w", cause(err)), helpStart)
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	if resp.StatusCode != http.StatusOK {
		return nil, s.fail(fmt.Errorf("GET /%s answered %s", path, resp.Status), helpOther)
	}
	data, err = io.ReadAll(io.LimitReader(resp.Body, maxSchema+1))
	switch {
	case err != nil:
		return nil, s.fail(fmt.Errorf("read /%s: %w", path, err), "")
	case len(data) > maxSchema:
		return nil, s.fail(fmt.Errorf("GET /%s answered with more than 1 MiB", path), helpOther)
	}
	return data, nil
}

// cause returns an error of a request without the address, which may hold a key.
func cause(err error) error {
	var sent *url.Error
	if errors.As(err, &sent) {
		return sent.Err
	}
	return err
}

// Schema returns what the server says of its actions and observations, as it was sent.
func (s *Server) Schema() []byte { return s.schema }

// Sessions returns how many sessions a server allows at a time that has no place for two more; 0: it has.
func (s *Server) Sessions(ctx context.Context) (int, error) {
	for range 2 {
		session, err := s.connect(ctx)
		var p *problem
		if errors.As(err, &p) && p.Code == codeFull {
			return max(1, p.MaxSessions), nil
		}
		if err != nil {
			return 0, err
		}
		defer session.close()
	}
	return 0, nil
}

// Check returns an error for the first task whose field reset cannot be sent.
func (s *Server) Check(tasks []task.Task) error {
	for _, t := range tasks {
		if v, ok := t.Data[FieldReset]; ok {
			if _, ok := v.(map[string]any); !ok {
				return fmt.Errorf("task %s: %s is no map, want what the episode is reset with, such as {split: train, index: 3}", t.ID, FieldReset)
			}
		}
	}
	return nil
}

// Pure implements world.World: what a server does is its own business.
func (*Server) Pure() bool { return false }

// Open implements world.World. A server without a free session is asked a few times: others end.
func (s *Server) Open(ctx context.Context, at world.Setting) (world.Episode, error) {
	pause := s.pause
	for try := 1; ; try++ {
		session, err := s.connect(ctx)
		var p *problem
		switch {
		case err == nil:
			return &episode{server: s, session: session, setting: at}, nil
		case !errors.As(err, &p) || p.Code != codeFull:
			return nil, err
		case try == maxTries:
			return nil, s.fail(fmt.Errorf("%w, after %s", p, wording.Plural(try, "try", "tries")),
				"set limits.concurrency to what the server allows, or start it with more max_concurrent_envs")
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
		pause *= 2
	}
}
