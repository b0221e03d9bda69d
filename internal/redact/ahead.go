package redact

import (
	"sort"
	"strings"
)

// far is the length in bytes from which a look ahead is remembered, nearly all are shorter, and
// up to which a value is looked at to judge it.
const far = 64

// ahead remembers the last far look of each kind. A second one that begins within it ends where
// it did, so that a line is not looked at again for each name in it: work stays linear.
type ahead struct {
	s       string
	looked  int // bytes
	seen    map[string]span
	toggles []int32 // where texts in double quotes begin and end
}

// find returns where a look from i on ends. Looks of a kind that begin within one end where it does.
func (a *ahead) find(kind string, i int, seek func(s string, i int) int) int {
	if f, known := a.seen[kind]; known && f.begin <= i && i <= f.end {
		a.looked++
		return f.end
	}
	end := seek(a.s, i)
	a.looked += end - i + 1
	if end-i >= far {
		a.seen[kind] = span{begin: i, end: end}
	}
	return end
}

// run returns where the bytes of a set end that the text has from i on.
func (a *ahead) run(i int, set alphabet) int {
	return a.find(string(rune(set)), i, func(s string, i int) int { return run(s, i, set) })
}

// nextAny returns where the first of chars is from i on; the length of the text if there is none.
func (a *ahead) nextAny(i int, chars string) int {
	return a.find(chars, i, func(s string, i int) int {
		if at := strings.IndexAny(s[i:], chars); at >= 0 {
			return i + at
		}
		return len(s)
	})
}

// back returns where those of chars begin that are before end, and not before least or far from end.
func (a *ahead) back(least, end int, chars string) int {
	least = min(end, max(least, end-far))
	return least + len(strings.TrimRight(a.s[least:end], chars))
}

// lineEnd returns where the line ends that i is in, or the text in quotes that the line is part of.
func lineEnd(s string, i int) int {
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\n' || c == '\r', c == '"' && endsText(s, i):
			return i
		case c == '\\':
			if behind := behindEscape(s, i); behind < len(s) && (s[behind-1] == 'n' || s[behind-1] == 'r' || s[behind] == '"') {
				return i
			}
			i = run(s, i, slashes) - 1 // all of them are before the same
		}
	}
	return i
}

// endsText reports whether the quote at i looks like the end of a text in JSON.
func endsText(s string, i int) bool { return i+1 >= len(s) || alphabets[s[i+1]]&words == 0 }

// trimBrackets leaves out brackets that end a value and were opened before it; it looks back up to far.
func (a *ahead) trimBrackets(v, end int) int {
	const opening, closing = "([{", ")]}"
	mask := v + maskAt(a.s[v:])
	for least := max(mask, end-far); end > least && !strings.HasSuffix(a.s[least:end], Mask); end-- {
		value, k := a.s[least:end], strings.IndexByte(closing, a.s[end-1])
		if k < 0 || strings.Count(value, closing[k:k+1]) <= strings.Count(value, opening[k:k+1]) {
			break
		}
	}
	return end
}

// inText reports whether v is inside a text in double quotes that begins before it, on its line.
func (a *ahead) inText(v int) bool {
	if a.toggles == nil {
		a.toggles = toggles(a.s)
		a.looked += len(a.s)
	}
	return sort.Search(len(a.toggles), func(n int) bool { return int(a.toggles[n]) >= v })%2 == 1
}

// toggles returns where texts in double quotes begin and end, at the latest with a line; never nil.
func toggles(s string) []int32 {
	out := []int32{}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && at(s, i+1) != '\n':
			i++
		case c == '"', c == '\n' && len(out)%2 == 1:
			out = append(out, int32(i)) //nolint:gosec // pieces are short
		}
	}
	return out
}

// at returns the byte at i; 0 behind the end.
func at(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

func behindSpace(s string, i int) int { return run(s, i, blanks) }

// behindEscape returns where backslashes and what they escape end: the n of \n belongs to no word.
func behindEscape(s string, i int) int {
	i = run(s, i, slashes)
	if c := at(s, i); c != 0 && strings.IndexByte("nrtbf", c) >= 0 {
		return i + 1
	}
	if _, ok := unit(s[i-1:]); ok {
		return i + 5
	}
	return i
}
