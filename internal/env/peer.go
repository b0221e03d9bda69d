package env

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/skillenv"
)

// maxInner is how many requests of a process may be under way at a time.
const maxInner = 256

// peer is a process that speaks skill-env/1: requests of both sides are under way at a time.
type peer struct {
	process *process
	serve   func(context.Context, skillenv.Message) (any, *skillenv.Error) // carries out a request of the process
	out     chan []byte                                                    // lines for the process
	gone    chan struct{}                                                  // closed when it has ended; then err is set
	err     error

	mu    sync.Mutex
	cause error // why it was ended; nil: it was not, or has ended by itself
	last  int
	asked map[int]chan skillenv.Message // requests that are waited for
	late  map[int]bool                  // requests whose answers are not waited for any more
	inner int                           // requests of the process that are under way
}

// startPeer starts the program. Goroutines go with it, which owner waits for.
func startPeer(o Options, owner *sync.WaitGroup, serve func(context.Context, skillenv.Message) (any, *skillenv.Error)) (*peer, error) {
	p, err := start(o, owner)
	if err != nil {
		return nil, err
	}
	r := &peer{process: p, serve: serve, out: make(chan []byte), gone: make(chan struct{}), asked: map[int]chan skillenv.Message{}, late: map[int]bool{}}
	owner.Go(r.read)
	owner.Go(r.write)
	return r, nil
}

// read takes in what the process writes, until it ends or writes what cannot be trusted.
func (r *peer) read() {
	ctx, cancel := context.WithCancel(context.Background())
	var inner sync.WaitGroup
	defer inner.Wait()
	defer cancel()
	for l := range r.process.lines {
		err := l.err
		if err == nil {
			err = r.take(ctx, l.text, &inner)
		}
		if err != nil {
			r.end(err)
			return
		}
	}
	r.end(r.process.exitError())
}

// end ends the process, and all that waits for it with it. It is called once.
func (r *peer) end(err error) {
	r.mu.Lock()
	err = cmp.Or(r.cause, err)
	r.mu.Unlock()
	r.err = r.process.abandon(err)
	close(r.gone)
}

// stop ends the process for a reason.
func (r *peer) stop(cause error) {
	r.mu.Lock()
	r.cause = cause
	r.mu.Unlock()
	r.process.kill()
	<-r.gone
}

// write passes lines to the process. One that does not read them is ended when its answers are late.
func (r *peer) write() {
	for {
		select {
		case line := <-r.out:
			if _, err := r.process.stdin.Write(line); err != nil {
				return // it has ended or ends; what waits for it learns that from gone
			}
		case <-r.gone:
			return
		}
	}
}

// send has a line written.
func (r *peer) send(ctx context.Context, m skillenv.Message) error {
	line, err := skillenv.Line(m)
	if err != nil {
		return fmt.Errorf("environment: write %s: %w", m.Method, err)
	}
	select {
	case r.out <- line:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-r.gone:
		return r.err
	}
}

