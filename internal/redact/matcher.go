package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// matcher finds known values and their echoes. It is immutable; nil finds nothing.
//
// It looks at windows as long as its shortest pattern and moves by how far the last
// two bytes of a window are from the end of any pattern's beginning (Wu and Manber).
type matcher struct {
	patterns []string // the longest first
	window   int
	shift    []uint8 // by pair
	ending   [][]int // by pair: the patterns whose window it ends
}

// pairs is the number of classes of two bytes.
const pairs = 1 << 12

func hashPair(a, b byte) int { return (int(a)<<5 ^ int(b)) & (pairs - 1) }

// newMatcher returns one for the values of at least shortest bytes.
func newMatcher(secrets []string, shortest int) *matcher {
	var all []string
	for _, s := range secrets {
		if len(s) >= shortest && !strings.Contains(Mask, s) {
			all = append(all, echoes(s)...)
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	all = slices.Compact(all)
	m := &matcher{patterns: all, window: min(len(all[len(all)-1]), 255), ending: make([][]int, pairs)}
	m.shift = slices.Repeat([]uint8{uint8(m.window - 1)}, pairs) //nolint:gosec // at most 254
	for n, p := range m.patterns {
		for i := 1; i < m.window; i++ {
			at := hashPair(p[i-1], p[i])
			m.shift[at] = min(m.shift[at], uint8(m.window-1-i)) //nolint:gosec // at most 254
		}
		last := hashPair(p[m.window-2], p[m.window-1])
		m.ending[last] = append(m.ending[last], n)
	}
	return m
}

// echoes returns how a secret may be written in a view, where escapes are decoded.
// What the secret itself has of escapes may be decoded there too.
func echoes(s string) []string {
	out := []string{s, strings.ReplaceAll(s, " ", "+")} // as in the query of a URL
	for c := inJSON; c <= inAll; c++ {
		v, _ := (&view{text: s}).decode(c)
		out = append(out, v.text)
	}
	const minBase64 = 8 // what is sure of shorter ones would be found in ordinary text
	if len(s) >= minBase64 {
		lower := hex.EncodeToString([]byte(s))
		out = append(out, lower, strings.ToUpper(lower))
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			for shift := range 3 {
				out = append(out, sureBase64(enc, s, shift))
			}
		}
	}
	return slices.DeleteFunc(out, func(form string) bool { return len(form) < minKnown || strings.Contains(Mask, form) })
}

// sureBase64 returns what is sure of the base64 of a text that has s after shift bytes, modulo 3.
func sureBase64(enc *base64.Encoding, s string, shift int) string {
	all := enc.EncodeToString(append(make([]byte, shift), s...))
	begin, end := (shift*8+5)/6, len(all)
	if (shift+len(s))%3 != 0 {
		end--
	}
	return all[min(begin, end):end]
}

// next returns the first pattern in text from an offset on, the longest if several begin there.
func (m *matcher) next(text string, from int) (span, bool) {
	for i := from + m.window - 1; i < len(text); {
		at := hashPair(text[i-1], text[i])
		if step := int(m.shift[at]); step > 0 {
			i += step
			continue
		}
		begin := i - m.window + 1
		for _, n := range m.ending[at] {
			if strings.HasPrefix(text[begin:], m.patterns[n]) {
				return span{begin: begin, end: begin + len(m.patterns[n]), with: Mask}, true
			}
		}
		i++
	}
	return span{}, false
}

// spans returns what is found, in order, none overlapping.
func (m *matcher) spans(text string) (all []span) {
	if m == nil {
		return nil
	}
	for v := range views(text) {
		for s, ok := m.next(v.text, 0); ok; s, ok = m.next(v.text, s.end) {
			all = append(all, v.original(s))
		}
	}
	return mergeSpans(all)
}

// text returns text with all that is found replaced by the mask.
func (m *matcher) text(text string) string { return maskSpans(text, m.spans(text)) }

// ready returns how much of the beginning of text is sure: no value may begin there and end later.
func (m *matcher) ready(text string) int {
	if m == nil {
		return len(text)
	}
	from, at := max(0, len(text)-m.reach()), len(text)
	for part, before := text[from:], ""; part != before; {
		before = part
		at = min(at, from+len(part))
		for v := range views(before) {
			at = min(at, from+v.original(span{begin: m.opens(v.text)}).begin)
			// An escape may continue beyond text, and be in a value itself.
			if i := findOpenEscape(v.text); i < len(v.text) {
				part = part[:min(len(part), v.original(span{begin: i}).begin)]
			}
		}
	}
	near := max(0, at-2*m.reach()) // no value is longer, so that none from before is cut
	for _, s := range slices.Backward(m.spans(text[near:])) {
		if s.begin < at-near && s.end > at-near {
			at = near + s.begin
		}
	}
	return at
}

// reach bounds the bytes of a value as it is written.
func (m *matcher) reach() int { return (len(m.patterns[0]) + 1) * maxEscape }

// opens returns where the longest beginning of a pattern starts that text ends in.
func (m *matcher) opens(text string) int {
	for i := max(0, len(text)-len(m.patterns[0])+1); i < len(text); i++ {
		if slices.ContainsFunc(m.patterns, func(p string) bool { return len(p) > len(text)-i && strings.HasPrefix(p, text[i:]) }) {
			return i
		}
	}
	return len(text)
}

// findOpenEscape returns where an escape begins that may continue after text.
func findOpenEscape(text string) int {
	for i := max(0, len(text)-2*maxEscape); i < len(text); i++ {
		if codings[text[i]] == 0 {
			continue
		}
		if _, n := escape(text[i:], inAll); n > 0 {
			i += n - 1
		} else if !strings.ContainsAny(text[i+1:], " \n\t;,{}<>|()") {
			return i
		}
	}
	return len(text)
}
