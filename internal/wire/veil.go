package wire

import (
	"bytes"
	"io"

	"github.com/seed-f4525e22/skillopt/model"
)

// veil keeps credentials out of an answer that is handed over as it comes. It
// hands whole lines over, which events end with, and the rest at the end.
type veil struct {
	to          *model.Passage
	contentType string
	hide        func(string) string
	rest        []byte
}

// veiled returns a Passage of the same request whose answer goes through a veil.
func (g *guarded) veiled(p *model.Passage) (*model.Passage, *veil) {
	v := &veil{to: p, hide: g.without}
	return &model.Passage{Wire: p.Wire, Body: p.Body, Header: p.Header, Stream: p.Stream, Set: p.Set, Reply: func(contentType string) io.Writer {
		v.contentType = contentType
		return v
	}}, v
}

// without is text without the client's credentials.
func (g *guarded) without(text string) string {
	if g.renewed != nil {
		text = g.renewed.known().Text(text)
	}
	return g.hide.Text(text)
}

// Write implements io.Writer.
func (v *veil) Write(b []byte) (int, error) {
	v.rest = append(v.rest, b...)
	end := bytes.LastIndexByte(v.rest, '\n') + 1
	if end == 0 {
		return len(b), nil
	}
	_, err := v.to.Write(v.contentType, []byte(v.hide(string(v.rest[:end]))))
	v.rest = append(v.rest[:0], v.rest[end:]...)
	return len(b), err
}

// end hands over what has no line break behind it.
func (v *veil) end() error {
	if len(v.rest) == 0 {
		return nil
	}
	_, err := v.to.Write(v.contentType, []byte(v.hide(string(v.rest))))
	v.rest = nil
	return err
}
