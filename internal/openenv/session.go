package openenv

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/coder/websocket"

	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// session is a websocket. One goroutine reads from it as long as it is open: a server hangs up on a client that does not
// answer its pings, and a model may think for longer than that.
type session struct {
	server  *Server
	conn    *websocket.Conn
	stop    context.CancelFunc
	answers chan []byte   // one at most: a server answers what it is asked
	ended   chan struct{} // the goroutine has ended
	err     error         // why; to be read after that
}

// The codes of a problem that are no fault of the server.
const (
	codeFull    = "CAPACITY_REACHED"
	codeRefused = "VALIDATION_ERROR"
	codeRaised  = "EXECUTION_ERROR"
)

// problem is what a server says is wrong.
type problem struct {
	Message     string
	Code        string
	MaxSessions int `json:"max_sessions"`
	Errors      []struct {
		Loc []any
		Msg string
	}
}

func (p *problem) Error() string {
	if p.Code == codeFull && p.MaxSessions > 0 {
		return fmt.Sprintf("it has no free session (%s): it allows %d at a time", p.Code, p.MaxSessions)
	}
	return fmt.Sprintf("it answered %s: %s", p.Code, p.reason())
}

// reason returns what is wrong without the code.
func (p *problem) reason() string {
	parts := []string{p.Message}
	for _, e := range p.Errors {
		place := make([]string, len(e.Loc))
		for i, step := range e.Loc {
			place[i] = fmt.Sprint(step)
		}
		parts = append(parts, strings.TrimPrefix(strings.Join(place, ".")+": "+e.Msg, ": "))
	}
	return wording.Middle(strings.Join(parts, "; "), maxRefusal)
}

// connect opens a session.
func (s *Server) connect(ctx context.Context) (*session, error) {
	conn, resp, err := websocket.Dial(ctx, s.base.JoinPath("ws").String(), &websocket.DialOptions{HTTPClient: s.client})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && resp != nil:
		return nil, s.fail(fmt.Errorf("GET /ws answered %d %s instead of opening a websocket", resp.StatusCode, http.StatusText(resp.StatusCode)), helpOther)
	case err != nil:
		return nil, s.fail(fmt.Errorf("it cannot be reached: %w", cause(err)), helpStart)
	}
	conn.SetReadLimit(maxMessage)
	reading, stop := context.WithCancel(context.WithoutCancel(ctx))
	c := &session{server: s, conn: conn, stop: stop, answers: make(chan []byte, 1), ended: make(chan struct{})}
	go c.read(reading)
	if err := c.compareSteps(ctx); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// compareSteps asks for the state, of which only the place matters: a server that says anything before it has sent what it was
// not asked for, or is full.
func (c *session) compareSteps(ctx context.Context) error {
	_, err := c.ask(ctx, "state", nil)
	var p *problem
	if errors.As(err, &p) && p.Code == codeRaised { // a state may need a reset
		return nil
	}
	return err
}

// read passes on what the server sends, until the session ends.
func (c *session) read(ctx context.Context) {
	defer close(c.ended)
	for {
		kind, data, err := c.conn.Read(ctx)
		if c.err = readError(kind, err); c.err != nil {
			return
		}
		select {
		case c.answers <- data:
		default:
			c.err = errors.New("it sends messages that it was not asked for")
			return
		}
	}
}

// readError returns why nothing more is read; nil: a message was.
func readError(kind websocket.MessageType, err error) error {
	var closed websocket.CloseError
	switch {
	case errors.Is(err, websocket.ErrMessageTooBig):
		return errors.New("it sent a message of more than 16 MiB")
	case errors.As(err, &closed):
		return fmt.Errorf("it closed the session in the middle of the episode: %d %s", closed.Code, cmp.Or(closed.Reason, "without a reason"))
	case err != nil:
		return fmt.Errorf("the connection broke in the middle of the episode: %w", err)
	case kind != websocket.MessageText:
		return errors.New("it sent a binary message")
	}
	return nil
}

// ask sends a message and returns the data of the answer. What the server says is wrong is a *problem.
func (c *session) ask(ctx context.Context, kind string, data any) (json.RawMessage, error) {
	select {
	case early := <-c.answers:
		_, err := c.decode(early, kind)
		return nil, cmp.Or(err, c.server.fail(errors.New("it sent a message that it was not asked for"), helpOther))
	default:
	}
	sent := map[string]any{"type": kind}
	if data != nil {
		sent["data"] = data
	}
	text, err := json.Marshal(sent)
	if err != nil {
		return nil, fmt.Errorf("encode a message: %w", err)
	}
	_ = c.conn.Write(ctx, websocket.MessageText, text) // what was read last says better why it could not be written
	select {
	case answer := <-c.answers:
		return c.decode(answer, kind)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-c.ended:
	}
	select {
	case answer := <-c.answers:
		return c.decode(answer, kind)
	default:
		return nil, c.server.fail(c.err, "")
	}
}

// decode reads the answer to a message of a kind.
func (c *session) decode(answer []byte, asked string) (json.RawMessage, error) {
	want := "observation"
	if asked == "state" {
		want = asked
	}
	var m struct {
		Type string
		Data json.RawMessage
	}
	if err := json.Unmarshal(answer, &m); err != nil {
		return nil, c.server.fail(fmt.Errorf("its answer to %s is not JSON of OpenEnv: %w", asked, err), helpOther)
	}
	switch m.Type {
	case want:
		return m.Data, nil
	case "error":
		p := &problem{}
		if err := json.Unmarshal(m.Data, p); err != nil {
			return nil, c.server.fail(fmt.Errorf("its error cannot be read: %w", err), helpOther)
		}
		return nil, c.server.fail(p, "")
	}
	return nil, c.server.fail(fmt.Errorf("it answered %s with a message of type %q, want %s", asked, wording.Cut(m.Type, 40), want), helpOther)
}

// close ends the session. A server that is asked to does so by itself, and has room for another one then.
func (c *session) close() {
	ctx, cancel := context.WithTimeout(context.Background(), timeToClose)
	defer cancel()
	if err := c.conn.Write(ctx, websocket.MessageText, []byte(`{"type":"close"}`)); err == nil {
		select {
		case <-c.ended:
		case <-ctx.Done():
		}
	}
	c.stop()
	_ = c.conn.CloseNow() // it may be closed already
	<-c.ended
}
