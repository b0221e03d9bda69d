package eventlog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxLost is how many numbers may be missing between two lines of a segment, for the second
// to be believed: as many as the shortest lines of a segment have.
const maxLost = 1 << 20

// order finds which lines are the events of a segment, where some are damaged. A damaged line
// has taken a number or none, and only what follows it says which.
type order struct {
	next int64 // number of the next event
	bad  int64 // lines since the last event that are none
	room int64 // their bytes
	held int64 // number of a line that leaves out more than was damaged; 0: there is none
	size int64 // its bytes
}

// What a line is.
type is int

const (
	isNone  is = iota // no event
	isMaybe           // an event if the next line has the number behind it
	isEvent           // an event, and what was perhaps one before it is none
	isBoth            // an event, as is the line before it
)

// take takes a line of size bytes; ok is false if it has no number or cannot be read.
func (o *order) take(n int64, ok bool, size int64) is {
	if o.held > 0 {
		if ok && n == o.held+1 {
			*o = order{next: n + 1}
			return isBoth
		}
		o.bad, o.room, o.held = o.bad+1, o.room+o.size, 0
	}
	if !ok || n < o.next || n-o.next > maxLost {
		o.bad, o.room = o.bad+1, o.room+size
		return isNone
	}
	// Lines that have run into each other have taken more numbers than there are lines left.
	if n == o.next || n-o.next <= max(o.bad, o.room/shortest) {
		*o = order{next: n + 1}
		return isEvent
	}
	o.held, o.size = n, size
	return isMaybe
}

const shortest = 32 // bytes of a line

// found is an event of a segment.
type found struct {
	n            int64
	from         int64 // number of the first of those that are lost before it; n: none is
	bad, begin   int64 // offsets of the first line before it that is none, or of its own, and of its own
	fields, line []byte
}

// walk is a way through the lines of a segment.
type walk struct {
	at   int64 // offset behind the last event
	next int64 // number of the one after it
	bad  int64 // offset of the first whole line since then; 0: there is none
}

// through walks through what is read from w.at on, up to what is no whole line. reads says
// whether a line can be read as the event of its number. yield gets slices that are valid only
// until it returns; where it is false the event is not taken, and the way ends before it.
func (w *walk) through(r io.Reader, reads func(n int64, line []byte) bool, yield func(found) (bool, error)) error {
	in, o, pos := bufio.NewReaderSize(r, maxLine), order{next: w.next}, w.at
	var held []byte
	var heldAt int64
	for {
		line, size, whole, err := readLine(in)
		if err != nil {
			return err
		}
		if w.bad == 0 && (whole || size > maxLine) {
			w.bad = pos
		}
		if !whole {
			return nil
		}
		n, _, ok := parseNumber(line)
		kind := o.take(n, ok && reads(n, line), size)
		if kind == isBoth {
			if more, err := w.take(n-1, heldAt, pos, held, yield); !more || err != nil {
				return err
			}
			w.bad = pos
		}
		if pos += size; kind >= isEvent {
			if more, err := w.take(n, pos-size, pos, line, yield); !more || err != nil {
				return err
			}
		}
		if kind == isMaybe {
			held, heldAt = bytes.Clone(line), pos-size
		}
	}
}

// take passes the event between two offsets to yield.
func (w *walk) take(n, begin, end int64, line []byte, yield func(found) (bool, error)) (bool, error) {
	_, fields, _ := parseNumber(line)
	more, err := yield(found{n: n, from: w.next, bad: min(w.bad, begin), begin: begin, fields: fields, line: line})
	if more && err == nil {
		w.at, w.next, w.bad = end, n+1, 0
	}
	return more, err
}

// readLine reads a line and its size with the newline. One that is too long is empty. It is not
// whole if what is read ends before it does.
func readLine(in *bufio.Reader) (line []byte, size int64, whole bool, err error) {
	line, err = in.ReadSlice('\n')
	size = int64(len(line))
	if err == nil {
		return line[:len(line)-1], size, true, nil
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = in.ReadSlice('\n')
		size += int64(len(line))
	}
	if errors.Is(err, io.EOF) {
		return nil, size, false, nil
	}
	return nil, size, err == nil, err
}

// isJSON reports whether a line is JSON.
func isJSON(_ int64, line []byte) bool { return json.Valid(line) }

// asNumbered takes a line by its number.
func asNumbered(int64, []byte) bool { return true }

// damage is the event that replaces those that cannot be read.
type damage struct {
	N     int64  `json:"n"`
	Event string `json:"event"`
	From  int64  `json:"from,omitempty"` // number of the first; missing: there is one
	File  string `json:"file,omitempty"`
	Line  int    `json:"line,omitempty"`
	Text  string `json:"text"`
}

// kindDamaged is the kind of event with which a reader replaces what cannot be read.
const kindDamaged = "damaged"

// newDamagedLine returns the line for the events from one number to another that cannot be read.
func newDamagedLine(from, to int64, file string, line int, why string) Line {
	d := damage{N: to, Event: kindDamaged, File: file, Line: line, Text: fmt.Sprintf("event %d cannot be read: %s", to, why)}
	if from < to {
		d.From, d.Text = from, fmt.Sprintf("events %d to %d cannot be read: %s", from, to, why)
	}
	text, _ := json.Marshal(d) // numbers and texts
	return Line{N: to, JSON: text}
}

// maxCounted is how far into a segment its lines are counted, in bytes.
const maxCounted = 64 << 20

// counter derives numbers of lines from offsets that grow.
type counter struct {
	at    int64
	lines int
}

// line returns the number of the line that begins at an offset, from 1, or 0 if it is too far.
func (c *counter) line(f io.ReaderAt, offset int64) int {
	if offset > maxCounted {
		return 0
	}
	if offset < c.at {
		*c = counter{}
	}
	buf := make([]byte, 64<<10)
	for c.at < offset {
		n, err := f.ReadAt(buf[:min(int64(len(buf)), offset-c.at)], c.at)
		c.lines += bytes.Count(buf[:n], []byte("\n"))
		if c.at += int64(n); err != nil || n == 0 {
			return 0
		}
	}
	return c.lines + 1
}

// nameOfLine names a line of a file for readers.
func nameOfLine(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("line %d of %s", line, file)
}
