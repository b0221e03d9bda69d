package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// span is a part of a text. with is in its place; "" is the mask.
type span struct {
	begin, end int
	with       string
	body       int // how many bytes of it are a known prefix
}

// minBase64 is the length in bytes from which a value is looked for in base64 and
// in hexadecimal; what is sure of shorter ones would be found in ordinary text.
const minBase64 = 8

// matcher finds known values and their echoes. It is immutable; nil finds nothing.
//
// It looks at windows as long as its shortest pattern and moves by how far the last
// two bytes of a window are from the end of any pattern's beginning (Wu and Manber).
type matcher struct {
	patterns []string // the longest first
	window   int
	shift    []uint8    // by pair
	ending   [][]int    // by pair: the patterns whose window it ends
	first    [256][]int // by byte: the patterns that begin with it
	longest  int        // of all patterns
}

// pairs is the number of classes of two bytes.
const pairs = 1 << 12

func pairOf(a, b byte) int { return (int(a)<<5 ^ int(b)) & (pairs - 1) }

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
	m := &matcher{patterns: slices.Compact(all)}
	m.longest, m.window = len(m.patterns[0]), min(len(m.patterns[len(m.patterns)-1]), 255)
	m.shift, m.ending = make([]uint8, pairs), make([][]int, pairs)
	for i := range m.shift {
		m.shift[i] = uint8(m.window - 1) //nolint:gosec // at most 254
	}
	for n, p := range m.patterns {
		for i := 1; i < m.window; i++ {
			at := pairOf(p[i-1], p[i])
			m.shift[at] = min(m.shift[at], uint8(m.window-1-i)) //nolint:gosec // at most 254
		}
		m.first[p[0]] = append(m.first[p[0]], n)
		last := pairOf(p[m.window-2], p[m.window-1])
		m.ending[last] = append(m.ending[last], n)
	}
	return m
}

// echoes returns how a secret may be written in a view, where escapes are decoded.
// What the secret itself has of escapes may be decoded there too.
func echoes(s string) []string {
	out := []string{s}
	for c := inJSON; c <= inAll; c++ {
		v, _ := decoded(s, c)
		out = append(out, v.text)
	}
	if strings.Contains(s, " ") { // as in the query of a URL
		out = append(out, strings.ReplaceAll(s, " ", "+"))
	}
	if len(s) >= minBase64 {
		lower := hex.EncodeToString([]byte(s))
		out = append(out, lower, strings.ToUpper(lower))
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			for shift := range 3 {
				out = append(out, inside(enc, s, shift))
			}
		}
	}
	return slices.DeleteFunc(out, func(form string) bool { return len(form) < minKnown || strings.Contains(Mask, form) })
}

// inside returns what is sure of the base64 of a text that has s after shift bytes,
// counted modulo 3, whatever is around it.
func inside(enc *base64.Encoding, s string, shift int) string {
	all := enc.EncodeToString(append(make([]byte, shift), s...))
	begin, end := (shift*8+5)/6, len(all)
	if (shift+len(s))%3 != 0 {
		end--
	}
	return all[min(begin, end):end]
}

// next returns the first pattern in text from an offset on, the longest if several
// begin there.
func (m *matcher) next(text string, from int) (span, bool) {
	for i := from + m.window - 1; i < len(text); {
		at := pairOf(text[i-1], text[i])
		if step := int(m.shift[at]); step > 0 {
			i += step
			continue
		}
		begin := i - m.window + 1
		for _, n := range m.ending[at] {
			if strings.HasPrefix(text[begin:], m.patterns[n]) {
				return span{begin: begin, end: begin + len(m.patterns[n])}, true
			}
		}
		i++
	}
	return span{}, false
}

