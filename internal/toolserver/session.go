package toolserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/world"
)

// protocol is the version that is asked for: the newest whose handshake older servers understand.
const protocol = "2025-11-25"

// session is a connection to a server.
type session struct {
	name    string // for messages
	help    string
	limit   time.Duration
	info    mcp.Implementation
	mcp     *mcp.ClientSession
	process *process        // nil: it is at an address
	web     *http.Transport // nil: it is a program

	changed atomic.Bool // it has said that its tools changed
	failed  atomic.Bool // nothing more is to be expected of it
}

// An Error says what a server did that it must not. Nothing was measured.
type Error struct {
	Server string // its key and its program or address
	What   string
	Err    error // nil: What says it all
	Help   string
}

func (e *Error) Error() string {
	text := e.Server + ": " + e.What
	if e.Err != nil {
		text += ": " + wording.Cut(e.Err.Error(), maxReason)
	}
	return text + "; " + e.Help
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// maxReason is how much of what a server says of its failure is shown, in bytes.
const maxReason = 2000

// errSlow is why something was ended that a server has not answered.
var errSlow = errors.New("the server does not answer")

func (s *session) fail(what string, err error) error {
	s.failed.Store(true)
	return &Error{Server: s.name, What: what, Err: err, Help: s.help}
}

// fault says why a request was not answered. The context is that of the request.
func (s *session) fault(ctx context.Context, request string, err error) error {
	switch {
	case errors.Is(context.Cause(ctx), errSlow):
		return s.fail(fmt.Sprintf("it did not answer %s within %s", request, s.limit), s.process.complaint())
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	var answered *jsonrpc.Error
	if errors.As(err, &answered) {
		return &Error{Server: s.name, What: "it answered " + request + " with an error", Err: answered, Help: s.help}
	}
	if ended := s.process.failure(); ended != nil {
		err = ended
	}
	return s.fail(request+" failed", withoutAddress(err))
}

// dial starts a program in a folder, or reaches an address, and greets the server. Without a folder the program
// starts in one of its own.
func (v Server) dial(ctx context.Context, dir string, limit time.Duration) (*session, error) {
	s := &session{name: v.name(), limit: limit, help: v.help()}
	transport, err := v.transport(s, dir)
	if err != nil {
		return nil, s.fail("it was not started", err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "skillopt", Version: "1"}, &mcp.ClientOptions{
		Capabilities:           &mcp.ClientCapabilities{},
		MultiRoundTrip:         &mcp.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { s.changed.Store(true) },
	})
	client.AddReceivingMiddleware(refuseRequests)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSlow)
	defer cancel()
	if s.mcp, err = client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: protocol}); err != nil {
		err = s.fault(ctx, "initialize", err)
		return nil, errors.Join(err, s.close())
	}
	if r := s.mcp.InitializeResult(); r != nil && r.ServerInfo != nil {
		s.info = *r.ServerInfo
	}
	return s, nil
}

// refuseRequests answers each request of a server but a ping with an error: it gets no model, no folders and
// no user to ask.
func refuseRequests(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		switch method {
		case "sampling/createMessage", "roots/list", "elicitation/create":
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: method + " is refused: this client has no model, folders or user for servers"}
		}
		return next(ctx, method, r)
	}
}

// call has the server carry out a call of the model. What the model did wrong is in the observation.
func (s *session) call(ctx context.Context, tool string, arguments json.RawMessage) (world.Observation, error) {
	given := map[string]json.RawMessage{}
	if len(arguments) > 0 && json.Unmarshal(arguments, &given) != nil {
		return refuse("The arguments are not a JSON object."), nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.limit, errSlow)
	defer cancel()
	r, err := s.mcp.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: given})
	var refused *jsonrpc.Error
	switch {
	case errors.As(err, &refused) && refused.Code == jsonrpc.CodeInvalidParams:
		return refuse(s.plain(refused.Message)), nil
	case err != nil:
		return world.Observation{}, s.fault(ctx, fmt.Sprintf("tools/call of %q", tool), err)
	case r.NeedsInput():
		return refuse("The tool asks for input of a user, and there is none."), nil
	}
	return world.Observation{Text: s.plain(text(r)), Failed: r.IsError}, nil
}

// plain makes a text of a server one that a model is shown: the same wherever the folder of the episode is, and bounded.
func (s *session) plain(text string) string {
	if s.process != nil {
		text = s.process.plain(text)
	}
	text = wording.Plain(text)
	if len(text) <= maxResult {
		return text
	}
	return strings.ToValidUTF8(text[:maxResult], "") + fmt.Sprintf("\n[cut: the result has %d bytes, and the first %d are shown]", len(text), maxResult)
}

// close ends the session and what was started for it.
func (s *session) close() error {
	if s.mcp != nil {
		_ = s.mcp.Close() // that it does not end well is no matter: what it was asked has been answered
	}
	if s.web != nil {
		s.web.CloseIdleConnections()
	}
	return s.process.close()
}
