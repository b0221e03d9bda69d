package redact

import (
	"fmt"
	"io"
	"strings"
)

// Stream writes what it is given on without secrets, as Text has it: what comes out
// is that of the whole as long as no secret is longer than 64 KiB. It holds back no
// more than a few times that. It is not safe for concurrent use.
type Stream struct {
	to     io.Writer
	known  *matcher
	raw    []byte // known values may be in it
	blocks blocks
	lines  []byte // holds neither known values nor private keys
	said   promise
	looked int // bytes
	err    error
}

// Stream returns one that writes to w. Close passes on what it holds back.
func (r *Redactor) Stream(w io.Writer) *Stream { return &Stream{to: w, known: r.known} }

// Write takes text, which may end anywhere. Once w has failed it returns that error.
func (s *Stream) Write(p []byte) (int, error) {
	for from := 0; from < len(p) && s.err == nil; from += maxPiece { // a large text is no reason to hold much
		s.raw = append(s.raw, p[from:min(len(p), from+maxPiece)]...)
		s.pass(false)
	}
	if s.err != nil {
		return 0, s.err
	}
	return len(p), nil
}

// Close passes on the rest. It does not close w.
func (s *Stream) Close() error {
	if s.err == nil {
		s.pass(true)
	}
	return s.err
}

// pass moves text on as far as what follows cannot change it.
func (s *Stream) pass(final bool) {
	text := string(s.raw)
	n := len(text)
	if s.known != nil {
		if !final {
			n = s.known.ready(text)
		}
		text = s.known.text(text[:n])
	}
	s.raw = append(s.raw[:0], s.raw[n:]...)
	more := s.blocks.pass(text, final)
	s.lines = append(s.lines, more...)
	if !final && len(s.lines) < 2*maxPiece && strings.IndexByte(more, '\n') < 0 {
		return // piece needs more
	}
	done := 0
	for rest := string(s.lines); s.err == nil; {
		n := piece(rest[done:], final, &s.looked)
		if n == 0 {
			break
		}
		clean := withoutShapes(rest[done:done+n], s.said, &s.looked)
		s.said = promiseOf(clean)
		if _, err := io.WriteString(s.to, clean); err != nil {
			s.err = fmt.Errorf("write without secrets: %w", err)
		}
		done += n
	}
	s.lines = append(s.lines[:0], s.lines[done:]...)
}
