package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/trajectory"
)

// A file of outcomes may be 100 MB long, and what is asked of it is one task, or the names of
// its lists. A scan goes through it in chunks, distinguishes strings from brackets, and decodes those
// outcomes alone that are wanted. It holds a chunk, and of what it may have to decode one
// outcome or list at a time. What it is not sure of it leaves to the decoder of the whole file.

// errOdd says that a scan leaves a file to the decoder: it is damaged, or in a form that no
// program has written.
var errOdd = errors.New("not in the form of outcomes")

// chunk is how much of a file is read at once, in bytes.
const chunk = 256 << 10

// scanner reads JSON by its structure. Whether numbers and escapes are right it does not know.
type scanner struct {
	in   io.Reader
	buf  []byte
	at   int // of the next byte in buf
	keep int // from where on buf is still needed; -1: from at on
	read int // bytes, of the file
	err  error
}

// reset begins another file.
func (s *scanner) reset(in io.Reader) { *s = scanner{in: in, buf: s.buf[:0], keep: -1} }

// more reads a further chunk; false at the end of the file, or of what is read of one.
func (s *scanner) more() bool {
	if s.err != nil {
		return false
	}
	from := s.at
	if s.keep >= 0 {
		from = s.keep
		s.keep = 0
	}
	n := copy(s.buf, s.buf[from:])
	s.at -= from
	s.buf = slices.Grow(s.buf[:n], chunk)
	m, err := s.in.Read(s.buf[n : n+chunk])
	s.buf = s.buf[:n+m]
	if s.read += m; err == nil && s.read > maxFile {
		err = errOdd
	}
	s.err = err
	return m > 0
}

// next returns the next byte that is no white space, which stays; 0 at the end.
func (s *scanner) next() byte {
	for {
		for s.at < len(s.buf) {
			switch b := s.buf[s.at]; b {
			case ' ', '\n', '\t', '\r':
				s.at++
			default:
				return b
			}
		}
		if !s.more() && s.err != nil {
			return 0
		}
	}
}

// take takes the next byte if it is b.
func (s *scanner) take(b byte) bool {
	if s.next() != b {
		return false
	}
	s.at++
	return true
}

// members calls f at the beginning of each member between two brackets.
func (s *scanner) members(closing byte, f func() error) error {
	if s.at++; s.take(closing) {
		return nil
	}
	for {
		if err := f(); err != nil {
			return err
		}
		if s.take(closing) {
			return nil
		}
		if !s.take(',') {
			return errOdd
		}
	}
}

// text returns the string that begins at the next byte, as it is encoded, without its quotes. It
// holds until more is read.
func (s *scanner) text() ([]byte, error) {
	if s.next() != '"' {
		return nil, errOdd
	}
	kept := s.keep
	if kept < 0 {
		s.keep = s.at
	}
	from := s.at - s.keep
	err := s.skipText()
	text := s.buf[s.keep+from : s.at]
	if kept < 0 {
		s.keep = -1
	}
	if err != nil {
		return nil, err
	}
	return text[1 : len(text)-1], nil
}

// key returns the key of a member of an object; its value comes next.
func (s *scanner) key() (string, error) {
	text, err := s.text()
	if err != nil {
		return "", err
	}
	key, err := decodeString(text)
	if err == nil && !s.take(':') {
		err = errOdd
	}
	return key, err
}

// decodeString returns a string as the decoder reads it.
func decodeString(text []byte) (string, error) {
	if bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) {
		return string(text), nil
	}
	var out string
	if err := json.Unmarshal(slices.Concat([]byte{'"'}, text, []byte{'"'}), &out); err != nil {
		return "", errOdd
	}
	return out, nil
}

// skipText goes behind the string that begins at the next byte.
func (s *scanner) skipText() error {
	s.at++
	for {
		if i := findStringEnd(s.buf[s.at:]); i >= 0 {
			s.at += i
			return nil
		}
		s.at = len(s.buf) - backslashes(s.buf[s.at:])%2 // what follows may be escaped
		if !s.more() && s.err != nil {
			return errOdd
		}
	}
}

