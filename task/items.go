package task

import (
	"bytes"
	"fmt"
	"slices"
	"unicode"
)

// MaxLine is the longest line of a JSONL file, in bytes.
const MaxLine = 16 << 20

// Item is one value of a data file, before it is read as a task.
type Item struct {
	Value any    // as of encoding/json with UseNumber; NaN and infinities are float64
	Line  int    // 1-based, where the value begins
	Key   string // its name, when the file is an object whose values are the items

	repeated string // a key that stands twice in one object of it, "" if none does
}

// Items reads the items of a JSON or JSONL file the way common data sets are
// laid out: a list; an object with a list named data; an object whose values
// are the items; one value a line. Blank lines are skipped, an empty file has
// no items. As in files written by Python, NaN and Infinity are accepted.
// Errors name the line.
func Items(data []byte) ([]Item, error) { return items(data, "data") }

// items is Items for an object that may hold its list under any of the keys.
func items(data []byte, keys ...string) ([]Item, error) {
	data, line := trim(data, 1)
	if len(data) == 0 {
		return nil, nil
	}
	list, docErr := document(data, line, keys)
	if docErr == nil {
		return list, nil
	}
	first, _, many := bytes.Cut(data, []byte("\n"))
	if !many || !isValue(first) {
		return nil, docErr // a broken document rather than broken JSONL
	}
	return lines(data, line)
}

func isValue(data []byte) bool {
	p := newReader(data, 1)
	_, err := p.value()
	return err == nil && p.end() == nil
}

// document reads the items of one JSON value that starts on the given line.
func document(data []byte, line int, keys []string) ([]Item, error) {
	p := newReader(data, line)
	var list []Item
	var err error
	switch p.peek() {
	case '[':
		list, err = p.elements()
	case '{':
		list, err = p.members(keys)
	default:
		list = make([]Item, 1)
		list[0], err = p.item("")
	}
	if err != nil {
		return nil, err
	}
	return list, p.end()
}

func (p *reader) elements() ([]Item, error) {
	var list []Item
	err := p.array(func() error {
		it, err := p.item("")
		list = append(list, it)
		return err
	})
	return list, err
}

// members returns the values of an object in the order in which their keys
// first appear, or the elements of the list under one of keys. Of a repeated
// key the last value stands.
func (p *reader) members(keys []string) ([]Item, error) {
	var list []Item
	place := map[string]int{}
	lists := map[string][]Item{}
	err := p.object(func(key string) error {
		inner := *p
		it, err := p.item(key)
		if err != nil {
			return err
		}
		delete(lists, key)
		if _, ok := it.Value.([]any); ok && slices.Contains(keys, key) {
			if lists[key], err = inner.elements(); err != nil {
				return err
			}
		}
		if i, twice := place[key]; twice {
			it.repeated = key
			list[i] = it
			for i := range lists[key] {
				lists[key][i].repeated = key
			}
			return nil
		}
		place[key] = len(list)
		list = append(list, it)
		return nil
	})
	for _, key := range keys {
		if inner, ok := lists[key]; ok {
			return inner, err
		}
	}
	return list, err
}

// lines reads JSONL that starts on the given line.
func lines(data []byte, line int) ([]Item, error) {
	var list []Item
	for ; len(data) > 0; line++ {
		var text []byte
		text, data, _ = bytes.Cut(data, []byte("\n"))
		if len(text) > MaxLine {
			return nil, &syntaxError{Line: line, Msg: fmt.Sprintf("the line has %d bytes, at most %d are allowed", len(text), MaxLine)}
		}
		if text, _ = trim(text, line); len(text) == 0 {
			continue
		}
		p := newReader(text, line)
		it, err := p.item("")
		if err == nil {
			err = p.end()
		}
		if err != nil {
			return nil, err
		}
		list = append(list, it)
	}
	return list, nil
}

// trim removes white space around data, as Python's strip does (U+001C to
// U+001F count), and returns the line at which the rest starts.
func trim(data []byte, line int) ([]byte, int) {
	isSpace := func(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }
	rest := bytes.TrimLeftFunc(data, isSpace)
	line += bytes.Count(data[:len(data)-len(rest)], []byte("\n"))
	return bytes.TrimRightFunc(rest, isSpace), line
}
