package openai

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/seed-f4525e22/skillopt/model"
)

// way is how a model is reached.
type way struct {
	responses bool
	bare      bool // without asking for reasoning that can be sent back
}

// routes knows which API answers for which model. It learns from answers: the
// first request for a model goes alone, the others wait for what it finds.
type routes struct {
	fixed bool // Chat Completions, and nothing to be learned
	auto  bool // both APIs may be tried
	first way
	turn  chan struct{} // held by the one that probes

	mu    sync.RWMutex
	known map[string]way
}

func newRoutes(api string, vendor bool) routes {
	return routes{
		fixed: api == "" || api == APIChat,
		auto:  api == APIAuto,
		first: way{responses: api == APIResponses || vendor},
		turn:  make(chan struct{}, 1),
		known: map[string]way{},
	}
}

func (r *routes) get(name string) (way, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	w, ok := r.known[name]
	return w, ok
}

func (r *routes) learn(name string, w way) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known[name] = w
}

// sendByRoute sends a request the way that is known for its model, or finds one.
func (c *Client) sendByRoute(ctx context.Context, req *model.Request) (model.Response, error) {
	if c.routes.fixed {
		return c.chat(ctx, req)
	}
	if w, ok := c.routes.get(req.Model); ok {
		return c.by(ctx, req, w)
	}
	select {
	case c.routes.turn <- struct{}{}:
	case <-ctx.Done():
		return model.Response{}, model.Interrupted(ctx, c.faults.server.Host())
	}
	if w, ok := c.routes.get(req.Model); ok {
		<-c.routes.turn
		return c.by(ctx, req, w)
	}
	defer func() { <-c.routes.turn }()
	return c.probe(ctx, req)
}

// by sends a request one way.
func (c *Client) by(ctx context.Context, req *model.Request, w way) (model.Response, error) {
	if w.responses {
		return c.respond(ctx, req, w.bare)
	}
	return c.chat(ctx, req)
}

// probe tries the ways in turn. It learns from an answer, and from a refusal that
// shows that the API is there. When no way leads to an answer, the error is that
// of the first one.
func (c *Client) probe(ctx context.Context, req *model.Request) (model.Response, error) {
	w, switched := c.routes.first, false
	var first error
	for {
		res, err := c.by(ctx, req, w)
		if err == nil || shows(err) {
			c.routes.learn(req.Model, w)
			return res, err
		}
		if first == nil {
			first = err
		}
		var said *refusal
		switch {
		case !errors.As(err, &said):
			return model.Response{}, first
		case w.responses && !w.bare && said.noTrace:
			w.bare = true
		case c.routes.auto && !switched && said.otherAPI:
			w, switched = way{responses: !w.responses}, true
		default:
			return model.Response{}, first
		}
	}
}

// shows reports whether an error proves that the API understood the request.
func shows(err error) bool {
	code := model.CodeOf(err)
	return code == model.ContextLength || code == model.ContentFilter
}

// newRefusal reads from a refusal what it says about the ways.
func newRefusal(text string, status int, d detail) *refusal {
	r := &refusal{text: text, format: refusedForm(status, d)}
	said := strings.ToLower(d.message)
	r.noTrace = status == http.StatusBadRequest && (strings.Contains(said, "encrypted content") || strings.Contains(said, "encrypted_content") || strings.Contains(said, "'include'"))
	switch status {
	case http.StatusMethodNotAllowed, http.StatusNotImplemented:
		r.otherAPI = true
	case http.StatusNotFound:
		r.otherAPI = classifyName(d.code) != model.NotFound || namesAPI(said)
	case http.StatusBadRequest:
		r.otherAPI = namesAPI(said) || saysUnsupported(said) && !strings.HasPrefix(strings.ToLower(d.code), "unsupported_")
	}
	return r
}

// namesAPI reports whether a message speaks of one of the APIs.
func namesAPI(said string) bool {
	for _, name := range []string{"/responses", "chat/completions", "responses api", "chat completions", "not a chat model"} {
		if strings.Contains(said, name) {
			return true
		}
	}
	return false
}

func saysUnsupported(said string) bool {
	for _, words := range []string{"unsupported", "not supported", "does not support", "doesn't support", "only supported"} {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}
