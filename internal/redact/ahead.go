package redact

import (
	"sort"
	"strings"
)

// far is the length in bytes from which a look ahead is remembered. Nearly all are shorter.
const far = 64

// look is what a look ahead is after.
type look uint8

const (
	lookRun     look = iota // the end of bytes of a set
	lookNext                // the first byte of a set
	lookAny                 // the first of some bytes
	lookBack                // the beginning of the bytes of some kinds before an end
	lookLast                // the last of a byte before an end
	lookClosing             // the end of a text in quotes
	lookLine                // the end of a line
	lookBare                // the end of a value without quotes
	lookWord                // the end of an argument
)

type lookFor struct {
	what look
	set  alphabet
	text string // bytes, or a quote
	flag bool
}

// seen is what a look ahead that began at from has found.
type seen struct {
	from, end int
	ok        bool
}

// ahead remembers the last far look of each kind. A second one that begins within it ends where
// it did, so that a line is not looked at again for each name in it: work stays linear.
type ahead struct {
	s        string
	looked   int // bytes
	quotes   quotes
	brackets *brackets
	counts   *counts
	seen     map[lookFor]seen
}

// recall returns what a look from i on finds, if that is known.
func (a *ahead) recall(k lookFor, i int) (seen, bool) {
	if a.seen == nil {
		return seen{}, false
	}
	a.looked++
	f, ok := a.seen[k]
	return f, ok && f.from <= i && i <= f.end
}

// note counts a look, and remembers it if it went far.
func (a *ahead) note(k lookFor, f seen) {
	a.looked += f.end - f.from + 1
	if f.end-f.from < far {
		return
	}
	if a.seen == nil {
		a.seen = map[lookFor]seen{}
	}
	a.seen[k] = f
}

// run returns where the bytes of a set end that the line has from i on.
func (a *ahead) run(i int, set alphabet) int {
	k := lookFor{what: lookRun, set: set}
	f, ok := a.recall(k, i)
	if !ok {
		f = seen{from: i, end: run(a.s, i, set)}
		a.note(k, f)
	}
	return f.end
}

// next returns where the first byte of a set is from i on; the length of the line if there is none.
func (a *ahead) next(i int, set alphabet) int {
	k := lookFor{what: lookNext, set: set}
	f, ok := a.recall(k, i)
	if !ok {
		f = seen{from: i, end: i}
		for f.end < len(a.s) && alphabets[a.s[f.end]]&set == 0 {
			f.end++
		}
		a.note(k, f)
	}
	return f.end
}

// nextAny returns where the first of bytes is from i on; the length of the line if there is none.
func (a *ahead) nextAny(i int, chars string) int {
	k := lookFor{what: lookAny, text: chars}
	f, ok := a.recall(k, i)
	if !ok {
		f = seen{from: i, end: len(a.s)}
		if at := strings.IndexAny(a.s[i:], chars); at >= 0 {
			f.end = i + at
		}
		a.note(k, f)
	}
	return f.end
}

// back returns where those of chars begin that are before end, at least at least.
func (a *ahead) back(least, end int, chars string) int {
	k := lookFor{what: lookBack, text: chars}
	if f, ok := a.seen[k]; ok && f.end == end && (f.ok || least >= f.from) {
		a.looked++
		return max(least, f.from)
	}
	f := seen{from: end, end: end}
	for f.from > least && strings.IndexByte(chars, a.s[f.from-1]) >= 0 {
		f.from--
	}
	f.ok = f.from > least
	a.note(k, f)
	return f.from
}

// last returns where the last byte c is in the line from least to end; -1 if there is none.
func (a *ahead) last(least, end int, c string) int {
	k := lookFor{what: lookLast, text: c}
	f, ok := a.seen[k]
	if !ok || f.end != end || least < f.from && !f.ok {
		at := strings.LastIndex(a.s[least:end], c)
		f = seen{from: least, end: end, ok: at >= 0}
		if at >= 0 {
			f.from = least + at
		}
		a.note(k, f)
	}
	if a.looked++; !f.ok || f.from < least {
		return -1
	}
	return f.from
}

// lineEnd returns where the line ends that i is in, or the text in quotes that the
// line is part of.
func (a *ahead) lineEnd(i int) int {
	k := lookFor{what: lookLine}
	f, ok := a.recall(k, i)
	if !ok {
		f = seen{from: i, end: lineEnd(a.s, i)}
		a.note(k, f)
	}
	return f.end
}

// bare returns where a value without quotes ends that begins at v.
func (a *ahead) bare(v int, json bool) int {
	k := lookFor{what: lookBare, flag: json}
	if f, ok := a.recall(k, v); ok && v < f.end && a.s[v] != '[' && !inEscape(a.s, v) {
		return f.end
	}
	f := seen{from: v, end: bare(a.s, v, json)}
	a.note(k, f)
	return f.end
}

// inEscape reports whether what is at i may be part of an escape that begins before it.
func inEscape(s string, i int) bool {
	if i > 0 && s[i-1] == '\\' {
		return true
	}
	for d := 2; d <= 5 && d <= i; d++ {
		if s[i-d] == '\\' && s[i-d+1] == 'u' {
			return true
		}
	}
	return false
}

// brackets holds where each of ([{)]} is in a line.
type brackets [6][]int32

func (a *ahead) bracketsOf() *brackets {
	if a.brackets == nil {
		a.brackets = new(brackets)
		a.looked += len(a.s)
		for i := range len(a.s) {
			if k := strings.IndexByte("([{)]}", a.s[i]); k >= 0 {
				a.brackets[k] = append(a.brackets[k], int32(i)) //nolint:gosec // lines are short
			}
		}
	}
	return a.brackets
}

// before returns how many of at are below i.
func before(at []int32, i int) int {
	return sort.Search(len(at), func(n int) bool { return int(at[n]) >= i })
}

// maxBrackets bounds how many brackets are left out at the end of a value.
const maxBrackets = 64

// trimmed leaves out brackets at the end of a value that were opened before it.
func (a *ahead) trimmed(v, end int) int {
	s := a.s
	least := v + maskAt(s[v:])
	if end <= least || strings.IndexByte(")]}", s[end-1]) < 0 {
		return end
	}
	var extra [3]int // how many more of each close than open
	list := -1       // the last [
	if end-v <= far {
		for k := range extra {
			extra[k] = strings.Count(s[v:end], ")]}"[k:k+1]) - strings.Count(s[v:end], "([{"[k:k+1])
		}
		if at := strings.LastIndexByte(s[v:end], '['); at >= 0 {
			list = v + at
		}
	} else {
		b := a.bracketsOf()
		for k := range extra {
			extra[k] = before(b[k+3], end) - before(b[k+3], v) - before(b[k], end) + before(b[k], v)
		}
		if n := before(b[1], end); n > 0 && int(b[1][n-1]) >= v {
			list = int(b[1][n-1])
		}
	}
	mask := -1
	if list >= 0 {
		mask = list + maskAt(s[list:])
	}
	for n := 0; end > least && n < maxBrackets; n++ {
		k := strings.IndexByte(")]}", s[end-1])
		if k < 0 || k == 1 && mask == end || extra[k] <= 0 {
			break
		}
		extra[k]--
		end--
	}
	return end
}

// digit reports whether the line has one from begin to end.
func (a *ahead) digit(begin, end int) bool { return a.next(begin, digits) < end }
