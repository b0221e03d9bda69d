package jsonx

import "strings"

// span is a part of a text: the bytes from up to, not including, to.
type span struct{ from, to int }

func (s span) text(of string) string { return of[s.from:s.to] }

const fenceMark = "```"

// jsonFence finds the content of the first block fenced as json, without the
// white space before it. A longer word such as jsonc counts as json and keeps
// its rest, which makes the block unreadable; the reply may still hold an
// object elsewhere.
func jsonFence(text string) (span, bool) {
	i := strings.Index(text, fenceMark+"json")
	if i < 0 {
		return span{}, false
	}
	return fenceContent(text, i+len(fenceMark)+len("json"))
}

// anyFence finds the content of the first fenced block.
func anyFence(text string) (span, bool) {
	i := strings.Index(text, fenceMark)
	if i < 0 {
		return span{}, false
	}
	from := i + len(fenceMark)
	if rest := text[from:]; len(rest) >= 4 && strings.EqualFold(rest[:4], "json") {
		from += 4
	}
	return fenceContent(text, from)
}

func fenceContent(text string, from int) (span, bool) {
	n := strings.Index(text[from:], fenceMark)
	if n < 0 {
		return span{}, false
	}
	to := from + n
	return span{to - len(strings.TrimLeftFunc(text[from:to], isSpace)), to}, true
}

// widest returns the text from the first opening to the last closing brace.
func widest(text string) (span, bool) {
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if from < 0 || to < from {
		return span{}, false
	}
	return span{from, to + 1}, true
}

// Spans returns the top-level balanced parts of the given shape, in order.
// Brackets inside double-quoted strings do not count. A list inside a balanced
// pair of braces is not top-level; an object inside a list is.
func Spans(text string, want Shape) []string {
	var parts []string
	for _, sp := range spans(text, want) {
		parts = append(parts, sp.text(text))
	}
	return parts
}

func spans(text string, want Shape) []span {
	marks := brackets(text)
	var found []span
	depth, from := 0, 0
	for _, i := range marks {
		switch {
		case text[i] == byte(want):
			if depth == 0 {
				from = i
			}
			depth++
		case text[i] == want.closingBracket() && depth > 0:
			depth--
			if depth == 0 {
				found = append(found, span{from, i + 1})
			}
		}
	}
	if want == Arrays {
		return filterSpans(found, outermost(text, marks))
	}
	return found
}

// brackets lists the offsets of all braces and brackets outside of strings.
func brackets(text string) []int {
	var marks []int
	inString := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case !inString && (c == '{' || c == '}' || c == '[' || c == ']'):
			marks = append(marks, i)
		}
	}
	return marks
}

// outermost returns the pairs of braces that are inside no other matched pair,
// in order. Unlike spans it sees the pairs that follow a brace which is never
// closed.
func outermost(text string, marks []int) []span {
	var open []int
	var pairs []span
	for _, i := range marks {
		switch text[i] {
		case '{':
			open = append(open, i)
		case '}':
			if len(open) == 0 {
				continue
			}
			pair := span{open[len(open)-1], i + 1}
			open = open[:len(open)-1]
			for len(pairs) > 0 && pairs[len(pairs)-1].from > pair.from {
				pairs = pairs[:len(pairs)-1]
			}
			pairs = append(pairs, pair)
		}
	}
	return pairs
}

// filterSpans keeps the spans that begin in none of the pairs; both are in order.
func filterSpans(found, pairs []span) []span {
	var kept []span
	for _, sp := range found {
		for len(pairs) > 0 && pairs[0].to <= sp.from {
			pairs = pairs[1:]
		}
		if len(pairs) == 0 || sp.from < pairs[0].from {
			kept = append(kept, sp)
		}
	}
	return kept
}
