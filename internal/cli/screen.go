package cli

import (
	"io"
	"strings"
	"unicode"
)

// screen is where text for people goes. What models and task files say could
// steer a terminal: it replaces every control character but the ends of lines
// and tabs. It remembers the first failure to write, which the many small prints
// of a result do not look at.
type screen struct {
	w   io.Writer
	err error
}

func (s *screen) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if _, s.err = io.WriteString(s.w, printable(string(p))); s.err != nil {
		return 0, s.err
	}
	return len(p), nil
}

// exact is a screen's own writer, for what other programs read.
type exact struct{ s *screen }

func (e exact) Write(p []byte) (n int, err error) {
	if e.s.err == nil {
		n, e.s.err = e.s.w.Write(p)
	}
	return n, e.s.err
}

// data is where w writes without replacing anything.
func data(w io.Writer) io.Writer {
	if s, ok := w.(*screen); ok {
		return exact{s}
	}
	return w
}

// printable replaces control characters, and those that turn the direction of
// text around, so that what is shown is what is there.
func printable(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case unicode.IsControl(r), r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// oneLine is printable text that cannot begin a line of its own.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, printable(text))
}
