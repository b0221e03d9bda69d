package wiring

import (
	"bytes"
	"io"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
)

// veil keeps credentials out of an answer that is passed on as it comes. It
// passes on whole lines, which events end with, and the rest at the end; a line
// that may end within a credential waits for the next.
type veil struct {
	to          *model.Passage
	contentType string
	hide        func(string) string
	ready       func(string) int
	rest        []byte
	pieces      pieces // of an answer in events
}

// veilPassage returns a Passage of the same request whose answer goes through a veil.
func (g *redacting) veilPassage(p *model.Passage) (*model.Passage, *veil) {
	v := &veil{to: p, hide: g.redactText, ready: g.ready, pieces: pieces{across: g.across, ready: g.ready}}
	return &model.Passage{Wire: p.Wire, Body: p.Body, Header: p.Header, Stream: p.Stream, Set: p.Set, Reply: func(contentType string) io.Writer {
		v.contentType = contentType
		return v
	}}, v
}

// redactText returns text without the client's credentials.
func (g *redacting) redactText(text string) string {
	if g.renewed != nil {
		text = g.renewed.redactor().Text(text)
	}
	return g.hide.Text(text)
}

// across returns texts without the client's credentials that are in them together.
func (g *redacting) across(texts []string) []string {
	if g.renewed != nil {
		texts = g.renewed.redactor().Across(texts)
	}
	return g.hide.Across(texts)
}

// ready returns how much of the beginning of text holds its credentials whole.
func (g *redacting) ready(text string) int {
	for n := g.hide.Ready(text); g.renewed != nil; {
		if fewer := g.renewed.redactor().Ready(text[:n]); fewer < n {
			n = g.hide.Ready(text[:fewer])
			continue
		}
		return n
	}
	return g.hide.Ready(text)
}

// Write implements io.Writer.
func (v *veil) Write(b []byte) (int, error) {
	v.rest = append(v.rest, b...)
	end := bytes.LastIndexByte(v.rest, '\n') + 1
	if end == 0 {
		return len(b), nil
	}
	// A line break may be in a credential: its beginning is held back.
	if end = v.ready(string(v.rest[:end])); end == 0 {
		return len(b), nil
	}
	err := v.pass([]byte(v.hide(string(v.rest[:end]))), false)
	v.rest = append(v.rest[:0], v.rest[end:]...)
	return len(b), err
}

// pass forwards what holds no credential by itself, an answer in events as soon as
// the events do not either.
func (v *veil) pass(clean []byte, last bool) error {
	if strings.HasPrefix(v.contentType, "text/event-stream") {
		clean = v.pieces.add(clean)
		if last {
			clean = append(clean, v.pieces.end()...)
		}
	}
	if len(clean) == 0 {
		return nil
	}
	_, err := v.to.Write(v.contentType, clean)
	return err
}

// end forwards what has no line break after it.
func (v *veil) end() error {
	rest := v.rest
	v.rest = nil
	return v.pass([]byte(v.hide(string(rest))), true)
}
