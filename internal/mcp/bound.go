package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Bounds of texts, in bytes. Hosts cut answers at 25,000 tokens or earlier.
const (
	maxAnswer   = 30_000
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
		return string(doc)
	}
	if short.Len() <= maxAnswer && p.After == 0 && p.Limit == 0 {
		return short.String()
	}
	// Lists first: an item that is whole says more than all of them without their middle.
	for _, text := range []int{maxAnswer, 4000, 1000, 300, 80} {
		for limit := p.most(); ; limit /= 2 {
			if out := p.cut(short.Bytes(), limit, text); len(out) <= maxAnswer {
				return out
			}
			if limit <= leastItems {
				break
			}
		}
	}
	return cutText(short.String(), maxAnswer)
}

// leastItems is the length below which a list is not made shorter before its texts are.
const leastItems = 4

func (p Page) most() int {
	const many = 1 << 12
	if p.Limit > 0 {
		return min(p.Limit, many)
	}
	return many
}

// cut returns the document with so many items of its list, lists of others as long, and texts so long.
func (p Page) cut(doc []byte, items, text int) string {
	var v any
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return string(doc)
	}
	top, ok := v.(map[string]any)
	if !ok {
		top = map[string]any{cmp.Or(p.List, "list"): v}
	}
	var notes []string
	if note := p.cutList(top, items); note != "" {
		notes = append(notes, note)
	}
	c := cutter{text: text, items: items}
	c.value(top)
	if c.texts > 0 {
		notes = append(notes, fmt.Sprintf("the middle of %s longer than %d bytes", wording.Plural(c.texts, "text", "texts"), text))
	}
	if c.lists > 0 {
		notes = append(notes, fmt.Sprintf("the end of %s longer than %d; other arguments ask for less at once", wording.Plural(c.lists, "list", "lists"), items))
	}
	if len(notes) > 0 {
		top["left_out"] = strings.Join(notes, "; ")
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(top) // it was decoded
	return strings.TrimSpace(out.String())
}

// cutList cuts the list that is shown in parts, and says what is left out.
func (p Page) cutList(top map[string]any, items int) string {
	path := strings.Split(p.List, ".")
	name := path[len(path)-1]
	for _, member := range path[:len(path)-1] {
		if top, _ = top[member].(map[string]any); top == nil {
			return ""
		}
	}
	var n, from, to int
	window := func(length int) {
		n, from = length, min(p.After, length)
		to = min(from+items, n)
	}
	switch list := top[name].(type) {
	case []any:
		window(len(list))
		top[name] = list[from:to]
	case string:
		lines := strings.SplitAfter(list, "\n")
		window(len(lines))
		top[name] = strings.Join(lines[from:to], "")
	}
	switch {
	case from == n && n > 0:
		return fmt.Sprintf("%s: there are %d", p.List, n)
	case to < n:
		return fmt.Sprintf("%s: %d to %d of %d are shown, after=%d shows the next", p.List, from+1, to, n, to)
	case from > 0:
		return fmt.Sprintf("%s: %d to %d of %d are shown", p.List, from+1, to, n)
	}
	return ""
}

// cutter shortens texts and lists inside a document.
type cutter struct {
	text, items  int
	texts, lists int // that were cut
}

func (c *cutter) value(v any) any {
	switch v := v.(type) {
	case string:
		if len(v) > c.text {
			c.texts++
			return wording.Middle(v, c.text)
		}
	case []any:
		if len(v) > c.items {
			c.lists++
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
