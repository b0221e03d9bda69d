package wiring

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/seed-f4525e22/skillopt/internal/redact"
)

// pieces keeps credentials out of an answer whose text comes in pieces, one an event:
// each alone may hold a harmless part of a key, and their reader puts it
// together. An event in which a key may have begun waits for those that decide it; all that
// is passed on before is less than minOpen bytes of one. What no key is in stays
// byte by byte what it was.
type pieces struct {
	across func([]string) []string // texts without what is in all of them together
	ready  func(string) int        // how much of a text holds keys whole

	rest     []byte // of an event that is not whole
	queue    []*piecesEvent
	channels map[string]*channel
	held     int // bytes in queue
}

const (
	// minOpen is how many bytes of a key a text ends in for its event to wait. Fewer
	// are at the end of many texts, and say nothing.
	minOpen = 4
	// maxHeldEvents bounds what waits, in bytes. No key is so long that it is reached.
	maxHeldEvents = 4 << 20
)

// piecesEvent is an event up to the blank line behind it.
type piecesEvent struct {
	raw    []byte
	data   span // of its JSON in raw
	leaves []*leaf
}

type span struct{ begin, end int }

// leaf is a text in an event.
type leaf struct {
	at      span // in the JSON, with its quotes
	channel string
	text    string
	was     string
	settled bool
}

// channel is what the texts under one name make together.
type channel struct {
	past    string // of what was passed on: the end, in which a key may have begun
	waiting []*leaf
}

// add takes more of an answer, and returns what can be passed on.
func (p *pieces) add(b []byte) []byte {
	p.rest = append(p.rest, b...)
	for {
		end := eventEnd(p.rest)
		if end == 0 {
			break
		}
		p.take(bytes.Clone(p.rest[:end]))
		p.rest = append(p.rest[:0], p.rest[end:]...)
	}
	return p.release(p.held > maxHeldEvents)
}

// end returns what is left.
func (p *pieces) end() []byte {
	if len(p.rest) > 0 {
		p.take(p.rest)
		p.rest = nil
	}
	return p.release(true)
}

// eventEnd returns where the first event ends, behind its blank line; 0 if more of it
// is to come.
func eventEnd(b []byte) int {
	for from := 0; ; {
		i := bytes.IndexByte(b[from:], '\n')
		if i < 0 {
			return 0
		}
		from += i + 1
		if rest := bytes.TrimPrefix(b[from:], []byte("\r")); len(rest) > 0 && rest[0] == '\n' {
			return len(b) - len(rest) + 1
		}
	}
}

// take adds an event to those that wait.
func (p *pieces) take(raw []byte) {
	e := &piecesEvent{raw: raw}
	e.data, e.leaves = eventLeaves(raw)
	p.queue, p.held = append(p.queue, e), p.held+len(raw)
	if p.channels == nil {
		p.channels = map[string]*channel{}
	}
	for _, l := range e.leaves {
		c := p.channels[l.channel]
		if c == nil {
			c = &channel{}
			p.channels[l.channel] = c
		}
		c.waiting = append(c.waiting, l)
		p.look(c)
	}
}

// look masks what the texts of a channel hold together, and settles those that no
// later one can change.
func (p *pieces) look(c *channel) {
	texts := []string{c.past}
	for _, l := range c.waiting {
		texts = append(texts, l.text)
	}
	texts = p.across(texts)
	if texts[0] != c.past { // the mask belongs where the key continues
		i := 0
		for i < len(c.waiting)-1 && c.waiting[i].text == texts[i+1] {
			i++
		}
		texts[i+1] = redact.Mask + texts[i+1]
		texts[0] = c.past
	}
	whole := strings.Join(texts, "")
	open := p.ready(whole)
	if len(whole)-open < minOpen {
		open = len(whole)
	}
	at := len(texts[0])
	for i, l := range c.waiting {
		l.text = texts[i+1]
		at += len(l.text)
		l.settled = at <= open
	}
}

// release returns the events that wait for nothing, or all, up to the first that does.
func (p *pieces) release(all bool) []byte {
	var out []byte
	for len(p.queue) > 0 {
		e := p.queue[0]
		if !all && slices.ContainsFunc(e.leaves, func(l *leaf) bool { return !l.settled }) {
			break
		}
		out = append(out, e.bytes()...)
		for _, l := range e.leaves {
			c := p.channels[l.channel]
			past := c.past + l.text
			c.past = past[p.ready(past):]
			c.waiting = c.waiting[1:]
		}
		p.queue, p.held = p.queue[1:], p.held-len(e.raw)
	}
	return out
}

// bytes returns the event with the texts that its leaves have now.
func (e *piecesEvent) bytes() []byte {
	if !slices.ContainsFunc(e.leaves, func(l *leaf) bool { return l.text != l.was }) {
		return e.raw
	}
	out, from := []byte(nil), 0
	for _, l := range e.leaves {
		if l.text == l.was {
			continue
		}
		quoted, err := json.Marshal(l.text)
		if err != nil {
			quoted = []byte(`""`) // a string can be written
		}
		out = append(append(out, e.raw[from:e.data.begin+l.at.begin]...), quoted...)
		from = e.data.begin + l.at.end
	}
	return append(out, e.raw[from:]...)
}

// eventLeaves returns where the JSON of an event is, and the texts in it. One whose
// data are on several lines, or no JSON, has none.
func eventLeaves(raw []byte) (data span, leaves []*leaf) {
	for at := 0; at < len(raw); {
		end := len(raw)
		if i := bytes.IndexByte(raw[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		if bytes.HasPrefix(raw[at:end], []byte("data:")) {
			if data != (span{}) {
				return span{}, nil
			}
			data = span{at + len("data:"), end}
		}
		at = end
	}
	payload := raw[data.begin:data.end]
	if !gjson.ValidBytes(payload) {
		return data, nil
	}
	return data, textsIn(payload)
}

// textsIn returns the texts in a JSON value. Their channel is the name that they have,
// with the numbers next to it and around it that count choices, blocks and calls:
// a protocol uses the same names for texts in all events.
func textsIn(payload []byte) []*leaf {
	root := gjson.ParseBytes(payload)
	root.Index = bytes.IndexAny(payload, "{[") // where there is neither there are no names
	return textsBelow(root, "", nil)
}

// textsBelow adds the texts in an object or a list, which is the value of a name.
func textsBelow(in gjson.Result, name string, leaves []*leaf) []*leaf {
	if !in.IsObject() && !in.IsArray() {
		return leaves
	}
	first := len(leaves)
	in.ForEach(func(key, value gjson.Result) bool {
		at := name // of the list that an entry is in
		if in.IsObject() {
			at = key.Str
		}
		switch {
		case value.Type == gjson.JSON:
			leaves = textsBelow(value, at, leaves)
		case value.Type == gjson.String && value.Str != "":
			leaves = append(leaves, &leaf{at: span{value.Index, value.Index + len(value.Raw)}, channel: at, text: value.Str, was: value.Str})
		case value.Type == gjson.Number && strings.HasSuffix(at, "index"):
			for _, l := range leaves[first:] {
				l.channel += " " + at + value.Raw
			}
		}
		return true
	})
	return leaves
}
