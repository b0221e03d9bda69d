package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// DefaultConcurrency is how many requests of one session are answered at once
// unless it says otherwise; more wait.
const DefaultConcurrency = 16

// maxHeld is how many requests of one session are read and held at once. More wait
// unread, so that a flood of large ones takes no more memory than these.
const maxHeld = 64

// DefaultTimeout bounds one call of a client unless the session says otherwise.
const DefaultTimeout = 30 * time.Minute

var (
	errClosed   = errors.New("the session of this key has ended")
	errStranger = errors.New("the key is not that of an open session")
)

// Session says who answers the requests that carry one key.
type Session struct {
	// Client answers. It may be called concurrently. It has the real key.
	Client model.Client
	// Model overrides the model that an agent asks for; "" leaves it.
	Model string
	// Sampling wins, where it is set, over what an agent asks for.
	Sampling model.Sampling
	// Hosted are the kinds of tools that may run at the vendor, such as web_search;
	// others are left out, as is everything of the kind where a request has to be
	// translated.
	Hosted []string
	// Tags are put into every request.
	Tags model.Tags
	// Key is what agents must send; "" makes a random one, which no one can
	// guess. One that is given must have at least 8 characters, none of them a
	// space or beyond ASCII.
	Key string
	// Retried says that Client has tried again what may succeed, as a caller of
	// an episode does. Whatever fails then is reported to agents as permanent (status
	// 402), so that they stop rather than repeat for minutes what is hopeless. If
	// it is false they get the status of the failure and the server's hints.
	Retried bool
	// MaxCalls and MaxTokens (input and output) are what the session may use; 0 =
	// no limit. The call that goes over MaxTokens is still answered. Beyond them
	// agents get status 402, and Limit returns which it was.
	MaxCalls  int
	MaxTokens int64
	// Concurrency is how many requests are answered at once; 0 means
	// DefaultConcurrency.
	Concurrency int
	// Timeout bounds a call of Client; 0 means DefaultTimeout.
	Timeout time.Duration
	// Observe gets every call once it is over, before the agent gets the
	// answer. It may get calls of one session concurrently. Nil is normal.
	Observe func(Exchange)
}

// Exchange is one call of a session's client.
type Exchange struct {
	Wire     Wire
	Asked    string        // the model as the agent named it
	Stream   bool          // the answer was wanted as events
	Request  model.Request // as the client got it; not to be changed
	Response model.Response
	Err      error // of the client; a *LimitError when there was no call
	// LeftOut is what of the agent's request did not reach the model, in the order
	// in which it was met.
	LeftOut   []LeftOut
	Passed    bool // the agent got the bytes of the model's server
	StartedAt time.Time
	Took      time.Duration // with the wait for a place among the session's requests
}

// Handle is an open session. It is safe for concurrent use.
type Handle struct {
	session Session
	gateway *Gateway
	key     string
	now     func() time.Time
	slots   chan struct{}
	room    chan struct{}   // holds one token per request that is read
	ctx     context.Context // ends with the session
	cancel  context.CancelFunc

	mu       sync.Mutex
	closed   bool
	over     error // why nothing new is answered, nil while it is
	inflight sync.WaitGroup
	calls    int
	usage    trajectory.Usage
	failure  error
	limit    *LimitError
	trace    trace
	thoughts thoughts
	left     remarks
	unserved string // the first request for what is not served, "" if there was none

	keys []keyHash // guarded by the lock of the gateway, as is gone
	gone bool      // it takes no further keys
}

func (g *Gateway) newHandle(s Session, key string) *Handle {
	if s.Concurrency <= 0 {
		s.Concurrency = DefaultConcurrency
	}
	if s.Timeout <= 0 {
		s.Timeout = DefaultTimeout
	}
	h := &Handle{session: s, gateway: g, key: key, now: g.opts.Now, slots: make(chan struct{}, s.Concurrency), room: make(chan struct{}, max(maxHeld, s.Concurrency))}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

// Key returns what requests of this session carry as an API key.
func (h *Handle) Key() string { return h.key }

// Calls returns how many calls of the client have begun.
func (h *Handle) Calls() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.calls
}

// Usage returns the sum of the usage over all answers.
func (h *Handle) Usage() trajectory.Usage {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.usage
}

// Err returns the first failure that kept an answer from the agent: what the client returned, or a
// *RefusedError. It returns nil if there was none. A prompt that is too long or that a filter
// refused is the agent's own and does not count. A request that the agent or Close gave up does not
// count either, nor does the session's own limit.
func (h *Handle) Err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failure
}

// Limit returns the limit of the session that refused a call, nil if none did.
func (h *Handle) Limit() *LimitError {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.limit
}

// Transcript returns what agent, tools and model said through the session so far, in the order in
// which it was seen: messages of the user, texts of the model, and its calls (Action is the tool's
// name and its arguments) with their results. System prompts are left out.
func (h *Handle) Transcript() []trajectory.Turn {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.trace.list()
}

// Close ends the session: its key is refused from now on, requests in flight are
// cancelled, and it returns when they are gone. It may be called again.
func (h *Handle) Close() {
	h.gateway.forget(h)
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	h.inflight.Wait()
}

