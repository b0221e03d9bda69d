package redact

import "strings"

// quotes holds where the quotes of a line open and close texts.
type quotes struct {
	double []int32            // double quotes without a backslash that escapes them
	alone  map[string][]int32 // by quote: where it is, and no backslash before it
	behind map[string]int     // by quote: the end of the last one
}

// open reports whether a text is begun before v by the quote q and not ended.
func (a *ahead) open(v int, q string) bool {
	if a.quotes.alone == nil {
		a.quotes.fill(a.s)
		a.looked += 2 * len(a.s)
	}
	return before(a.quotes.alone[q], v-len(q)+1)%2 == 1
}

// fill finds all quotes, as quoteAt knows them.
func (x *quotes) fill(s string) {
	x.alone, x.behind = map[string][]int32{}, map[string]int{}
	for i := 0; i < len(s); i++ {
		n := runOf(s, i, '\\')
		if n >= len(s) {
			return
		}
		switch s[n] {
		case '"', '`':
			x.add(s, i, n+1)
		case '\'':
			x.add(s, i, n+1)
			if slashes := runOf(s, n+1, '\\'); slashes > n+1 && strings.HasPrefix(s[slashes:], "''") {
				x.consume(s, n, slashes+2, n == i)
			}
		case 'u':
			if n > i && strings.HasPrefix(s[n:], "u0022") {
				x.add(s, i, n+len("u0022"))
			}
		case '&':
			if q := quoteAt(s, n); q != "" && n == i {
				x.add(s, i, i+len(q))
			}
		}
		i = n
	}
}

// add notes a quote that has no backslash before it.
func (x *quotes) add(s string, begin, end int) { x.consume(s, begin, end, true) }

// consume notes a quote, unless it overlaps with the one before. Only one that is alone counts.
func (x *quotes) consume(s string, begin, end int, alone bool) {
	q := s[begin:end]
	if begin < x.behind[q] {
		return
	}
	x.behind[q] = end
	if alone {
		x.alone[q] = append(x.alone[q], int32(begin)) //nolint:gosec // lines are short
	}
}

// inText reports whether what is at v is inside a text in double quotes that
// begins before it.
func (a *ahead) inText(v int) bool {
	if a.quotes.double == nil {
		a.quotes.double = doubleQuotes(a.s)
		a.looked += len(a.s)
	}
	return before(a.quotes.double, v)%2 == 1
}

// doubleQuotes returns where double quotes are that no backslash escapes; never nil.
func doubleQuotes(s string) []int32 {
	out := []int32{}
	slashes := 0
	for i := range len(s) {
		switch {
		case s[i] == '\\':
			slashes++
			continue
		case s[i] == '"' && slashes%2 == 0:
			out = append(out, int32(i)) //nolint:gosec // lines are short
		}
		slashes = 0
	}
	return out
}
