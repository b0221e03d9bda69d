package model

import (
	"io"
	"sync/atomic"
)

// Passage is a request in the words of the one who asks. An adapter whose server
// speaks the same protocol may send it instead of the Request that holds it,
// and passes on the bytes of the answer as they arrive. It still returns what they
// mean. Any other Client leaves it alone: the Request says the same.
type Passage struct {
	Wire   string              // the protocol: chat, responses, messages or gemini
	Body   []byte              // a JSON object; not to be changed
	Header map[string][]string // by canonical names: those that may go along
	Stream bool                // the answer is wanted as events
	// Set is what of the request's Sampling goes before what Body says; the model
	// is always that of the Request.
	Set Sampling
	// Reply is where the answer goes, by its content type. It is called once, before
	// the first byte.
	Reply func(contentType string) io.Writer

	begun atomic.Bool
	to    io.Writer
}

// Write passes on bytes of the answer. It must not be called concurrently. An
// error says that the one who asks is gone.
func (p *Passage) Write(contentType string, b []byte) (int, error) {
	if !p.begun.Swap(true) {
		p.to = p.Reply(contentType)
	}
	return p.to.Write(b)
}

// Begun reports whether a part of an answer has been passed on: from then on
// no one may ask again. It returns false for the nil Passage.
func (p *Passage) Begun() bool { return p != nil && p.begun.Load() }

// Through returns a body that passes on all that is read from it. The nil Passage
// returns it as it is.
func (p *Passage) Through(body io.ReadCloser, contentType string) io.ReadCloser {
	if p == nil {
		return body
	}
	return &through{ReadCloser: body, p: p, contentType: contentType}
}

type through struct {
	io.ReadCloser
	p           *Passage
	contentType string
}

// Read implements io.Reader.
func (t *through) Read(b []byte) (int, error) {
	n, err := t.ReadCloser.Read(b)
	if n > 0 {
		if _, werr := t.p.Write(t.contentType, b[:n]); werr != nil {
			return n, werr
		}
	}
	return n, err
}

// Passer is a Client that takes Passages of some protocols.
type Passer interface {
	// Passes reports whether it does so of the protocol wire. What it says does not
	// change. It may be called concurrently.
	Passes(wire string) bool
}

// Passes reports whether c takes Passages of a protocol.
func Passes(c Client, wire string) bool {
	p, ok := c.(Passer)
	return ok && p.Passes(wire)
}
