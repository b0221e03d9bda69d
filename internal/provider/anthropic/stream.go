package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/model"
)

// stream makes a request whose answer comes as events.
func (c *Client) stream(ctx context.Context, e request) (model.Response, error) {
	within, watch := header.NewWatch(ctx, c.o.Idle)
	defer watch.Stop()
	res, err := c.send(within, e)
	if err != nil {
		return model.Response{}, err
	}
	res.Body = watch.Body(res.Body)
	defer func() { _ = res.Body.Close() }() // read to its end or given up: its error changes nothing
	r, events := header.Sniff(e.passage.Through(res.Body, res.Header.Get("Content-Type")))
	res.Body = reader{r, res.Body}
	var out model.Response
	if events {
		out, err = c.events(ctx, res, e.answer)
	} else {
		out, err = c.document(ctx, res, e.answer)
	}
	if idle := watch.Idle(); err != nil && idle != nil && ctx.Err() == nil {
		return model.Response{}, c.server.Fault(model.Timeout, res.StatusCode, idle)
	}
	return out, err
}

// reader reads from one and closes the other.
type reader struct {
	io.Reader
	io.Closer
}

// wireEvent is any event of a stream.
type wireEvent struct {
	Type    string          `json:"type"`
	Message wireReply       `json:"message"` // message_start
	Index   int             `json:"index"`   // content_block_…
	Delta   wireDelta       `json:"delta"`
	Usage   wireUsage       `json:"usage"` // message_delta
	Error   json.RawMessage `json:"error"`

	ContentBlock json.RawMessage `json:"content_block"`
	Guardrail    string          `json:"amazon-bedrock-guardrailAction"`
}

// wireDelta is what a block, or the message, gets added.
type wireDelta struct {
	Type        string       `json:"type"`
	Text        string       `json:"text"`
	PartialJSON string       `json:"partial_json"`
	Thinking    string       `json:"thinking"`
	Signature   string       `json:"signature"`
	StopReason  string       `json:"stop_reason"`
	StopAt      string       `json:"stop_sequence"`
	StopDetails *stopDetails `json:"stop_details"`
}

// events reads a stream up to its last event.
func (c *Client) events(ctx context.Context, res *http.Response, answer string) (model.Response, error) {
	status := res.StatusCode
	var m message
	for sent, err := range header.Events(res.Body) {
		if err != nil {
			return model.Response{}, c.server.Unread(ctx, status, err)
		}
		var e wireEvent
		data := sent.Data
		if err := json.Unmarshal(data, &e); err != nil {
			return model.Response{}, c.server.Fault(model.Malformed, status, fmt.Errorf("an event is no JSON: %w; it begins: %s", c.server.Clean(err), c.server.Excerpt(string(data))))
		}
		switch {
		case e.Type == "error" || header.Present(e.Error):
			return model.Response{}, c.newFault(status, readDetail(data), res.Header)
		case e.Type == "message_stop":
			m.end(e)
			return c.finishStream(res, &m, answer)
		}
		if err := m.add(e); err != nil {
			return model.Response{}, c.server.Fault(model.Malformed, status, c.server.Clean(err))
		}
	}
	return model.Response{}, c.server.Fault(model.Truncated, status, fmt.Errorf("the stream ends early: %w", io.ErrUnexpectedEOF))
}

// finishStream makes the answer of a stream that reached its end.
func (c *Client) finishStream(res *http.Response, m *message, answer string) (model.Response, error) {
	if m.reply.Type != "message" {
		return model.Response{}, c.server.Fault(model.Malformed, res.StatusCode, errors.New("the stream has no message"))
	}
	pieces := make([]piece, len(m.blocks))
	for i, b := range m.blocks {
		var err error
		if pieces[i], err = b.piece(); err != nil {
			return model.Response{}, c.server.Fault(model.Malformed, res.StatusCode, c.server.Clean(err))
		}
	}
	return c.response(res, m.reply, pieces, answer)
}

// message is what has arrived of a message so far.
type message struct {
	reply  wireReply
	blocks []*growing
}

// growing is a block that is written piece by piece.
type growing struct {
	start     json.RawMessage
	text      []byte
	input     []byte
	thinking  []byte
	signature []byte
}

// add takes an event. Events of kinds that it does not know change nothing, as
// the protocol demands.
func (m *message) add(e wireEvent) error {
	m.end(e)
	switch e.Type {
	case "message_start":
		m.reply = e.Message
	case "content_block_start":
		if e.Index != len(m.blocks) {
			return fmt.Errorf("block %d of the stream begins where block %d is due", e.Index, len(m.blocks))
		}
		m.blocks = append(m.blocks, &growing{start: e.ContentBlock})
	case "content_block_delta":
		if e.Index < 0 || e.Index >= len(m.blocks) {
			return fmt.Errorf("block %d of the stream was not begun", e.Index)
		}
		m.blocks[e.Index].add(e.Delta)
	case "message_delta":
		if e.Delta.StopReason != "" {
			m.reply.StopReason, m.reply.StopAt = e.Delta.StopReason, e.Delta.StopAt
		}
		if e.Delta.StopDetails != nil {
			m.reply.StopDetails = e.Delta.StopDetails
		}
		m.reply.Usage.merge(e.Usage)
	}
	return nil
}

// end takes what any event may carry.
func (m *message) end(e wireEvent) {
	if e.Guardrail != "" {
		m.reply.Guardrail = e.Guardrail
	}
}

// merge takes over the counts that are given: they are totals.
func (u *wireUsage) merge(v wireUsage) {
	for _, n := range []struct{ to, from **int64 }{
		{&u.Input, &v.Input}, {&u.Output, &v.Output}, {&u.CacheRead, &v.CacheRead}, {&u.CacheWrite, &v.CacheWrite},
	} {
		if *n.from != nil {
			*n.to = *n.from
		}
	}
	if v.Details != nil {
		u.Details = v.Details
	}
}

func (g *growing) add(d wireDelta) {
	g.text = append(g.text, d.Text...)
	g.input = append(g.input, d.PartialJSON...)
	g.thinking = append(g.thinking, d.Thinking...)
	g.signature = append(g.signature, d.Signature...)
}

// piece returns the whole block, in the form in which a document has it.
func (g *growing) piece() (piece, error) {
	var p piece
	if err := json.Unmarshal(g.start, &p); err != nil {
		return p, fmt.Errorf("a block of the stream: %w", err)
	}
	p.Text += string(g.text)
	p.Thinking += string(g.thinking)
	if len(g.input) > 0 {
		p.Input = g.input
	}
	p.raw = g.start
	if p.Type != "thinking" {
		return p, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(g.start, &fields); err != nil {
		return p, fmt.Errorf("a block of the stream: %w", err)
	}
	if err := grow(fields, "thinking", g.thinking); err != nil {
		return p, err
	}
	if err := grow(fields, "signature", g.signature); err != nil {
		return p, err
	}
	raw, err := encode(fields)
	p.raw = raw
	return p, err
}

// grow appends to a field that is a text.
func grow(fields map[string]json.RawMessage, name string, more []byte) error {
	var text string
	if header.Present(fields[name]) {
		if err := json.Unmarshal(fields[name], &text); err != nil {
			return fmt.Errorf("field %s of a block of the stream: %w", name, err)
		}
	}
	raw, err := encode(text + string(more))
	if err != nil {
		return err
	}
	fields[name] = raw
	return nil
}
