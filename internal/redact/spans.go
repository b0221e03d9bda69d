package redact

import (
	"cmp"
	"slices"
	"strings"
)

// span is a part of a text, and what is in its place instead.
type span struct {
	begin, end int
	with       string
	body       int // how many bytes of it are a known prefix
}

// mergeSpans returns spans in order, those that overlap as one.
func mergeSpans(all []span) []span {
	slices.SortFunc(all, func(a, b span) int { return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(b.end, a.end)) })
	var out []span
	for _, s := range all {
		if last := len(out) - 1; last >= 0 && s.begin < out[last].end {
			out[last].end = max(out[last].end, s.end)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// maskSpans returns text with the replacements of spans.
func maskSpans(text string, spans []span) string {
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	from := 0
	for _, s := range spans {
		b.WriteString(text[from:s.begin])
		b.WriteString(s.with)
		from = s.end
	}
	b.WriteString(text[from:])
	return b.String()
}

// maskedLines returns what maskSpans returns, but masks the lines of a span one by one, so that their number stays the same.
func maskedLines(text string, spans []span) string {
	var out []span
	for _, s := range spans {
		for s.begin < s.end {
			line, _, _ := strings.Cut(text[s.begin:s.end], "\n")
			if line != "" && maskAt(line) != len(line) {
				out = append(out, span{begin: s.begin, end: s.begin + len(line), with: s.with})
			}
			s.begin += len(line) + 1
		}
	}
	return maskSpans(text, out)
}
