package run

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// openLevels is how many levels of a file's JSON have a line for each member.
// What lies deeper stands on one line: a list of records then reads as a table
// does, and is laid out several times as fast as with a line for every value.
const openLevels = 2

// laidOut encodes v for people and for tools that read by lines.
func laidOut(name string, v any) ([]byte, error) {
	compact, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", name, err)
	}
	l := layout{out: make([]byte, 0, len(compact)+len(compact)/4+64)}
	l.write(compact)
	return append(l.out, '\n'), nil
}

// layout puts white space into compact JSON.
type layout struct {
	out   []byte
	depth int
}

func (l *layout) write(compact []byte) {
	for i := 0; i < len(compact); {
		end := token(compact, i)
		l.put(compact[i:end])
		i = end
	}
}

// put writes one token with the space that belongs to it.
func (l *layout) put(text []byte) {
	switch text[0] {
	case '{', '[':
		l.out = append(l.out, text...)
		if len(text) == 1 {
			l.depth++
			l.line("")
		}
	case '}', ']':
		l.depth--
		if l.depth < openLevels {
			l.newline()
		}
		l.out = append(l.out, text...)
	case ',':
		l.out = append(l.out, ',')
		l.line(" ")
	case ':':
		l.out = append(l.out, ':', ' ')
	default:
		l.out = append(l.out, text...)
	}
}

// line begins a member: on a line of its own, or after the given space.
func (l *layout) line(space string) {
	if l.depth <= openLevels {
		l.newline()
		return
	}
	l.out = append(l.out, space...)
}

func (l *layout) newline() {
	l.out = append(l.out, '\n')
	for range l.depth {
		l.out = append(l.out, "  "...)
	}
}

// token returns the end of the token of compact JSON that begins at i. What is
// empty between braces is one token: it needs no line.
func token(compact []byte, i int) int {
	switch compact[i] {
	case '"':
		return i + 1 + stringEnd(compact[i+1:])
	case '{', '[':
		if next := compact[i+1]; next == '}' || next == ']' {
			return i + 2
		}
		return i + 1
	case '}', ']', ',', ':':
		return i + 1
	}
	if n := bytes.IndexAny(compact[i:], ",]}"); n > 0 {
		return i + n
	}
	return len(compact)
}

// stringEnd returns how long the rest of a string is, with its closing quote.
func stringEnd(rest []byte) int {
	n := 0
	for {
		q := bytes.IndexByte(rest[n:], '"')
		escapes := 0
		for escapes < q && rest[n+q-1-escapes] == '\\' {
			escapes++
		}
		n += q + 1
		if escapes%2 == 0 {
			return n
		}
	}
}
