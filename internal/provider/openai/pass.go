package openai

import (
	"context"
	"errors"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/model"
)

// The protocols of Passages.
const (
	wireChat      = "chat"
	wireResponses = "responses"
)

// Passes implements model.Passer. Where the API is yet to be found out, a vendor is
// taken to have both, and any other server Chat Completions.
func (c *Client) Passes(wire string) bool {
	switch wire {
	case wireChat:
		return c.routes.fixed || c.routes.auto
	case wireResponses:
		return !c.routes.fixed && c.routes.first.responses
	}
	return false
}

// strange knows the models that a server has in the other API only.
type strange struct{ known sync.Map }

// elsewhere reports whether a request was refused because the model, or the server,
// has only the other API. It is remembered.
func (c *Client) elsewhere(req *model.Request, err error) bool {
	var said *refusal
	if !c.routes.auto || req.Passage.Begun() {
		return false
	}
	if errors.Is(err, errOtherAPI) {
		return true
	}
	if errors.As(err, &said) && said.otherAPI {
		c.strange.known.Store(req.Passage.Wire+" "+req.Model, true)
		return true
	}
	return false
}

var errOtherAPI = errors.New("the model has the other API")

// pass sends a request in the words of the one who asks.
func (c *Client) pass(ctx context.Context, req *model.Request) (model.Response, error) {
	if _, ok := c.strange.known.Load(req.Passage.Wire + " " + req.Model); ok {
		return model.Response{}, errOtherAPI
	}
	b := header.NewBody(req.Passage.Body)
	b.Set("model", req.Model)
	endpoint, p := chatPath, chatProtocol()
	if req.Passage.Wire == wireResponses {
		endpoint, p = responsesPath, respondProtocol()
		c.bodies.setRespond(b, req)
	} else {
		c.bodies.setChat(b, req)
	}
	c.bodies.setExtra(b)
	body, err := b.Bytes()
	if err != nil {
		return model.Response{}, c.faults.plain(model.BadRequest, err)
	}
	return c.send(ctx, req, endpoint, body, p)
}

// setChat sets what the config says in a body for Chat Completions.
func (e *encoder) setChat(b *header.Body, req *model.Request) {
	q, set := &e.quirks, req.Passage.Set
	e.setTemperature(b, set)
	if set.MaxTokens > 0 {
		b.Drop(MaxTokens, MaxCompletionTokens)
		b.Set(q.TokenField, set.MaxTokens)
	}
	effort := q.EffortField
	if effort == "" {
		effort = "reasoning_effort"
	}
	if set.ReasoningEffort != "" && effort != NoField {
		b.Set(effort, set.ReasoningEffort)
	}
	seed := q.SeedField
	if seed == "" {
		seed = "seed"
	}
	if req.Seed != nil && seed != NoField && !b.Has(seed) {
		b.Set(seed, *req.Seed)
	}
	if req.Passage.Stream { // what it costs is known by no other means
		b.Set("stream_options.include_usage", true)
	}
}

// setRespond sets what the config says in a body for Responses.
func (e *encoder) setRespond(b *header.Body, req *model.Request) {
	set := req.Passage.Set
	e.setTemperature(b, set)
	if set.MaxTokens > 0 {
		b.Set("max_output_tokens", set.MaxTokens)
	}
	if set.ReasoningEffort != "" && e.quirks.EffortField != NoField {
		b.Set("reasoning.effort", set.ReasoningEffort)
	}
}

func (e *encoder) setTemperature(b *header.Body, set model.Sampling) {
	if e.quirks.NoTemperature {
		b.Drop("temperature", "top_p")
		return
	}
	if set.Temperature != nil {
		b.Set("temperature", *set.Temperature)
	}
	if set.TopP != nil {
		b.Set("top_p", *set.TopP)
	}
}

// setExtra sets the fields that the config adds to every body.
func (e *encoder) setExtra(b *header.Body) {
	if len(e.extra) == 0 {
		return
	}
	gjson.ParseBytes(append(append([]byte("{"), e.extra[1:]...), '}')).ForEach(func(name, value gjson.Result) bool {
		b.Set(gjson.Escape(name.String()), value.Value())
		return true
	})
}
