package cli

import (
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// screen is where text for people goes: standard output and standard error of every
// command, so that nothing gets around it. What models, tasks, servers and files say
// could steer a terminal: every character that could is written as an escape. Our
// own sequences go to the writer that unescaped returns. It remembers the first failure
// to write, which the many small prints of a result do not look at. It may be written to
// concurrently.
type screen struct {
	w io.Writer

	mu   sync.Mutex
	err  error
	rest string // the beginning of a character, or of a line's end, whose rest is to come
}

// onScreen returns w as a screen.
func onScreen(w io.Writer) *screen {
	if s, ok := w.(*screen); ok {
		return s
	}
	return &screen{w: w}
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.rest + string(p)
	whole := len(text) - countUnfinished(text)
	text, s.rest = text[:whole], text[whole:]
	if s.print(printable(text)) != nil {
		return 0, s.err
	}
	return len(p), nil
}

func (s *screen) print(text string) error {
	if s.err == nil && text != "" {
		_, s.err = io.WriteString(s.w, text)
	}
	return s.err
}

// end writes what no rest came for, and returns the first failure.
func (s *screen) end() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := s.rest
	s.rest = ""
	return s.print(printable(rest))
}

// countUnfinished returns the length of the end of text that needs more bytes: to make a character,
// or to distinguish a line's end from what moves a cursor.
func countUnfinished(text string) int {
	if strings.HasSuffix(text, "\r") {
		return 1
	}
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if b := text[len(text)-n]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRuneInString(text[len(text)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// raw is a screen's own writer, for what other programs read and for sequences
// of our own.
type raw struct{ s *screen }

func (e raw) Write(p []byte) (n int, err error) {
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	if e.s.err == nil {
		n, e.s.err = e.s.w.Write(p)
	}
	return n, e.s.err
}

// rawWriter returns what writes to w without escapes.
func rawWriter(w io.Writer) io.Writer {
	if s, ok := w.(*screen); ok {
		return raw{s}
	}
	return w
}

// underlyingWriter returns what a screen writes to, for a program that is given it.
func underlyingWriter(w io.Writer) io.Writer {
	if s, ok := w.(*screen); ok {
		return s.w
	}
	return w
}

// printable returns text in which every character that steers a terminal, turns the direction of
// text around or hides is an escape such as \u001b. So what is shown is what is there. JSON stays
// the same JSON.
func printable(text string) string { return wording.Escape(text) }

// oneLine returns printable text that cannot begin a line of its own.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, printable(text))
}
