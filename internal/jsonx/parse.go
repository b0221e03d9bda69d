package jsonx

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds the nesting that is read, so that a hostile reply cannot
// exhaust the stack.
const maxDepth = 1000

// parser reads one JSON value by the rules of Python's json.loads, which the
// golden vectors were recorded with: RFC 8259 plus NaN, Infinity, -Infinity
// and lone surrogates (read as U+FFFD). The last of repeated keys wins.
type parser struct {
	s      string
	i      int
	depth  int
	repair bool

	repeated *string // the first key that occurred twice in an object
}

// parse reads s as one JSON value with nothing but white space around it.
func parse(s string) (any, error) { return parseDocument(&parser{s: s}) }

func parseDocument(p *parser) (any, error) {
	v, err := p.document()
	if err != nil {
		return nil, err
	}
	if p.i < len(p.s) {
		return nil, p.fault("unexpected " + p.here() + " after the JSON value")
	}
	return v, nil
}

// repairDocument reads all of a text as one value that is complete, but may have trailing
// commas, comments, True, False, None, raw control characters in strings, and
// more closing brackets at its end than were opened.
func repairDocument(p *parser) (any, error) {
	v, err := p.document()
	if err != nil {
		return nil, err
	}
	if strings.Trim(p.s[p.i:], "}] \t\r\n") != "" {
		return nil, p.fault("unexpected " + p.here() + " after the JSON value")
	}
	return v, nil
}

func (p *parser) document() (any, error) {
	if err := p.space(); err != nil {
		return nil, err
	}
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	return v, p.space()
}

func (p *parser) fault(msg string) error { return &Error{Offset: p.i, Msg: msg} }

// here describes what is at the current place.
func (p *parser) here() string {
	if p.i >= len(p.s) {
		return "end of the text"
	}
	r, _ := utf8.DecodeRuneInString(p.s[p.i:])
	return fmt.Sprintf("%q", r)
}

func (p *parser) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