// views calls do with text as it is and with its escapes decoded, each view with
// what finds an offset in the text, until do returns false.
func views(text string, do func(v view, original func(span) span) bool) {
	same := func(s span) span { return s }
	if !do(view{text: text}, same) || nextEscape(text, 0, inAll) == len(text) {
		return
	}
	all, some := decoded(text, inAll)
	if !some {
		return
	}
	if !do(all, all.original) {
		return
	}
	if twice, more := decoded(all.text, inAll); more {
		if !do(twice, func(s span) span { return all.original(twice.original(s)) }) {
			return
		}
	}
	for c := inJSON; c < inAll; c <<= 1 {
		if all.of&c == 0 || all.of == c { // none of these, or nothing else
			continue
		}
		one, _ := decoded(text, c)
		if !do(one, one.original) {
			return
		}
		if twice, more := decoded(one.text, c); more && !do(twice, func(s span) span { return one.original(twice.original(s)) }) {
			return
		}
	}
}

// has reports whether there is anything to find in text.
func (m *matcher) has(text string) (found bool) {
	if m == nil {
		return false
	}
	views(text, func(v view, _ func(span) span) bool {
		_, found = m.next(v.text, 0)
		return !found
	})
	return found
}

// spans returns what is found, in order, none overlapping.
func (m *matcher) spans(text string) []span {
	if m == nil {
		return nil
	}
	var all []span
	views(text, func(v view, original func(span) span) bool {
		for s, ok := m.next(v.text, 0); ok; s, ok = m.next(v.text, s.end) {
			all = append(all, original(s))
		}
		return true
	})
	return merged(all)
}

// merged returns spans in order, those that overlap as one.
func merged(all []span) []span {
	slices.SortFunc(all, func(a, b span) int { return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(b.end, a.end)) })
	var out []span
	for _, s := range all {
		if last := len(out) - 1; last >= 0 && s.begin < out[last].end {
			out[last].end = max(out[last].end, s.end)
			continue
		}
		out = append(out, s)
	}
	return out
}

// text returns text with the mask instead of all that is found.
func (m *matcher) text(text string) string { return masked(text, m.spans(text)) }

// maskedLines is masked, and masks the lines of a span one by one, so that they stay as many.
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
	return masked(text, out)
}

// masked puts the mask, or what represents it, instead of spans.
func masked(text string, spans []span) string {
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	from := 0
	for _, s := range spans {
		b.WriteString(text[from:s.begin])
		b.WriteString(cmp.Or(s.with, Mask))
		from = s.end
	}
	b.WriteString(text[from:])
	return b.String()
}

// ready returns how much of the beginning of text nothing behind text can change:
// no value begins there and ends later, or may do so.
func (m *matcher) ready(text string) int {
	if m == nil {
		return len(text)
	}
	from := max(0, len(text)-m.reach())
	tail := text[from:]
	at := len(text)
	for open := []string{tail}; len(open) > 0 && len(open) <= maxOpen; open = open[1:] {
		part := open[0]
		at = min(at, from+len(part))
		views(part, func(v view, original func(span) span) bool {
			at = min(at, from+original(span{begin: m.opens(v.text)}).begin)
			// An escape may continue behind text, and be in a value itself.
			if i := unfinished(v.text); i < len(v.text) {
				if before := part[:original(span{begin: i, end: i}).begin]; !slices.Contains(open, before) {
					open = append(open, before)
				}
			}
			return true
		})
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
func (m *matcher) reach() int { return (m.longest + 1) * maxEscape }

// maxOpen bounds how many escapes within escapes are looked at.
const maxOpen = 32

// opens returns where the longest beginning of a pattern starts that text ends in.
func (m *matcher) opens(text string) int {
	for i := max(0, len(text)-m.longest+1); i < len(text); i++ {
		for _, n := range m.first[text[i]] {
			if p := m.patterns[n]; len(p) > len(text)-i && strings.HasPrefix(p, text[i:]) {
				return i
			}
		}
	}
	return len(text)
}

// unfinished returns where an escape begins that may continue behind text.
func unfinished(text string) int {
	from := max(0, len(text)-2*maxEscape)
	for i := from; i < len(text); i++ {
		if nextEscape(text[:i+1], i, inAll) > i {
			continue
		}
		if _, _, n := escape(text[i:], inAll); n > 0 {
			i += n - 1
		} else if !strings.ContainsAny(text[i+1:], " \n\t;,{}<>|()") {
			return i
		}
	}
	return len(text)
}
