package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Bounds of texts, in bytes. The strictest of the hosts that were tried, Copilot, writes a longer answer into a file instead.
const (
	maxAnswer   = 16_000
	maxDocument = 100_000
)

// cutText leaves out the middle of a text that is too long, and says so.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	note := fmt.Sprintf("\n[%d bytes are too many: the middle is left out]", len(text))
	return wording.Middle(text, most-len(note)) + note
}

// Page is the part of a document that an answer has.
type Page struct {
	List         string // the member that is shown in parts, such as history.steps: a list, or a text by its lines; "": none
	After, Limit int    // items that are left out before, and how many are shown; 0: as many as fit
}

// Shorten returns a JSON document without the spaces, as long as an answer may be. What is left out is said in a
// member left_out, with the argument that shows it.
func (p Page) Shorten(doc []byte) string {
	var short bytes.Buffer
	if json.Compact(&short, doc) != nil {
		return cutText(string(doc), maxAnswer)
	}
	if bytes.HasPrefix(short.Bytes(), []byte("[")) { // Gemini CLI takes no list as an answer
		list := short.String()
		short.Reset()
		fmt.Fprintf(&short, "{%q:%s}", cmp.Or(p.List, "list"), list)
	}
	if short.Len() <= maxAnswer && p.After == 0 && p.Limit == 0 {
		return short.String()
	}
	const many, few = 1 << 12, 4
	first := many
	if p.Limit > 0 {
		first = min(p.Limit, many)
	}
	// Lists first: an item that is whole says more than all of them without their middle.
	for _, text := range []int{maxAnswer, 4000, 1000, 300, 80} {
		for items := first; ; items /= 2 {
			if out := p.cut(short.Bytes(), items, text); len(out) <= maxAnswer {
				return out
			}
			if items <= few {
				break
			}
		}
	}
	return cutText(short.String(), maxAnswer)
}

// cut returns the document with that number of items of its list, other lists as long, and texts of that length.
func (p Page) cut(doc []byte, items, text int) string {
	var v any
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	_ = d.Decode(&v) // it is JSON
	top, ok := v.(map[string]any)
	if !ok {
		return string(doc)
	}
	c := cutter{text: text, items: items}
	p.cutList(&c, top)
	c.value(top)
	if c.cut > 0 {
		c.notes = append(c.notes, fmt.Sprintf("of %s the middle of a text of more than %d bytes or the end of a list of more than %d; other arguments ask for less at once", wording.Plural(c.cut, "member", "members"), text, items))
	}
	if len(c.notes) > 0 {
		top["left_out"] = strings.Join(c.notes, "; ")
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(top) // it was decoded
	return strings.TrimSpace(out.String())
}

// cutList cuts the list that is shown in parts.
func (p Page) cutList(c *cutter, top map[string]any) {
	at := top
	path := strings.Split(p.List, ".")
	for _, member := range path[:len(path)-1] {
		at, _ = at[member].(map[string]any)
	}
	var n, from, to int
	window := func(length int) { n, from, to = length, min(p.After, length), min(p.After+c.items, length) }
	switch list := at[path[len(path)-1]].(type) {
	case []any:
		window(len(list))
		at[path[len(path)-1]] = list[from:to]
	case string:
		lines := strings.SplitAfter(list, "\n")
		window(len(lines))
		at[path[len(path)-1]] = strings.Join(lines[from:to], "")
	}
	if to < n {
		c.notes = append(c.notes, fmt.Sprintf("%s: %d to %d of %d are shown, after=%d shows the next", p.List, from+1, to, n, to))
	} else if from > 0 {
		c.notes = append(c.notes, fmt.Sprintf("%s: the first %d of %d", p.List, from, n))
	}
}

// cutter shortens texts and lists inside a document.
type cutter struct {
	text, items int
	cut         int
	notes       []string // on what is left out
}

func (c *cutter) value(v any) any {
	switch v := v.(type) {
	case string:
		if len(v) > c.text {
			c.cut++
			return wording.Middle(v, c.text)
		}
	case []any:
		if len(v) > c.items {
			c.cut++
			v = v[:c.items]
		}
		for i := range v {
			v[i] = c.value(v[i])
		}
		return v
	case map[string]any:
		for k := range v {
			v[k] = c.value(v[k])
		}
	}
	return v
}