// take takes in a line. Its error says that the process does not speak the protocol. inner waits for its requests.
func (r *peer) take(ctx context.Context, line []byte, inner *sync.WaitGroup) error {
	var m skillenv.Message
	if err := skillenv.Read(line, &m); err != nil || m.Version != "2.0" {
		return rubbish("it wrote %s, which is no message of JSON-RPC 2.0 (%v); logs belong on the standard error", excerpt(line), err)
	}
	if m.Method != "" {
		return r.begin(ctx, m, inner)
	}
	id, err := strconv.Atoi(string(m.ID))
	if err != nil || (m.Result == nil) == (m.Error == nil) {
		return rubbish("it wrote %s, which is no answer: it has the id of a request, and either result or error", excerpt(line))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if to, ok := r.asked[id]; ok {
		delete(r.asked, id)
		to <- m
		return nil
	}
	if r.late[id] {
		delete(r.late, id)
		return nil
	}
	return rubbish("it answered request %d, which is not under way: %s", id, excerpt(line))
}

// ask sends a request and reads its result into v.
func (r *peer) ask(ctx context.Context, method string, params, v any) error {
	m, err := r.call(ctx, method, params)
	if err != nil {
		return err
	}
	return decodeAnswer(method, m, v)
}

// call sends a request and returns the answer to it.
func (r *peer) call(ctx context.Context, method string, params any) (m skillenv.Message, err error) {
	text, err := skillenv.Value(params)
	if err != nil {
		return m, fmt.Errorf("environment: write %s as JSON: %w", method, err)
	}
	id, answer := r.expect()
	if err := r.send(ctx, skillenv.Message{ID: []byte(strconv.Itoa(id)), Method: method, Params: text}); err != nil {
		r.forget(id, false)
		return m, err
	}
	select {
	case m := <-answer:
		return m, nil
	case <-ctx.Done():
		r.forget(id, true)
		return m, context.Cause(ctx)
	case <-r.gone:
		return m, r.err
	}
}

// expect numbers a request whose answer is waited for.
func (r *peer) expect() (id int, answer chan skillenv.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	answer = make(chan skillenv.Message, 1)
	r.asked[r.last] = answer
	return r.last, answer
}

// forget ends the waiting for an answer, which may come late to a request that was sent.
func (r *peer) forget(id int, sent bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, waited := r.asked[id]; waited && sent {
		r.late[id] = true
	}
	delete(r.asked, id)
}

// agentError is a failure of the target at the task, as the program says it.
type agentError struct{ text string }

func (e *agentError) Error() string { return e.text }

// decodeAnswer reads a result into v.
func decodeAnswer(method string, m skillenv.Message, v any) error {
	if e := m.Error; e != nil {
		switch e.Data.Kind {
		case skillenv.Agent:
			return &agentError{e.Message}
		case skillenv.Infra, "":
			return &Error{Kind: Refused, Detail: fmt.Sprintf("%s: it could not measure: %s", method, e.Message)}
		}
		return rubbish("%s: the kind of its error is %q, allowed: %s, %s", method, e.Data.Kind, skillenv.Infra, skillenv.Agent)
	}
	if v == nil {
		return nil
	}
	if err := skillenv.Read(m.Result, v); err != nil {
		return rubbish("%s: its result %s does not fit: %v", method, excerpt(m.Result), err)
	}
	return nil
}

// begin carries out a request of the process, next to others.
func (r *peer) begin(ctx context.Context, m skillenv.Message, inner *sync.WaitGroup) error {
	if len(m.ID) == 0 {
		return rubbish("it wrote a request %q without an id, which could not be answered", m.Method)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inner++; r.inner > maxInner {
		return rubbish("it has asked %d times without waiting for an answer, allowed: %d", r.inner, maxInner)
	}
	inner.Go(func() {
		result, fault := r.serve(ctx, m)
		answer := skillenv.Message{ID: m.ID, Error: fault}
		if fault == nil {
			answer.Result, _ = skillenv.Value(result) // texts, which can always be written
		}
		_ = r.send(ctx, answer) // a process that is gone waits for no answer
		r.mu.Lock()
		r.inner--
		r.mu.Unlock()
	})
	return nil
}

// dismiss asks the process to end, and ends it if it does not.
func (r *peer) dismiss() {
	ctx, cancel := context.WithTimeoutCause(context.Background(), grace, errDeadline)
	defer cancel()
	_ = r.ask(ctx, skillenv.Shutdown, struct{}{}, nil) // what it says to that concerns no episode
	r.process.stdin.Close()                            // which says the same; if it fails, the deadline ends the process
	select {
	case <-r.gone:
	case <-ctx.Done():
		r.stop(errClosed)
	}
}

// isGone reports whether the process has ended.
func (r *peer) isGone() bool {
	select {
	case <-r.gone:
		return true
	default:
		return false
	}
}
