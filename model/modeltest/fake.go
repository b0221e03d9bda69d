package modeltest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/seed-f4525e22/skillopt/model"
)

// Func is a function as a model.Client.
type Func func(ctx context.Context, req model.Request) (model.Response, error)

// Generate implements model.Client.
func (f Func) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	return f(ctx, req)
}

// Call is one call that a Fake received.
type Call struct {
	N        int // 0-based, in order of arrival
	Request  model.Request
	Response model.Response
	Err      error
	Done     bool // whether Generate has returned
}

// Fake is a model.Client for tests: it answers by a function and remembers what
// it was asked. It is safe for concurrent use. Make one with New or Script.
type Fake struct {
	answer func(ctx context.Context, n int, req model.Request) (model.Response, error)

	mu     sync.Mutex
	calls  []Call
	active int
	peak   int
}

var _ model.Client = (*Fake)(nil)

// New returns a Fake that answers its nth call (0-based, in order of arrival)
// with answer, which may be called concurrently.
func New(answer func(ctx context.Context, n int, req model.Request) (model.Response, error)) *Fake {
	return &Fake{answer: answer}
}

// Always returns a Fake that gives the same text to every call.
func Always(text string) *Fake {
	return New(func(context.Context, int, model.Request) (model.Response, error) {
		return Text(text).Response, nil
	})
}

// Step is what a scripted Fake does with one call.
type Step struct {
	Response model.Response
	Err      error
	Wait     <-chan struct{} // if not nil, the answer waits until it is closed or ctx is done
}

// Text returns a step that answers with text and stops in the ordinary way.
func Text(text string) Step {
	return Step{Response: model.Response{Text: text, Finish: model.FinishStop}}
}

// Fails returns a step that fails with a classified error.
func Fails(code model.Code) Step {
	return Step{Err: &model.Error{Code: code, Endpoint: "script", Err: fmt.Errorf("scripted %s", code)}}
}

// Script returns a Fake that answers its nth call with the nth step. A call
// beyond the last step fails with BadRequest, which no caller retries.
func Script(steps ...Step) *Fake {
	steps = slices.Clone(steps)
	return New(func(ctx context.Context, n int, _ model.Request) (model.Response, error) {
		if n >= len(steps) {
			return model.Response{}, &model.Error{Code: model.BadRequest, Endpoint: "script", Err: fmt.Errorf("call %d, but the script has %d steps", n+1, len(steps))}
		}
		s := steps[n]
		if s.Wait != nil {
			select {
			case <-s.Wait:
			case <-ctx.Done():
				return model.Response{}, model.Interrupted(ctx, "script")
			}
		}
		return s.Response, s.Err
	})
}

// Generate implements model.Client. A call whose ctx is done already is not
// counted.
func (f *Fake) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	if err := model.Interrupted(ctx, "script"); err != nil {
		return model.Response{}, err
	}
	n := f.begin(req)
	res, err := f.answer(ctx, n, req)
	f.end(n, res, err)
	return res, err
}

func (f *Fake) begin(req model.Request) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.calls)
	req.Messages = slices.Clone(req.Messages)
	f.calls = append(f.calls, Call{N: n, Request: req})
	f.active++
	f.peak = max(f.peak, f.active)
	return n
}

func (f *Fake) end(n int, res model.Response, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.active--
	f.calls[n].Response, f.calls[n].Err, f.calls[n].Done = res, err, true
}

// Calls returns what was asked so far, in order of arrival.
func (f *Fake) Calls() []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// Count returns how many calls arrived.
func (f *Fake) Count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.calls)
}

// Peak returns how many calls were in progress at once, at most.
func (f *Fake) Peak() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.peak
}
