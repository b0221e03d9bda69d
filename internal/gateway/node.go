package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// node is one value of a JSON text. Requests of agents are mostly long texts
// inside values whose type differs from case to case (a text or a list of
// blocks), which encoding/json reads several times over: a body of 115 KB took
// it 0.8 ms, and takes a tenth of that as a tree over the bytes.
type node struct {
	kind byte   // '{', '[', '"', '0' for a number, 't', 'f', 'n', or 0 if absent
	key  []byte // of a member of an object, with its quotes
	raw  []byte
	kids []node
}

// maxDepth bounds nesting, so that a hostile body cannot exhaust the stack.
const maxDepth = 200

var errJSON = errors.New("the body is no JSON")

// parseJSON reads one JSON value with nothing behind it.
func parseJSON(b []byte) (node, error) {
	p := parser{b: b}
	n, ok := p.value(0)
	p.space()
	if !ok || p.i != len(b) {
		return node{}, fmt.Errorf("%w (near byte %d)", errJSON, p.i)
	}
	return n, nil
}

type parser struct {
	b []byte
	i int
}

func (p *parser) space() {
	for p.i < len(p.b) {
		switch p.b[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
		default:
			return
		}
	}
}

// next skips white space and takes c if it is there.
func (p *parser) next(c byte) bool {
	p.space()
	if p.i < len(p.b) && p.b[p.i] == c {
		p.i++
		return true
	}
	return false
}

func (p *parser) value(depth int) (node, bool) {
	p.space()
	if p.i >= len(p.b) || depth > maxDepth {
		return node{}, false
	}
	start := p.i
	n, ok := p.bare(depth)
	n.raw = p.b[start:p.i]
	return n, ok
}

func (p *parser) bare(depth int) (node, bool) {
	switch c := p.b[p.i]; c {
	case '{':
		kids, ok := p.list('}', func() (node, bool) { return p.member(depth + 1) })
		return node{kind: c, kids: kids}, ok
	case '[':
		kids, ok := p.list(']', func() (node, bool) { return p.value(depth + 1) })
		return node{kind: c, kids: kids}, ok
	case '"':
		return node{kind: c}, p.str()
	case 't':
		return node{kind: c}, p.word("true")
	case 'f':
		return node{kind: c}, p.word("false")
	case 'n':
		return node{kind: c}, p.word("null")
	}
	return node{kind: '0'}, p.number()
}

// list reads what stands between brackets.
func (p *parser) list(end byte, one func() (node, bool)) ([]node, bool) {
	p.i++
	if p.next(end) {
		return nil, true
	}
	var kids []node
	for {
		n, ok := one()
		if !ok {
			return nil, false
		}
		kids = append(kids, n)
		if p.next(end) {
			return kids, true
		}
		if !p.next(',') {
			return nil, false
		}
	}
}

func (p *parser) member(depth int) (node, bool) {
	p.space()
	start := p.i
	if p.i >= len(p.b) || p.b[p.i] != '"' || !p.str() {
		return node{}, false
	}
	key := p.b[start:p.i]
	if !p.next(':') {
		return node{}, false
	}
	n, ok := p.value(depth)
	n.key = key
	return n, ok
}

func (p *parser) word(w string) bool {
	if !bytes.HasPrefix(p.b[p.i:], []byte(w)) {
		return false
	}
	p.i += len(w)
	return true
}

// str skips a string and checks it.
func (p *parser) str() bool {
	for p.i++; p.i < len(p.b); p.i++ {
		switch c := p.b[p.i]; {
		case c > '\\': // most letters
		case c == '"':
			p.i++
			return true
		case c < ' ':
			return false
		case c == '\\':
			p.i++
			if p.i >= len(p.b) || !p.escape() {
				return false
			}
		}
	}
	return false
}

// escape checks what follows a backslash and stops at its last byte.
func (p *parser) escape() bool {
	switch p.b[p.i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
		if _, ok := hex4(p.b[p.i+1:]); ok {
			p.i += 4
			return true
		}
	}
	return false
}

func (p *parser) digits() bool {
	start := p.i
	for p.i < len(p.b) && p.b[p.i] >= '0' && p.b[p.i] <= '9' {
		p.i++
	}
	return p.i > start
}

