package gateway

import (
	"slices"
	"sync"
	"sync/atomic"
)

// What is remembered of requests at most, in bytes, by one session and by all of
// a gateway.
const (
	maxRemembered = 16 << 20
	maxMemory     = 64 << 20
)

// maxTalks is how many conversations a session remembers: an agent may have some
// of its own at work. maxKnown is likewise for other values.
const (
	maxTalks = 16
	maxKnown = 32
)

// minValue is how long a value must be to be remembered: to read a short one
// again is as quick.
const minValue = 128

// memory is what a session remembers of the requests that it has read, so that
// it need not read it again: agents send the whole conversation and all of their
// tools with every request. It is a matter of speed only. What stands in a
// request is found to be known by comparing all of its bytes, and the same bytes
// mean the same.
type memory struct {
	total *atomic.Int64 // bytes remembered by the whole gateway

	mu     sync.Mutex
	talks  []*talk  // the latest first; one that is being continued is not among them
	values []*value // likewise; the list is not changed in place
	size   int
}

// value is a member of requests, such as the list of tools. It is not changed
// once it is known to others.
type value struct {
	wire  Wire
	name  string
	node  node // owned
	size  int
	tools atomic.Pointer[toolset] // what it means, if it is the list of tools
}

// take removes and returns the conversation that goes on furthest with text,
// which begins after the bracket of a list, cut to where it does. It returns an
// empty one if there is none.
func (m *memory) take(wire Wire, text []byte) *talk {
	m.mu.Lock()
	defer m.mu.Unlock()
	best, at := m.likely(wire, text)
	if best < 0 {
		best, at = m.closest(wire, text)
	}
	if best < 0 {
		return &talk{wire: wire}
	}
	t := m.talks[best]
	if t.last().elements-t.folds[at].elements > maxRetold {
		return t.fork(at)
	}
	m.drop(best)
	t.cut(at)
	return t
}

// likely is the conversation that goes on with text, and the fold up to which it
// does, found by the ends of their last folds; -1 if there is none.
func (m *memory) likely(wire Wire, text []byte) (best, at int) {
	best, most := -1, 0
	for i, t := range m.talks {
		if t.wire != wire {
			continue
		}
		if k := t.probe(text); k >= 0 && t.folds[k].text > most {
			best, at, most = i, k, t.folds[k].text
		}
	}
	if best >= 0 && common(m.talks[best].text[:most], text) < most {
		return -1, 0
	}
	return best, at
}

// closest is likewise, found by comparing everything.
func (m *memory) closest(wire Wire, text []byte) (best, at int) {
	best, most := -1, 0
	for i, t := range m.talks {
		if t.wire != wire {
			continue
		}
		if k := t.until(common(t.text, text)); k >= 0 && t.folds[k].text > most {
			best, at, most = i, k, t.folds[k].text
		}
	}
	return best, at
}

// known are the values that are remembered. The list is not to be changed.
func (m *memory) known() []*value {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values
}

// keep remembers a conversation, and puts values to the front: those of a request
// that were known, and those that were not.
func (m *memory) keep(t *talk, used, fresh []*value) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t != nil {
		m.talks = slices.Insert(m.talks, 0, t)
		m.add(t.size())
	}
	if len(fresh) > 0 {
		m.refresh(used, fresh)
	}
	for len(m.talks) > maxTalks || len(m.talks) > 0 && m.full() {
		m.drop(len(m.talks) - 1)
	}
	for len(m.values) > maxKnown || len(m.values) > 0 && m.full() {
		m.lose(len(m.values) - 1)
	}
}

func (m *memory) full() bool { return m.size > maxRemembered || m.total.Load() > maxMemory }

// refresh has the values of a request be the latest.
func (m *memory) refresh(used, fresh []*value) {
	list := make([]*value, 0, len(m.values)+len(fresh))
	list = append(list, fresh...)
	for _, v := range fresh {
		m.add(v.size)
	}
	for _, wanted := range []bool{true, false} {
		for _, v := range m.values {
			if slices.Contains(used, v) == wanted {
				list = append(list, v)
			}
		}
	}
	m.values = list
}

func (m *memory) add(size int) {
	m.size += size
	m.total.Add(int64(size))
}

// drop forgets a conversation.
func (m *memory) drop(i int) {
	m.add(-m.talks[i].size())
	m.talks = slices.Delete(m.talks, i, i+1)
}

// lose forgets a value.
func (m *memory) lose(i int) {
	m.add(-m.values[i].size)
	m.values = slices.Concat(m.values[:i], m.values[i+1:])
}

// forget drops everything.
func (m *memory) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.talks) > 0 {
		m.drop(len(m.talks) - 1)
	}
	for len(m.values) > 0 {
		m.lose(len(m.values) - 1)
	}
}

// recall is a request on its way into the memory. It is used by one goroutine.
// The nil recall remembers nothing.
type recall struct {
	memory      *memory
	wire        Wire
	list        string // the member in which the conversation stands
	known       []*value
	used, fresh []*value // of this request
}

// recall begins to read a request; m may be nil.
func (m *memory) recall(wire Wire, list string) *recall {
	if m == nil {
		return nil
	}
	return &recall{memory: m, wire: wire, list: list, known: m.known()}
}

// value returns the value that text begins with, if it is known as that member.
// It ends with a bracket or a quote of its own, so that nothing behind it can
// belong to it.
func (r *recall) value(name string, text []byte) (node, bool) {
	for _, v := range r.known {
		if v.wire != r.wire || v.name != name {
			continue
		}
		if src := v.node.src; len(src) <= len(text) && string(text[:len(src)]) == src {
			r.used = append(r.used, v)
			return v.node, true
		}
	}
	return node{}, false
}

// keep takes a value that was not known, and returns it in the form in which it
// is remembered.
func (r *recall) keep(name string, n node) node {
	if len(n.raw) < minValue || len(n.raw) > maxRemembered/4 || n.kind != '{' && n.kind != '[' && n.kind != '"' {
		return n
	}
	v := &value{wire: r.wire, name: name}
	o := owner{src: string(n.raw), base: n.at}
	v.node = o.own(n)
	v.node.known = v
	v.size = 2*len(o.src) + o.size // tools are kept in both of their forms
	r.fresh = append(r.fresh, v)
	return v.node
}

// learn remembers a request that was read, with its conversation.
func (r *recall) learn(c *conversation) {
	if r != nil {
		r.memory.keep(c.remembered(), r.used, r.fresh)
	}
}

// owner copies a tree out of the text of a request.
type owner struct {
	src  string // the text of the tree
	base int    // where that stood in the request
	size int    // bytes that were taken beside it
}

// nodeSize is about what a node takes, in bytes.
const nodeSize = 176

func (o *owner) own(n node) node {
	at := n.at - o.base
	own := node{kind: n.kind, key: slices.Clone(n.key), src: o.src[at : at+len(n.raw)]}
	if n.kind == '"' {
		own.str = o.text(n)
	}
	if n.kids != nil {
		own.kids = make([]node, len(n.kids))
		for i := range n.kids {
			own.kids[i] = o.own(n.kids[i])
		}
	}
	o.size += nodeSize + len(own.key)
	return own
}

// text is the value of a string. One that is most of the whole is a part of it;
// a small one must not keep all of that in memory.
func (o *owner) text(n node) string {
	at := n.at - o.base + 1
	if plain := len(n.val) == len(n.raw)-2; plain && 2*len(n.val) > len(o.src) {
		return o.src[at : at+len(n.val)]
	}
	o.size += len(n.val)
	return string(n.val)
}
