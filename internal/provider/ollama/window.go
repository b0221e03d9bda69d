package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/model"
)

// facts are what the server knows of a model.
type facts struct {
	window int      // longest context in tokens, 0 = not known
	can    []string // capabilities, nil = not known
}

// models remembers facts by the name of the model.
type models struct {
	mu  sync.Mutex
	all map[string]*known
}

// known are the facts of one model. Who holds the place asks for them, so that
// they are asked for once.
type known struct {
	place chan struct{}
	facts *facts
}

func newModels() *models { return &models{all: make(map[string]*known)} }

func (m *models) of(name string) *known {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.all[name]
	if k == nil {
		k = &known{place: make(chan struct{}, 1)}
		m.all[name] = k
	}
	return k
}

// facts asks the server about a model, once; a failure is not remembered.
func (c *Client) facts(ctx context.Context, req model.Request) (facts, error) {
	k := c.models.of(req.Model)
	select {
	case k.place <- struct{}{}:
	case <-ctx.Done():
		return facts{}, model.Interrupted(ctx, c.end.Host())
	}
	defer func() { <-k.place }()
	if k.facts != nil {
		return *k.facts, nil
	}
	f, err := c.show(ctx, req)
	if err == nil {
		k.facts = &f
	}
	return f, err
}

// showLimit bounds the question about a model, which costs the server nothing.
const showLimit = 30 * time.Second

// show asks the server about a model. A server that does not know the question
// leaves the facts empty.
func (c *Client) show(ctx context.Context, req model.Request) (facts, error) {
	body, err := json.Marshal(map[string]string{"model": req.Model})
	if err != nil {
		return facts{}, c.end.Fault(model.BadRequest, 0, fmt.Errorf("encode request: %w", err))
	}
	ctx, cancel := context.WithTimeout(ctx, showLimit)
	defer cancel()
	res, err := c.post(ctx, "api/show", req.Tags, body)
	if err != nil {
		return facts{}, c.end.Unsent(ctx, err)
	}
	defer func() { _ = res.Body.Close() }() // read to its end or given up: its error changes nothing
	switch {
	case res.StatusCode >= http.StatusBadRequest:
		return facts{}, c.unshown(res, req.Model)
	case res.StatusCode >= http.StatusMultipleChoices:
		return facts{}, c.end.RedirectError(res)
	}
	var w struct {
		Info         map[string]json.RawMessage `json:"model_info"`
		Capabilities []string                   `json:"capabilities"`
	}
	if err := json.NewDecoder(res.Body).Decode(&w); err != nil {
		return facts{}, c.unread(ctx, res.StatusCode, err)
	}
	return facts{window: longest(w.Info), can: w.Capabilities}, nil
}

// unshown returns the error of a refused question, nil when the server only
// does not know the question.
func (c *Client) unshown(res *http.Response, name string) error {
	err := c.readFault(res, name)
	var fault *model.Error
	if !errors.As(err, &fault) {
		return err
	}
	switch fault.Code {
	case model.NotFound:
		if strings.Contains(fault.Error(), "ollama pull") {
			return err
		}
		return nil
	case model.BadRequest:
		return nil
	}
	return err
}

// longest finds the context of the model among its metadata, whose name begins
// with that of its architecture.
func longest(info map[string]json.RawMessage) int {
	var architecture string
	if json.Unmarshal(info["general.architecture"], &architecture) != nil {
		return 0
	}
	var n int
	if json.Unmarshal(info[architecture+".context_length"], &n) != nil {
		return 0
	}
	return max(n, 0)
}

// window returns the context window that a request gets.
func (c *Client) window(ctx context.Context, req model.Request) (int, error) {
	f, err := c.facts(ctx, req)
	if err != nil {
		return 0, err
	}
	if f.can != nil && !slices.Contains(f.can, "vision") && hasImages(req.Messages) {
		return 0, c.end.Fault(model.BadRequest, 0, fmt.Errorf("the model %s takes no images", req.Model))
	}
	switch {
	case c.opts.Context == 0 && f.window > 0:
		return min(DefaultContext, f.window), nil
	case c.opts.Context == 0:
		return DefaultContext, nil
	case f.window > 0 && c.opts.Context > f.window:
		return 0, c.end.Fault(model.BadRequest, 0,
			fmt.Errorf("context: found %d, the model %s has at most %d tokens", c.opts.Context, req.Model, f.window))
	}
	return c.opts.Context, nil
}

func hasImages(messages []model.Message) bool {
	return slices.ContainsFunc(messages, func(m model.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p model.Part) bool {
			return p.Image != nil || p.Result != nil && len(p.Result.Images) > 0
		})
	})
}

// cut reports a prompt that the server must have cut. One that takes the whole
// window leaves no room for an answer, so nothing was left out by chance; and a
// server that drops messages counts only the rest of them.
func (c *Client) cut(req model.Request, used int64, window int) error {
	least := leastTokens(req)
	switch {
	case used >= int64(window):
		return c.tooLong(req, http.StatusOK, fmt.Sprintf("it takes %d tokens", used), window)
	case used > 0 && used < least && mostTokens(req) > int64(window):
		return c.tooLong(req, http.StatusOK, fmt.Sprintf("the server used %d tokens of at least %d", used, least), window)
	}
	return nil
}

func (c *Client) tooLong(req model.Request, status int, how string, window int) error {
	return c.end.Fault(model.ContextLength, status, fmt.Errorf(
		"the prompt does not fit into the context window of %d tokens (context) that %s was asked for: %s", window, req.Model, how))
}

// leastTokens returns how many tokens a prompt has at least, by any tokenizer in
// use. It errs low by half and more, so that no prompt is refused that fits:
// usual text has four letters to a token, long words up to eight, and a run of
// equal letters may be one token.
func leastTokens(req model.Request) int64 {
	var letters int64
	eachText(req, func(text string) {
		var before rune
		for _, r := range text {
			if r != before {
				letters++
			}
			before = r
		}
	})
	return letters / 8
}

// mostTokens returns how many tokens a prompt has at most: a token is a byte or
// more, and templates add some to each message. Images are left out.
func mostTokens(req model.Request) int64 {
	const added = 32
	n := int64(added * (len(req.Messages) + len(req.Tools) + 1))
	eachText(req, func(text string) { n += int64(len(text)) })
	return n
}

// eachText calls yield with all texts that become part of a prompt.
func eachText(req model.Request, yield func(string)) {
	for _, m := range req.Messages {
		yield(m.Content)
		for _, p := range m.Parts {
			yield(p.Text)
			switch {
			case p.Call != nil:
				yield(string(p.Call.Arguments))
			case p.Result != nil:
				yield(p.Result.Content)
			}
		}
	}
	if req.ToolChoice == model.ToolChoiceNone {
		return
	}
	for _, t := range req.Tools {
		yield(t.Description)
		yield(string(t.Parameters))
	}
}

// Window returns how many tokens of context requests to a model get. It asks the
// server about the model, once. The error is a *model.Error.
func (c *Client) Window(ctx context.Context, name string) (int, error) {
	return c.window(ctx, model.Request{Model: name})
}
