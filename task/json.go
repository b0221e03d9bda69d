package task

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"unicode/utf8"
)

// maxDepth bounds the nesting of a value: deeper ones would exhaust the stack.
const maxDepth = 1000

// maxValues bounds the values of one item.
const maxValues = 1 << 20

// reader reads JSON as encoding/json with UseNumber does, which its tests hold it to.
// It replaces that decoder because of what the decoder lacks: NaN and
// infinities, which Python writes, as float64; the line of each item and the column of
// a fault; which key an object has twice; bounds of depth and of values before memory
// is taken. Strings with escapes and numbers are judged by encoding/json.
type reader struct {
	data   []byte
	pos    int
	depth  int
	values int // read so far, of an item

	repeated string // a key that occurred twice in one object since it was last taken

	counted int // up to where lines are counted
	line    int // of data[counted]
}

func newReader(data []byte, line int) *reader { return &reader{data: data, line: line} }

// lineHere returns the line of the current position.
func (p *reader) lineHere() int {
	if p.pos > p.counted {
		p.line += bytes.Count(p.data[p.counted:p.pos], []byte("\n"))
		p.counted = p.pos
	}
	return p.line
}

func (p *reader) fail(format string, args ...any) error {
	column := p.pos - bytes.LastIndexByte(p.data[:p.pos], '\n')
	return &syntaxError{Line: p.lineHere(), Msg: fmt.Sprintf(format, args...) + fmt.Sprintf(" (column %d)", column)}
}

// syntaxError is a fault of a file's syntax.
type syntaxError struct {
	Line int
	Msg  string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

func (p *reader) space() {
	for p.pos < len(p.data) {
		switch p.data[p.pos] {
		case ' ', '\t', '\r', '\n':
			p.pos++
		default:
			return
		}
	}
}

// peek returns the next byte that is not white space, 0 at the end.
func (p *reader) peek() byte {
	p.space()
	if p.pos == len(p.data) {
		return 0
	}
	return p.data[p.pos]
}

// end fails unless nothing but white space is left.
func (p *reader) end() error {
	if p.peek() != 0 || p.pos < len(p.data) {
		return p.fail("unexpected %s after the end of the value", p.describeNext())
	}
	return nil
}

// describeNext describes what is at the current position. It shows one character: what
// is no JSON may be a file of keys.
func (p *reader) describeNext() string {
	if p.pos >= len(p.data) {
		return "end"
	}
	r, size := utf8.DecodeRune(p.data[p.pos:])
	if r == utf8.RuneError && size <= 1 {
		return fmt.Sprintf("byte 0x%02x", p.data[p.pos])
	}
	return fmt.Sprintf("%q", r)
}

func (p *reader) value() (any, error) {
	if p.values++; p.values > maxValues {
		return nil, p.fail("more than %d values in one task", maxValues)
	}
	switch c := p.peek(); {
	case c == '{':
		m := map[string]any{}
		err := p.object(func(key string) error {
			if _, twice := m[key]; twice {
				p.repeated = key
			}
			v, err := p.value()
			m[key] = v
			return err
		})
		return m, err
	case c == '[':
		list := []any{}
		err := p.array(func() error {
			v, err := p.value()
			list = append(list, v)
			return err
		})
		return list, err
	case c == '"':
		return p.string()
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	return p.word()
}

// item reads a value that represents an item.
func (p *reader) item(key string) (Item, error) {
	it := Item{Key: key, Line: p.lineHere()}
	p.repeated = ""
	var err error
	it.Value, err = p.value()
	it.repeated = p.repeated
	return it, err
}

func (p *reader) word() (any, error) {
	for _, w := range []struct {
		text  string
		value any
	}{{"null", nil}, {"true", true}, {"false", false}, {"NaN", math.NaN()}, {"Infinity", math.Inf(1)}} {
		if bytes.HasPrefix(p.data[p.pos:], []byte(w.text)) {
			p.pos += len(w.text)
			return w.value, nil
		}
	}
	return nil, p.fail("a JSON value expected, found %s", p.describeNext())
}

func (p *reader) enter() error {
	if p.depth++; p.depth > maxDepth {
		return p.fail("nested deeper than %d levels", maxDepth)
	}
	p.pos++
	return nil
}

// array calls each at every element.
func (p *reader) array(each func() error) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer func() { p.depth-- }()
	if p.peek() == ']' {
		p.pos++
		return nil
	}
	for {
		p.space()
		if err := each(); err != nil {
			return err
		}
		switch p.peek() {
		case ',':
			p.pos++
		case ']':
			p.pos++
			return nil
		default:
			return p.fail("comma or ] expected, found %s", p.describeNext())
		}
	}
}

// object calls each at the value of every key.
func (p *reader) object(each func(key string) error) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer func() { p.depth-- }()
	if p.peek() == '}' {
		p.pos++
		return nil
	}
	for {
		if p.peek() != '"' {
			return p.fail("a key in double quotes expected, found %s", p.describeNext())
		}
		key, err := p.string()
		if err != nil {
			return err
		}
		if p.peek() != ':' {
			return p.fail("colon expected after a key, found %s", p.describeNext())
		}
		p.pos++
		p.space()
		if err := each(key); err != nil {
			return err
		}
		switch p.peek() {
		case ',':
			p.pos++
		case '}':
			p.pos++
			return nil
		default:
			return p.fail("comma or } expected, found %s", p.describeNext())
		}
	}
}

func (p *reader) string() (string, error) {
	start := p.pos
	escaped := false
	for i := start + 1; i < len(p.data); i++ {
		switch c := p.data[i]; {
		case c == '\\':
			escaped = true
			i++
		case c == '"':
			p.pos = i + 1
			if !escaped {
				return string(p.data[start+1 : i]), nil
			}
			return p.unescape(start)
		case c < 0x20:
			p.pos = i
			return "", p.fail("control character 0x%02x in a string: write it as an escape (a line break is \\n)", c)
		}
	}
	p.pos = len(p.data)
	return "", p.fail("a string without a closing quote")
}

func (p *reader) unescape(start int) (string, error) {
	var s string
	if err := json.Unmarshal(p.data[start:p.pos], &s); err != nil {
		p.pos = start
		return "", p.fail("a string with an invalid escape")
	}
	return s, nil
}

func (p *reader) number() (any, error) {
	start := p.pos
	if bytes.HasPrefix(p.data[start:], []byte("-Infinity")) {
		p.pos += len("-Infinity")
		return math.Inf(-1), nil
	}
	for p.pos < len(p.data) && bytes.IndexByte([]byte("+-.eE0123456789"), p.data[p.pos]) >= 0 {
		p.pos++
	}
	if !validNumber(p.data[start:p.pos]) {
		p.pos = start
		return nil, p.fail("not a JSON number")
	}
	return json.Number(p.data[start:p.pos]), nil
}

// validNumber reports whether s is a number by the grammar of JSON.
func validNumber(s []byte) bool {
	return len(bytes.Trim(s, "+-.eE0123456789")) == 0 && json.Valid(s)
}
