package transcript

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// digests makes the digests of lines out of a text of JSON as it is in a record, in one pass:
// most of what is read of a store is what tools printed. Its room is used again.
type digests struct {
	line  []byte
	list  []uint32
	begun bool // there was a line of the file
}

// of is what a text with its escapes shows, until the next call. false: it has an escape that is
// seldom, or is no text.
func (d *digests) of(raw []byte, f form) (s sums, is bool) {
	if len(raw) > 2*maxShown {
		return sums{}, true
	}
	d.line, d.list, d.begun = d.line[:0], d.list[:0], false
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			d.line = append(d.line, raw...)
			all, _ := d.end(f)
			return sums{list: d.list, all: all}, true
		}
		d.line = append(d.line, raw[:i]...)
		raw = raw[i:]
		if len(raw) > 1 && raw[1] == 'n' {
			raw = raw[2:]
			if all, more := d.end(f); !all || !more {
				return sums{list: d.list, all: all}, true
			}
			continue
		}
		c, n := escape(raw)
		if n == 0 {
			return sums{}, false
		}
		d.line, raw = utf8.AppendRune(d.line, c), raw[n:]
	}
}

// end ends a line. more: the next may be one of the file.
func (d *digests) end(f form) (all, more bool) {
	line, kind := f.line(d.line, d.begun)
	if kind == aLine {
		d.begun = true
		if line = bytes.TrimRight(line, " \t\r\n"); len(line) > 0 {
			if len(line) > maxOneLine || len(d.list) > 2*MaxLines {
				return false, false
			}
			d.list = append(d.list, lineDigest(line))
		}
	}
	d.line = d.line[:0]
	return true, kind != lastLine
}

// escape is what an escape at the beginning of a text represents, and its length; 0: it is another
// one than those that are common.
func escape(raw []byte) (c rune, n int) {
	if len(raw) < 2 {
		return 0, 0
	}
	switch raw[1] {
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case '"', '\\', '/':
		return rune(raw[1]), 2
	case 'u':
		if len(raw) < 6 {
			return 0, 0
		}
		code, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
		if err != nil || utf16.IsSurrogate(rune(code)) {
			return 0, 0
		}
		return rune(code), 6
	}
	return 0, 0
}
