package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// node is one value of a JSON text. Requests of agents are mostly long texts
// inside values whose type differs from case to case (a text or a list of
// blocks), which encoding/json reads several times over: a body of 115 KB took
// it 0.8 ms, and takes a tenth of that as a tree over the bytes.
//
// A tree points into the text and into the parser's desk. It holds for as long as
// both are left alone; what text, bytes and the numbers return does not depend on
// them. An owned node, which a session remembers, points into memory of its own.
type node struct {
	kind byte   // '{', '[', '"', '0' for a number, 't', 'f', 'n', or 0 if absent
	at   int    // where it begins in the text
	key  []byte // of a member of an object, its escapes resolved
	raw  []byte // as it was written; of an owned node it is src
	val  []byte // of a string, its escapes resolved; of an owned node it is str
	kids []node
	src  string // not "" if the node is owned
	str  string
	// What a session remembers of it, nil if it does not.
	known *value
	past  *past // of a list whose first elements are known: kids are the others
}

// maxDepth bounds nesting, so that a hostile body cannot exhaust the stack.
const maxDepth = 200

// maxValues bounds how many values a body may have, so that one of nothing but
// commas cannot fill the memory: each takes more than a hundred bytes as a node.
const maxValues = 1 << 20

var errJSON = errors.New("the body is no JSON")

// parseJSON reads one JSON value with nothing behind it.
func parseJSON(b []byte) (node, error) { return parseWithin(b, &desk{}, nil) }

// parseWithin is parseJSON on a desk. What the session remembers of earlier
// requests is not read again; r is nil if it remembers nothing.
func parseWithin(b []byte, d *desk, r *recall) (node, error) {
	if !utf8.Valid(b) {
		b = validUTF8(b)
	}
	p := parser{b: b, desk: d, recall: r}
	n, ok := p.value(0)
	p.space()
	if p.values > maxValues {
		return node{}, fmt.Errorf("the body has more than %d values", maxValues)
	}
	if !ok || p.i != len(b) {
		return node{}, fmt.Errorf("%w (near byte %d)", errJSON, p.i)
	}
	return n, nil
}

type parser struct {
	b      []byte
	i      int
	values int
	desk   *desk
	recall *recall
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
	p.values++
	if p.i >= len(p.b) || depth > maxDepth || p.values > maxValues {
		return node{}, false
	}
	start := p.i
	n, ok := p.bare(depth)
	n.at, n.raw = start, p.b[start:p.i]
	return n, ok
}

func (p *parser) bare(depth int) (node, bool) {
	switch c := p.b[p.i]; c {
	case '{':
		p.i++
		kids, ok := p.list('}', func() (node, bool) { return p.member(depth + 1) })
		return node{kind: c, kids: kids}, ok
	case '[':
		p.i++
		kids, ok := p.list(']', func() (node, bool) { return p.value(depth + 1) })
		return node{kind: c, kids: kids}, ok
	case '"':
		val, ok := p.str()
		return node{kind: c, val: val}, ok
	case 't':
		return node{kind: c}, p.word("true")
	case 'f':
		return node{kind: c}, p.word("false")
	case 'n':
		return node{kind: c}, p.word("null")
	}
	return node{kind: '0'}, p.number()
}

// list reads what stands between brackets, the first of which was read.
func (p *parser) list(end byte, one func() (node, bool)) ([]node, bool) {
	if p.next(end) {
		return nil, true
	}
	return p.rest(end, one)
}

// rest reads what is left of a list, from the beginning of an element.
func (p *parser) rest(end byte, one func() (node, bool)) ([]node, bool) {
	begun := len(p.desk.open)
	for {
		n, ok := one()
		if !ok {
			return nil, false
		}
		p.desk.open = append(p.desk.open, n)
		if p.next(end) {
			return p.desk.close(begun), true
		}
		if !p.next(',') {
			return nil, false
		}
	}
}

func (p *parser) member(depth int) (node, bool) {
	p.space()
	if p.i >= len(p.b) || p.b[p.i] != '"' {
		return node{}, false
	}
	key, ok := p.str()
	if !ok || !p.next(':') {
		return node{}, false
	}
	var n node
	if depth == 1 && p.recall != nil {
		n, ok = p.part(string(key))
	} else {
		n, ok = p.value(depth)
	}
	n.key = key
	return n, ok
}

// part reads a member of the request itself, unless it is one that the session
// remembers.
func (p *parser) part(name string) (node, bool) {
	p.space()
	if name == p.recall.list && p.i < len(p.b) && p.b[p.i] == '[' {
		return p.talk()
	}
	if n, ok := p.recall.value(name, p.b[p.i:]); ok {
		p.i += len(n.src)
		return n, true
	}
	n, ok := p.value(1)
	if ok {
		n = p.recall.keep(name, n)
	}
	return n, ok
}

// talk reads the list of a conversation, from where it is new: agents send again
// what they have sent and add to it.
func (p *parser) talk() (node, bool) {
	n := node{kind: '[', at: p.i}
	p.i++
	begun := p.i
	n.past = &past{talk: p.recall.memory.take(p.recall.wire, p.b[begun:])}
	p.i += n.past.talk.last().text
	one := func() (node, bool) { return p.value(2) }
	ok := true
	switch {
	case p.i == begun:
		n.kids, ok = p.list(']', one)
	case p.next(']'):
	case p.next(','):
		n.kids, ok = p.rest(']', one)
	default:
		ok = false
	}
	n.raw, n.past.text = p.b[n.at:p.i], p.b[begun:p.i]
	return n, ok
}

func (p *parser) word(w string) bool {
	if !bytes.HasPrefix(p.b[p.i:], []byte(w)) {
		return false
	}
	p.i += len(w)
	return true
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
			if k := &n.kids[i]; k.kind != 'n' && string(k.key) == name {
				return *k
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
	if n.src != "" {
		return n.str
	}
	return string(n.val)
}

// written is the value as it was written.
func (n node) written() string {
	if n.src != "" {
		return n.src
	}
	return string(n.raw)
}

// bytes is the value as it was written, in memory that is the caller's own: the
// body that a node points into may be large, and what is kept of it small.
func (n node) bytes() []byte {
	if n.src != "" {
		return []byte(n.src)
	}
	return bytes.Clone(n.raw)
}

// float is the value of a number; nil of anything else, and of one that is out
// of range.
func (n node) float() *float64 {
	if n.kind != '0' {
		return nil
	}
	f, err := strconv.ParseFloat(n.written(), 64)
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
	i, err := strconv.ParseInt(n.written(), 10, 64)
	if err != nil {
		i = int64(*f) // such as 1e3
	}
	return &i
}