// findStringEnd returns the length of a string up to and with the quote that ends it, -1 if that
// quote is not in the text. The text does not begin within an escape.
func findStringEnd(text []byte) int {
	for from := 0; from < len(text); {
		i := bytes.IndexByte(text[from:], '"')
		if i < 0 {
			return -1
		}
		if at := from + i; backslashes(text[from:at])%2 == 0 {
			return at + 1
		} else if from = at + 1; from < len(text) {
			end := 0
			if end, from = stepwise(text, from); end > 0 {
				return end
			}
		}
	}
	return -1
}

// stepwise looks for the end of a string a byte at a time, as long as there are escapes: they
// come in swarms. It returns the end, or where to continue.
func stepwise(text []byte, at int) (end, on int) {
	const swarm = 48
	for last := at + swarm; at < min(last, len(text)); at++ {
		switch text[at] {
		case '"':
			return at + 1, 0
		case '\\':
			at++
			last = at + swarm
		}
	}
	return 0, at
}

// backslashes returns how many backslashes end a text.
func backslashes(text []byte) int {
	n := 0
	for n < len(text) && text[len(text)-1-n] == '\\' {
		n++
	}
	return n
}

// skip goes behind the next value.
func (s *scanner) skip() error {
	depth := 0
	for {
		switch s.next() {
		case '"':
			if err := s.skipText(); err != nil {
				return err
			}
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			if depth--; depth < 0 {
				return errOdd
			}
			s.at++
		case ',', ':':
			if depth == 0 {
				return errOdd
			}
			s.at++
			continue
		case 0:
			return errOdd
		default:
			s.skipPlain()
		}
		if depth == 0 {
			return nil
		}
	}
}

// skipPlain goes behind a number or a word.
func (s *scanner) skipPlain() {
	for {
		for s.at < len(s.buf) {
			switch s.buf[s.at] {
			case ',', ':', '}', ']', '{', '[', '"', ' ', '\n', '\t', '\r':
				return
			}
			s.at++
		}
		if !s.more() && s.err != nil {
			return
		}
	}
}

// null goes behind the next value, if it is null.
func (s *scanner) null() error {
	raw, err := s.value()
	if err == nil && string(raw) != "null" {
		err = errOdd
	}
	return err
}

// value returns the next value, as it is encoded. It holds until more is read.
func (s *scanner) value() ([]byte, error) {
	s.next()
	s.keep = s.at
	err := s.skip()
	raw := s.buf[s.keep:s.at]
	s.keep = -1
	return raw, err
}

// end reports whether the file ends here.
func (s *scanner) end() error {
	if s.next() != 0 || !errors.Is(s.err, io.EOF) {
		return errOdd
	}
	return nil
}

// lists goes through an object of lists by name; each is called with the name of one at its
// beginning.
func (s *scanner) lists(each func(name string) error) error {
	if s.next() == 'n' {
		if err := s.null(); err != nil {
			return err
		}
		return s.end()
	}
	if s.next() != '{' {
		return errOdd
	}
	err := s.members('}', func() error {
		name, err := s.key()
		if err != nil {
			return err
		}
		return each(name)
	})
	if err != nil {
		return err
	}
	return s.end()
}

// list reads of a list of outcomes, or of a list of such lists, those of a task.
func (s *scanner) list(task string) (out []trajectory.Outcome, err error) {
	if s.next() == 'n' {
		return nil, s.null()
	}
	if s.next() != '[' {
		return nil, errOdd
	}
	var kind byte // of its members
	err = s.members(']', func() error {
		switch b := s.next(); {
		case b == 'n':
			return s.null()
		case b != '{' && b != '[' || kind != 0 && b != kind:
			return errOdd
		default:
			kind = b
		}
		if kind == '{' {
			return s.outcome(task, &out)
		}
		return s.members(']', func() error {
			if s.next() == 'n' {
				return s.null()
			}
			return s.outcome(task, &out)
		})
	})
	return out, err
}

