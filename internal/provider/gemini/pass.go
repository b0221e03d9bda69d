package gemini

import (
	"bytes"
	"cmp"
	"context"
	"io"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/model"
)

// Passes implements model.Passer. Vertex has not all fields of the Gemini API.
func (c *Client) Passes(wire string) bool { return wire == "gemini" && c.o.Vertex == nil }

// pass sends a request in the words of the one who asks.
func (c *Client) pass(ctx context.Context, req model.Request) (model.Response, error) {
	b := header.NewBody(req.Passage.Body)
	err := c.set(b, req.Passage.Set)
	body, berr := b.Bytes()
	path, perr := c.modelPath(req.Model)
	if err = cmp.Or(err, berr, perr); err != nil {
		return model.Response{}, c.server.Fault(model.BadRequest, 0, c.server.Clean(err))
	}
	r := &request{path: path, tags: req.Tags, ids: newIDs(req.Messages), passage: req.Passage, body: body, stream: req.Passage.Stream}
	if r.stream {
		return c.stream(ctx, r)
	}
	res, err := c.send(ctx, r)
	if err != nil {
		return model.Response{}, err
	}
	whole, err := io.ReadAll(res.Body)
	_ = res.Body.Close() // read to its end or given up: its error changes nothing
	if err != nil {
		return model.Response{}, c.server.Unread(ctx, res.StatusCode, err)
	}
	res.Body = io.NopCloser(bytes.NewReader(whole))
	resp, err := c.document(ctx, res, r)
	if err != nil {
		return resp, err
	}
	_, err = r.passage.Write(res.Header.Get("Content-Type"), whole)
	return resp, err
}

// set sets what the config says in a body.
func (c *Client) set(b *header.Body, set model.Sampling) error {
	config := "generationConfig"
	if b.Has("generation_config") {
		config = "generation_config"
	}
	if set.Temperature != nil {
		b.Set(config+".temperature", *set.Temperature)
	}
	if set.TopP != nil {
		b.Drop(config + ".top_p")
		b.Set(config+".topP", *set.TopP)
	}
	if set.MaxTokens > 0 {
		b.Drop(config + ".max_output_tokens")
		b.Set(config+".maxOutputTokens", set.MaxTokens)
	}
	if set.ReasoningEffort == "" {
		return nil
	}
	think, err := c.think(set.ReasoningEffort)
	if err != nil || think == nil {
		return err
	}
	b.Drop(config + ".thinking_config")
	b.Set(config+".thinkingConfig", think)
	return nil
}
