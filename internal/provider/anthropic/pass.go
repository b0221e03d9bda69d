package anthropic

import (
	"bytes"
	"context"
	"io"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/model"
)

// Passes implements model.Passer. The bodies and streams of the platforms differ.
func (c *Client) Passes(wire string) bool {
	return wire == "messages" && c.o.Bedrock == nil && c.o.Vertex == nil
}

// pass sends a request in the words of the one who asks, with their marks for the
// cache.
func (c *Client) pass(ctx context.Context, req model.Request) (model.Response, error) {
	p := req.Passage
	b := header.NewBody(p.Body)
	b.Set("model", req.Model)
	err := c.set(b, p.Set)
	body, berr := b.Bytes()
	if err == nil {
		err = berr
	}
	if err != nil {
		return model.Response{}, c.server.Fault(model.BadRequest, 0, c.server.Clean(err))
	}
	e := request{tags: req.Tags, body: body, passage: p, stream: p.Stream}
	if p.Stream {
		return c.stream(ctx, e)
	}
	res, err := c.send(ctx, e)
	if err != nil {
		return model.Response{}, err
	}
	defer func() { _ = res.Body.Close() }() // read to its end or given up: its error changes nothing
	var whole bytes.Buffer
	res.Body = reader{io.TeeReader(res.Body, &whole), res.Body}
	resp, err := c.document(ctx, res, "")
	if err != nil {
		return resp, err
	}
	_, err = p.Write(res.Header.Get("Content-Type"), whole.Bytes())
	return resp, err
}

// set sets what the config says in a body.
func (c *Client) set(b *header.Body, set model.Sampling) error {
	if set.MaxTokens > 0 || !b.Has("max_tokens") {
		limit := set.MaxTokens
		if limit == 0 {
			limit = c.o.MaxTokens
		}
		b.Set("max_tokens", limit)
	}
	if set.Temperature != nil {
		b.Set("temperature", *set.Temperature)
	}
	if set.TopP != nil {
		b.Set("top_p", *set.TopP)
	}
	switch {
	case c.o.Sampling == SamplingNone:
		b.Drop("temperature", "top_p", "top_k")
	case c.o.Sampling == SamplingOne && b.Has("temperature"):
		b.Drop("top_p")
	}
	w := wireRequest{MaxTokens: b.Int("max_tokens")}
	if err := c.think(&w, set.ReasoningEffort); err != nil {
		return err
	}
	if w.Thinking != nil {
		b.Set("thinking", w.Thinking)
		b.Drop("output_config.effort")
	}
	if w.OutputConfig != nil {
		b.Set("output_config.effort", w.OutputConfig.Effort)
	}
	return nil
}
