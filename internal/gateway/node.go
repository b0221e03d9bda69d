package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// node is one value of a JSON text. Requests of agents
// have values whose type differs from case to case (a text or a list of blocks)
// and values that are passed on as they were written, for which its types have no place.
type node struct {
	kind byte   // '{', '[', '"', '0' for a number, 't', 'f', 'n', or 0 if absent
	at   int    // where it begins in the text
	key  string // of a member of an object
	raw  string // as it was written
	str  string // of a string
	kids []node
}

// maxDepth bounds nesting, so that a hostile body cannot exhaust the stack.
const maxDepth = 200

// maxValues bounds how many values a body may have, so that one of nothing but
// commas cannot fill the memory: each takes more than a hundred bytes as a node.
const maxValues = 1 << 20

var errJSON = errors.New("the body is no JSON")

// parseJSON reads one JSON value with nothing behind it. Bytes that are no UTF-8
// are U+FFFD.
func parseJSON(b []byte) (node, error) {
	if !json.Valid(b) {
		return node{}, errJSON
	}
	text := string(b)
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	p := parser{}
	n := p.value(gjson.Parse(text), 0)
	switch {
	case p.values > maxValues:
		return node{}, fmt.Errorf("the body has more than %d values", maxValues)
	case p.deep:
		return node{}, fmt.Errorf("the body is nested more than %d deep", maxDepth)
	}
	return n, nil
}

// parser makes a tree of a text that is valid, and gives up beyond the bounds.
type parser struct {
	values int
	deep   bool
}

func (p *parser) value(r gjson.Result, depth int) node {
	p.values++
	n := node{kind: r.Raw[0], at: r.Index, raw: r.Raw}
	switch n.kind {
	case '{', '[':
		p.deep = p.deep || depth == maxDepth
		if p.deep {
			break
		}
		r.ForEach(func(key, value gjson.Result) bool {
			kid := p.value(value, depth+1)
			if key.Type == gjson.String {
				kid.key = plain(key)
			}
			n.kids = append(n.kids, kid)
			return !p.deep && p.values <= maxValues
		})
	case '"':
		n.str = plain(r)
	case 't', 'f', 'n':
	default:
		n.kind = '0'
	}
	return n
}

// plain returns the value of a string. Half of a surrogate pair becomes U+FFFD, which encoding/json
// knows best.
func plain(r gjson.Result) string {
	var s string
	if strings.Contains(r.Raw, `\u`) && json.Unmarshal([]byte(r.Raw), &s) == nil {
		return s
	}
	if strings.Contains(r.Raw, `\`) {
		return r.Str // it has been copied
	}
	return strings.Clone(r.Str)
}

// get returns the member of the first of these names that an object has and
// that is not null. Of a name that occurs twice the last counts.
func (n node) get(names ...string) node {
	if n.kind != '{' {
		return node{}
	}
	for _, name := range names {
		for i := len(n.kids) - 1; i >= 0; i-- {
			if k := &n.kids[i]; k.kind != 'n' && k.key == name {
				return *k
			}
		}
	}
	return node{}
}

// each returns the elements of a list, none of anything else.
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
func (n node) isFalse() bool  { return n.kind == 'f' }

// text returns the value of a string, "" of anything else.
func (n node) text() string { return n.str }

// rawText returns the value as it was written.
func (n node) rawText() string { return strings.Clone(n.raw) }

// bytes returns the value as it was written, in memory that is the caller's own: the body that a
// node points into may be large, and what is kept of it small.
func (n node) bytes() []byte { return []byte(n.raw) }

// float returns the value of a number. It returns nil of anything else, and of a number that is out
// of range.
func (n node) float() *float64 {
	if n.kind != '0' {
		return nil
	}
	f, err := strconv.ParseFloat(n.raw, 64)
	if err != nil {
		return nil
	}
	return &f
}

// integer returns the value of a whole number, nil of anything else.
func (n node) integer() *int64 {
	f := n.float()
	if f == nil || *f != math.Trunc(*f) || math.Abs(*f) > 1<<53 {
		return nil
	}
	i, err := strconv.ParseInt(n.raw, 10, 64)
	if err != nil {
		i = int64(*f) // such as 1e3
	}
	return &i
}