// space skips white space and, when repairing, comments.
func (p *parser) space() error {
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			p.i++
		case c == '/' && p.repair:
			if err := p.comment(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

func (p *parser) comment() error {
	rest := p.s[p.i:]
	end, skip := -1, 0
	switch {
	case strings.HasPrefix(rest, "//"):
		end, skip = strings.IndexByte(rest, '\n'), 1
	case strings.HasPrefix(rest, "/*"):
		if end = strings.Index(rest[2:], "*/"); end >= 0 {
			end, skip = end+2, 2
		}
	}
	if end < 0 {
		return p.fault("unexpected '/'")
	}
	p.i += end + skip
	return nil
}

func (p *parser) value() (any, error) {
	switch c := p.peek(); {
	case c == '{':
		return p.descend(p.object)
	case c == '[':
		return p.descend(p.array)
	case c == '"':
		return p.str()
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	for _, l := range literals() {
		if (p.repair || !l.repaired) && strings.HasPrefix(p.s[p.i:], l.word) {
			p.i += len(l.word)
			return l.value, nil
		}
	}
	return nil, p.fault("a JSON value is expected where there is " + p.here())
}

type literal struct {
	word     string
	value    any
	repaired bool // not JSON, read only when repairing
}

func literals() [8]literal {
	return [...]literal{
		{word: "true", value: true},
		{word: "false", value: false},
		{word: "null"},
		{word: "NaN", value: math.NaN()},
		{word: "Infinity", value: math.Inf(1)},
		{word: "True", value: true, repaired: true},
		{word: "False", value: false, repaired: true},
		{word: "None", repaired: true},
	}
}

func (p *parser) descend(read func() (any, error)) (any, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fault(fmt.Sprintf("nested deeper than %d levels", maxDepth))
	}
	p.i++
	if err := p.space(); err != nil {
		return nil, err
	}
	v, err := read()
	p.depth--
	return v, err
}

func (p *parser) object() (any, error) {
	m := map[string]any{}
	if p.acceptEnd('}') {
		return m, nil
	}
	for {
		if p.peek() != '"' {
			return nil, p.fault("a key in double quotes is expected where there is " + p.here())
		}
		key, err := p.str()
		if err != nil {
			return nil, err
		}
		if err := p.colon(); err != nil {
			return nil, err
		}
		if _, twice := m[key]; twice && p.repeated == nil {
			p.repeated = &key
		}
		if m[key], err = p.value(); err != nil {
			return nil, err
		}
		done, err := p.next('}')
		if err != nil {
			return nil, err
		}
		if done {
			return m, nil
		}
	}
}

func (p *parser) array() (any, error) {
	list := []any{}
	if p.acceptEnd(']') {
		return list, nil
	}
	for {
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		done, err := p.next(']')
		if err != nil {
			return nil, err
		}
		if done {
			return list, nil
		}
	}
}

func (p *parser) acceptEnd(end byte) bool {
	if p.peek() != end {
		return false
	}
	p.i++
	return true
}

func (p *parser) colon() error {
	if err := p.space(); err != nil {
		return err
	}
	if p.peek() != ':' {
		return p.fault("':' is expected where there is " + p.here())
	}
	p.i++
	return p.space()
}

// next reads what follows a member: a comma and the space up to the next
// member, or the end of the value, which it reports.
func (p *parser) next(end byte) (done bool, err error) {
	if err := p.space(); err != nil {
		return false, err
	}
	if p.acceptEnd(end) {
		return true, nil
	}
	if p.peek() != ',' {
		return false, p.fault(fmt.Sprintf("',' or %q is expected where there is %s", end, p.here()))
	}
	p.i++
	if err := p.space(); err != nil {
		return false, err
	}
	return p.repair && p.acceptEnd(end), nil
}

func (p *parser) number() (any, error) {
	rest := p.s[p.i:]
	if strings.HasPrefix(rest, "-Infinity") {
		p.i += len("-Infinity")
		return math.Inf(-1), nil
	}
	n := numberLen(rest)
	if n == 0 {
		return nil, p.fault("'-' without a number")
	}
	p.i += n
	return json.Number(rest[:n]), nil
}

// numberLen returns the length of the number at the start of s, 0 if there is none. A fraction or
// exponent without digits is left for the caller to stumble on.
func numberLen(s string) int {
	i := 0
	if s[0] == '-' {
		i++
	}
	digits := digitsLen(s[i:])
	if digits == 0 {
		return 0
	}
	if s[i] == '0' {
		digits = 1
	}
	i += digits
	if strings.HasPrefix(s[i:], ".") {
		if n := digitsLen(s[i+1:]); n > 0 {
			i += 1 + n
		}
	}
	return i + exponentLen(s[i:])
}

func exponentLen(s string) int {
	if s == "" || s[0] != 'e' && s[0] != 'E' {
		return 0
	}
	i := 1
	if len(s) > 1 && (s[1] == '+' || s[1] == '-') {
		i++
	}
	n := digitsLen(s[i:])
	if n == 0 {
		return 0
	}
	return i + n
}

func digitsLen(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

func (p *parser) str() (string, error) {
	p.i++
	var b strings.Builder
	start := p.i
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == '"':
			b.WriteString(p.s[start:p.i])
			p.i++
			return strings.ToValidUTF8(b.String(), "\ufffd"), nil
		case c == '\\':
			b.WriteString(p.s[start:p.i])
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
			start = p.i
		case c < 0x20 && !p.repair:
			return "", p.fault(fmt.Sprintf("raw control character %q in a string", c))
		default:
			p.i++
		}
	}
	return "", p.fault("the text ends inside a string")
}

// escape reads an escape sequence; a surrogate pair is one rune.
func (p *parser) escape() (rune, error) {
	if p.i+1 >= len(p.s) {
		return 0, p.fault("the text ends inside a string")
	}
	c := p.s[p.i+1]
	if c == 'u' {
		return p.unicodeEscape()
	}
	at := strings.IndexByte(`"\/bfnrt`, c)
	if at < 0 {
		return 0, p.fault(fmt.Sprintf(`\%c is no escape sequence`, c))
	}
	p.i += 2
	return rune("\"\\/\b\f\n\r\t"[at]), nil
}

func (p *parser) unicodeEscape() (rune, error) {
	r, ok := hex4(p.s[p.i+2:])
	if !ok {
		return 0, p.fault(`\u without four hexadecimal digits`)
	}
	p.i += 6
	if !utf16.IsSurrogate(r) {
		return r, nil
	}
	if strings.HasPrefix(p.s[p.i:], `\u`) {
		if low, ok := hex4(p.s[p.i+2:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				p.i += 6
				return pair, nil
			}
		}
	}
	return utf8.RuneError, nil
}

func hex4(s string) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	var r rune
	for i := range 4 {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
