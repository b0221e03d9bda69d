package task

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
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

	repeated string // a key that occurs twice in one object of it, "" if none does
}

// Items reads the items of a JSON or JSONL file the way common data sets are
// laid out: a list; an object with a list named data; an object whose values
// are the items; one value a line. Blank lines are skipped, an empty file has
// no items. As in files written by Python, NaN and Infinity are accepted.
// Errors name the line.
func Items(data []byte) ([]Item, error) {
	var list []Item
	if err := eachItem(data, func(it Item) { list = append(list, it) }, "data"); err != nil {
		return nil, err
	}
	return list, nil
}

// eachItem calls take with the items in their order. It is Items for an object that may hold its
// list under any of the keys. When it fails, the items before do not count. It reads the text
// twice, so that the values of no more than one item are in memory.
func eachItem(data []byte, take func(Item), keys ...string) error {
	data, line := trim(data, 1)
	if len(data) == 0 {
		return nil
	}
	list, docErr := document(data, line, keys)
	if docErr == nil {
		return decodeSpans(data, list, take)
	}
	first, _, many := bytes.Cut(data, []byte("\n"))
	if !many || !isValue(first) {
		return docErr // a broken document rather than broken JSONL
	}
	n := line
	for row := range bytes.SplitSeq(data, []byte("\n")) {
		if err := jsonLine(row, n, take); err != nil {
			return err
		}
		n++
	}
	return nil
}

// span is where an item is in a text.
type span struct {
	start, line int
	key         string
	repeated    string // key, if it occurs twice
}

func decodeSpans(data []byte, list []span, take func(Item)) error {
	for _, s := range list {
		p := newReader(data, s.line)
		p.pos, p.counted = s.start, s.start
		it, err := p.item(s.key)
		if err != nil {
			return err
		}
		it.repeated = cmp.Or(s.repeated, it.repeated)
		take(it)
	}
	return nil
}

func isValue(data []byte) bool {
	p := newReader(data, 1)
	_, err := p.value()
	return err == nil && p.end() == nil
}

// document finds the items of one JSON value that starts on the given line.
func document(data []byte, line int, keys []string) ([]span, error) {
	p := newReader(data, line)
	var list []span
	var err error
	switch p.peek() {
	case '[':
		list, err = p.elements()
	case '{':
		list, err = p.members(keys)
	default:
		var one span
		one, err = p.pass("")
		list = []span{one}
	}
	if err != nil {
		return nil, err
	}
	return list, p.end()
}

// pass passes over a value.
func (p *reader) pass(key string) (span, error) {
	s := span{start: p.pos, line: p.lineHere(), key: key}
	p.values = 0
	_, err := p.value()
	if size := p.pos - s.start; err == nil && size > MaxLine {
		p.pos = s.start
		err = p.fail("the value has %d bytes, at most %d are allowed", size, MaxLine)
	}
	return s, err
}

func (p *reader) elements() ([]span, error) {
	var list []span
	err := p.array(func() error {
		s, err := p.pass("")
		list = append(list, s)
		return err
	})
	return list, err
}

// members returns the values of an object in the order in which their keys
// first appear, or the elements of the list under one of keys. Of a repeated
// key the last value counts.
func (p *reader) members(keys []string) ([]span, error) {
	var list []span
	place := map[string]int{}
	lists := map[string][]span{}
	err := p.object(func(key string) error {
		s := span{start: p.pos, line: p.lineHere(), key: key}
		var err error
		if delete(lists, key); p.peek() == '[' && slices.Contains(keys, key) {
			lists[key], err = p.elements()
		} else {
			s, err = p.pass(key)
		}
		if i, twice := place[key]; twice {
			s.repeated = key
			list[i] = s
			for i := range lists[key] {
				lists[key][i].repeated = key
			}
			return err
		}
		place[key] = len(list)
		list = append(list, s)
		return err
	})
	for _, key := range keys {
		if inner, ok := lists[key]; ok {
			return inner, err
		}
	}
	return list, err
}

// streamLines reads JSONL.
func streamLines(r *bufio.Reader, take func(Item)) error {
	var long []byte // of a line that does not fit into the buffer of r
	for line := 1; ; line++ {
		row, size, err := nextLine(r, &long)
		if size > MaxLine {
			return &syntaxError{Line: line, Msg: fmt.Sprintf("the line has %d bytes, at most %d are allowed", size, MaxLine)}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if err := jsonLine(row, line, take); err != nil {
			return err
		}
		if err != nil {
			return nil
		}
	}
}

// nextLine returns a line without its end, and its size. One that is too long is
// passed over. The line is good until the next one is read.
func nextLine(r *bufio.Reader, long *[]byte) (row []byte, size int, err error) {
	*long = (*long)[:0]
	for {
		part, err := r.ReadSlice('\n')
		size += len(part)
		if err == nil {
			size--
		}
		if len(*long) == 0 && !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSuffix(part, []byte("\n")), size, err
		}
		if size <= MaxLine {
			*long = append(*long, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSuffix(*long, []byte("\n")), size, err
		}
	}
}

// jsonLine reads one line of JSONL; a blank one has no item.
func jsonLine(text []byte, line int, take func(Item)) error {
	if len(text) > MaxLine {
		return &syntaxError{Line: line, Msg: fmt.Sprintf("the line has %d bytes, at most %d are allowed", len(text), MaxLine)}
	}
	if text, _ = trim(text, line); len(text) == 0 {
		return nil
	}
	p := newReader(text, line)
	it, err := p.item("")
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return err
	}
	take(it)
	return nil
}

// trim removes white space around data, as Python's strip does (U+001C to
// U+001F count), and returns the line at which the rest starts.
func trim(data []byte, line int) ([]byte, int) {
	isSpace := func(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }
	rest := bytes.TrimLeftFunc(data, isSpace)
	line += bytes.Count(data[:len(data)-len(rest)], []byte("\n"))
	return bytes.TrimRightFunc(rest, isSpace), line
}