func (p *parser) number() bool {
	p.take('-')
	if !p.take('0') && !p.digits() {
		return false
	}
	if p.take('.') && !p.digits() {
		return false
	}
	if p.take('e') || p.take('E') {
		if !p.take('+') {
			p.take('-')
		}
		return p.digits()
	}
	return true
}

func (p *parser) take(c byte) bool {
	if p.i < len(p.b) && p.b[p.i] == c {
		p.i++
		return true
	}
	return false
}

// get returns the member of the first of these names that an object has and
// that is not null. Of a name that stands twice the last counts.
func (n node) get(names ...string) node {
	if n.kind != '{' {
		return node{}
	}
	for _, name := range names {
		for i := len(n.kids) - 1; i >= 0; i-- {
			if k := n.kids[i]; k.kind != 'n' && string(k.key[1:len(k.key)-1]) == name {
				return k
			}
		}
	}
	return node{}
}

// each are the elements of a list; none of anything else.
func (n node) each() []node {
	if n.kind != '[' {
		return nil
	}
	return n.kids
}

func (n node) present() bool  { return n.kind != 0 && n.kind != 'n' }
func (n node) isText() bool   { return n.kind == '"' }
func (n node) isList() bool   { return n.kind == '[' }
func (n node) isObject() bool { return n.kind == '{' }
func (n node) isTrue() bool   { return n.kind == 't' }

// text is the value of a string, "" of anything else.
func (n node) text() string {
	if n.kind != '"' {
		return ""
	}
	return unquote(n.raw[1 : len(n.raw)-1])
}

// float is the value of a number; nil of anything else, and of one that is out
// of range.
func (n node) float() *float64 {
	if n.kind != '0' {
		return nil
	}
	f, err := strconv.ParseFloat(string(n.raw), 64)
	if err != nil {
		return nil
	}
	return &f
}

// integer is the value of a whole number; nil of anything else.
func (n node) integer() *int64 {
	f := n.float()
	if f == nil || *f != math.Trunc(*f) || math.Abs(*f) > 1<<53 {
		return nil
	}
	i, err := strconv.ParseInt(string(n.raw), 10, 64)
	if err != nil {
		i = int64(*f) // such as 1e3
	}
	return &i
}

// bytes returns a copy of the value as it was written: the body that it points
// into may be large, and what is kept of it small.
func (n node) bytes() []byte { return bytes.Clone(n.raw) }

// unquote resolves the escapes of a string that the parser has checked. What is
// no UTF-8 becomes U+FFFD, as encoding/json does it.
func unquote(b []byte) string {
	clean := utf8.Valid(b)
	if clean && bytes.IndexByte(b, '\\') < 0 {
		return string(b)
	}
	var out strings.Builder
	out.Grow(len(b))
	for len(b) > 0 {
		at := bytes.IndexByte(b, '\\')
		if at < 0 {
			at = len(b)
		}
		if clean {
			out.Write(b[:at])
		} else {
			writeValid(&out, b[:at])
		}
		b = b[at:]
		if len(b) > 0 {
			b = unescape(&out, b)
		}
	}
	return out.String()
}

// writeValid writes b and replaces every byte that is no UTF-8.
func writeValid(out *strings.Builder, b []byte) {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		out.WriteRune(r)
		b = b[size:]
	}
}

// unescape resolves the escape that b begins with, and returns what follows it.
func unescape(out *strings.Builder, b []byte) []byte {
	c := b[1]
	switch c {
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return unescapeRune(out, b)
	}
	out.WriteByte(c) // also a quote, a backslash, a slash
	return b[2:]
}

// unescapeRune resolves \uXXXX, and two of them that are one rune.
func unescapeRune(out *strings.Builder, b []byte) []byte {
	r, _ := hex4(b[2:])
	b = b[6:]
	if utf16.IsSurrogate(r) {
		high := r
		r = utf8.RuneError
		if len(b) >= 6 && b[0] == '\\' && b[1] == 'u' {
			low, _ := hex4(b[2:])
			if pair := utf16.DecodeRune(high, low); pair != utf8.RuneError {
				r, b = pair, b[6:]
			}
		}
	}
	out.WriteRune(r)
	return b
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
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
