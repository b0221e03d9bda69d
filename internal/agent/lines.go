package agent

import (
	"bytes"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/redact"
)

// maxLine is the longest event that is read. Of a longer one the start is kept,
// which shows its kind.
const maxLine = 16 << 20

// longStart is how much of a line that is too long the reader gets.
const longStart = 4 << 10

// lines is an io.Writer that cuts what it is given into lines. Its owner calls
// end when there is no more.
type lines struct {
	max  int
	line func(text []byte, whole bool) // text is valid during the call only
	rest []byte
	over bool // the line in rest is too long; what follows of it is dropped
}

func newLines(line func(text []byte, whole bool)) *lines {
	return &lines{max: maxLine, line: line}
}

// Write never fails.
func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	for {
		at := bytes.IndexByte(p, '\n')
		if at < 0 {
			l.keep(p)
			return n, nil
		}
		if len(l.rest) == 0 && !l.over && at <= l.max {
			l.emit(p[:at], true)
		} else {
			l.keep(p[:at])
			l.end()
		}
		p = p[at+1:]
	}
}

func (l *lines) keep(p []byte) {
	if l.over {
		return
	}
	if len(l.rest)+len(p) > l.max {
		l.over = true
		p = p[:max(0, min(len(p), longStart-len(l.rest)))]
		l.rest = append(l.rest[:min(len(l.rest), longStart)], p...)
		return
	}
	l.rest = append(l.rest, p...)
}

// end gives out what there is without a line end.
func (l *lines) end() {
	l.emit(l.rest, !l.over)
	l.over = false
	if cap(l.rest) > 1<<20 {
		l.rest = nil
	}
	l.rest = l.rest[:0]
}

func (l *lines) emit(text []byte, whole bool) {
	if text = bytes.TrimSpace(text); len(text) > 0 {
		l.line(text, whole)
	}
}

// capped keeps the first max bytes that are written to it.
type capped struct {
	max  int
	data []byte
	over bool
}

// Write never fails.
func (c *capped) Write(p []byte) (int, error) {
	room := min(len(p), c.max-len(c.data))
	c.data = append(c.data, p[:room]...)
	c.over = c.over || room < len(p)
	return len(p), nil
}

func (c *capped) String() string { return string(bytes.ToValidUTF8(c.data, []byte("\ufffd"))) }

// lastBytes keeps the end of what is written to it.
type lastBytes struct {
	max  int
	data []byte // more than max: secrets are taken out before the rest is cut off
	cut  bool   // there was more
}

// Write never fails.
func (t *lastBytes) Write(p []byte) (int, error) {
	keep := 4 * t.max
	t.cut = t.cut || len(p) > keep
	t.data = append(t.data, p[max(0, len(p)-keep):]...)
	if len(t.data) > 2*keep { // so that moving it is rare
		t.data, t.cut = append(t.data[:0], t.data[len(t.data)-keep:]...), true
	}
	return len(p), nil
}

// text returns what was kept, without what hide knows.
func (t *lastBytes) text(hide *redact.Exact) string {
	text := hide.Tail(string(t.data), t.cut, t.max)
	return strings.ToValidUTF8(text, "\ufffd")
}