// UnservedRequest returns the first request of the session for something that no model server of
// the gateway's wires has, as method and path; "" if there was none. It is no failure by itself:
// agents look for more than they need.
func (h *Handle) UnservedRequest() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.unserved
}

// noteUnserved keeps what was asked for and is not served.
func (h *Handle) noteUnserved(method, path string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.unserved == "" {
		h.unserved = clipName(method) + " " + clipName(path)
	}
}

// RefusedError says that the gateway itself could not take a request: it is not
// what the wire prescribes, or asks for what the gateway does not have.
type RefusedError struct {
	Wire   Wire
	Reason string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the gateway refused a request of the wire %s: %s", e.Wire, e.Reason)
}

// noteRefusal keeps that a request was not taken.
func (h *Handle) noteRefusal(w Wire, reason error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failure == nil {
		h.failure = &RefusedError{Wire: w, Reason: reason.Error()}
	}
}

// enter counts a request in, unless the session has ended or takes no more.
func (h *Handle) enter() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return errClosed
	case h.over != nil:
		return h.over
	}
	h.inflight.Add(1)
	return nil
}

// drain refuses what comes from now on, and what waits for a place, with why.
func (h *Handle) drain(why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over == nil {
		h.over = &overError{why}
	}
}

// overError says why a session takes no more requests.
type overError struct{ why error }

func (e *overError) Error() string { return e.why.Error() }

func (e *overError) Unwrap() error { return e.why }

func (h *Handle) leave() { h.inflight.Done() }

// reserve waits for room to read a request, and returns how to give it back.
func (h *Handle) reserve(agent context.Context) (release func(), err error) {
	select {
	case h.room <- struct{}{}:
		return func() { <-h.room }, nil
	case <-h.ctx.Done():
		return nil, errClosed
	case <-agent.Done():
		return nil, context.Cause(agent)
	}
}

// ask sends a request to the client. It is given up when the agent's context ends.
func (h *Handle) ask(agent context.Context, wire Wire, q agentRequest) (model.Response, error) {
	ctx, cancel := context.WithTimeout(h.ctx, h.session.Timeout)
	defer cancel()
	defer context.AfterFunc(agent, cancel)()
	started := h.now()
	h.prepare(&q.req)
	q.req.Passage = q.passage
	resp, err := h.call(ctx, q.req)
	left := q.leftOut
	switch passed := q.passage.Begun(); {
	case passed:
		left = q.taken
	case err == nil:
		resp = q.cut(resp)
	}
	h.settle(ctx, resp, err, left)
	if h.session.Observe != nil {
		h.session.Observe(Exchange{
			Wire: wire, Asked: q.asked, Stream: q.stream, Request: q.req, Response: resp, Err: err,
			LeftOut: left, Passed: q.passage.Begun(), StartedAt: started, Took: h.now().Sub(started),
		})
	}
	if err != nil && h.ctx.Err() != nil {
		err = errClosed
	}
	return resp, err
}

// prepare makes the agent's request that of the session.
func (h *Handle) prepare(req *model.Request) {
	if h.session.Model != "" {
		req.Model = h.session.Model
	}
	req.Sampling = h.session.Sampling.Over(req.Sampling)
	req.Tags = h.session.Tags
	h.mu.Lock()
	defer h.mu.Unlock()
	h.thoughts.restore(req.Messages)
	h.trace.addRequest(req.Messages)
}

func (h *Handle) call(ctx context.Context, req model.Request) (model.Response, error) {
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return model.Response{}, ctx.Err()
	}
	defer func() { <-h.slots }()
	if err := h.begin(); err != nil {
		return model.Response{}, err
	}
	return h.session.Client.Generate(ctx, req)
}

// begin counts a call, unless the session has used up what it may.
func (h *Handle) begin() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over != nil {
		return h.over
	}
	s := h.session
	var limit *LimitError
	switch {
	case s.MaxCalls > 0 && h.calls >= s.MaxCalls:
		limit = &LimitError{Limit: "calls", Of: int64(s.MaxCalls)}
	case s.MaxTokens > 0 && h.usage.Input+h.usage.Output >= s.MaxTokens:
		limit = &LimitError{Limit: "tokens", Of: s.MaxTokens}
	default:
		h.calls++
		return nil
	}
	if h.limit == nil {
		h.limit = limit
	}
	return limit
}

// settle keeps the result of a call.
func (h *Handle) settle(ctx context.Context, resp model.Response, err error, left []LeftOut) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.left.all(remarks{left})
	if err == nil {
		h.usage = h.usage.Add(resp.Usage)
		h.trace.addResponse(resp)
		h.thoughts.keep(resp.Parts)
		return
	}
	if h.failure == nil && counts(ctx, err) {
		h.failure = err
	}
}

// counts reports whether an error is a failure of infrastructure.
func counts(ctx context.Context, err error) bool {
	var limit *LimitError
	var over *overError
	if errors.As(err, &limit) || errors.As(err, &over) || errors.Is(ctx.Err(), context.Canceled) {
		return false
	}
	code := model.CodeOf(err)
	return code != model.ContextLength && code != model.ContentFilter
}