// outcome goes behind the outcome at the next byte, and adds it if it is of the task.
func (s *scanner) outcome(task string, to *[]trajectory.Outcome) error {
	if s.next() != '{' {
		return errOdd
	}
	if done, err := s.line(task, to); done || err != nil {
		return err
	}
	s.keep = s.at
	defer func() { s.keep = -1 }()
	known, wanted := false, false
	err := s.members('}', func() error {
		text, err := s.text()
		if err != nil {
			return err
		}
		is, err := isID(text)
		switch {
		case err != nil:
			return err
		case !s.take(':'), is && known: // the last of two counts
			return errOdd
		case !is:
			return s.skip()
		}
		if text, err = s.text(); err != nil {
			return err
		}
		id, err := decodeString(text)
		if known, wanted = true, id == task; !wanted {
			s.keep = -1
		}
		return err
	})
	if err != nil || !wanted {
		return err
	}
	var o trajectory.Outcome
	if json.Unmarshal(s.buf[s.keep:s.at], &o) != nil {
		return errOdd
	}
	*to = append(*to, o)
	return nil
}

// How a line of trajectory.Outcomes begins: with the id, behind which comes one of two members.
const lineHead = `{"id":"`

var lineNext = [2][]byte{[]byte(`,"type":"`), []byte(`,"status":"`)}

// line reads an outcome as outcome does, if it is on a line of its own, as programs write them;
// done is false of another, and nothing has happened. JSON has no line breaks within strings: the
// next one ends the outcome, and of a line with another id nothing after that id is looked at.
func (s *scanner) line(task string, to *[]trajectory.Outcome) (done bool, err error) {
	if s.at == 0 || s.buf[s.at-1] != '\n' {
		return false, nil
	}
	line, whole := s.rest()
	object := bytes.TrimSuffix(line, []byte{','})
	if !whole || !bytes.HasPrefix(object, []byte(lineHead)) || object[len(object)-1] != '}' {
		return false, nil
	}
	n := findStringEnd(object[len(lineHead):])
	if n < 0 {
		return false, nil
	}
	text, behind := object[len(lineHead):len(lineHead)+n-1], object[len(lineHead)+n:]
	if !bytes.HasPrefix(behind, lineNext[0]) && !bytes.HasPrefix(behind, lineNext[1]) {
		return false, nil
	}
	is, err := means(text, task)
	if err != nil {
		return false, err
	}
	if is {
		var o trajectory.Outcome
		if json.Unmarshal(object, &o) != nil || o.ID != task {
			return false, errOdd
		}
		*to = append(*to, o)
	}
	s.at += len(object)
	return true, nil
}

// rest returns what is left of the line at the next byte, without its line break; false where a
// chunk does not reach that.
func (s *scanner) rest() (line []byte, whole bool) {
	i := bytes.IndexByte(s.buf[s.at:], '\n')
	if i < 0 {
		seen := len(s.buf) - s.at
		s.keep = s.at - 1 // the line break before it
		s.more()
		s.keep = -1
		if i = bytes.IndexByte(s.buf[s.at+seen:], '\n'); i < 0 {
			return nil, false
		}
		i += seen
	}
	return s.buf[s.at : s.at+i], true
}

// means reports whether an encoded string is that of a text.
func means(text []byte, is string) (bool, error) {
	if bytes.IndexByte(text, '\\') < 0 && (string(text) == is || utf8.Valid(text)) {
		return string(text) == is, nil
	}
	out, err := decodeString(text)
	return out == is, err
}

// isID reports whether an encoded key is that of the id, however the decoder finds it.
func isID(key []byte) (bool, error) {
	if len(key) == 2 {
		return (key[0] == 'i' || key[0] == 'I') && (key[1] == 'd' || key[1] == 'D'), nil
	}
	if bytes.IndexByte(key, '\\') < 0 {
		return false, nil
	}
	text, err := decodeString(key)
	if err != nil || len(text) != 2 {
		return false, err
	}
	return isID([]byte(text))
}

// through has f scan a file of a run, if there is one. What f says is odd is errOdd.
func (s *scanner) through(r *Run, name string, f func() error) error {
	file, found, err := r.open(name)
	if err != nil || !found {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	s.reset(file)
	if err = f(); err != nil && s.err != nil && !errors.Is(s.err, io.EOF) && !errors.Is(s.err, errOdd) {
		err = fmt.Errorf("read run: %w", s.err)
	}
	return err
}
