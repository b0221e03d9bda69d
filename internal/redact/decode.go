package redact

import (
	"html"
	"iter"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A coding is a way in which texts are written inside other texts.
type coding uint8

const (
	inJSON coding = 1 << iota // \n, \/, \u003c
	inURL                     // %2F, %2f
	inHTML                    // &amp; &#39; &#x27;
	inAll  = inJSON | inURL | inHTML
)

// maxEscape is the length in bytes of the longest escape that is decoded: a pair of surrogates.
const maxEscape = 12

// view is a text with its escapes decoded. It knows where its bytes were.
type view struct {
	text string
	at   []int32 // of what is decoded: offset in text, offset in the original, both ends
	of   coding  // those that were there
	in   *view   // what it was decoded from; nil for a text as it is
}

// views yields text as it is, and with the escapes of all and of each coding decoded once and twice.
func views(text string) iter.Seq[view] {
	return func(yield func(view) bool) {
		plain := view{text: text}
		if !yield(plain) || strings.IndexByte(text, '\\') < 0 && strings.IndexByte(text, '%') < 0 && strings.IndexByte(text, '&') < 0 {
			return
		}
		all := inAll
		for _, c := range []coding{inAll, inJSON, inURL, inHTML} {
			if all&c == 0 || c != inAll && all == c { // none of these, or nothing else
				continue
			}
			once, some := plain.decode(c)
			if c == inAll {
				all = once.of
			}
			if !some || !yield(once) {
				return
			}
			if twice, more := once.decode(c); more && !yield(twice) {
				return
			}
		}
	}
}

// decode returns a view without the escapes of the codings c, and whether there were any.
func (v *view) decode(c coding) (view, bool) {
	out := view{in: v}
	var b strings.Builder
	text, from := v.text, 0
	for i := 0; i < len(text); i++ {
		if codings[text[i]]&c == 0 {
			continue
		}
		plain, n := escape(text[i:], c)
		if n == 0 {
			continue
		}
		if from == 0 {
			b.Grow(len(text))
		}
		out.of |= codings[text[i]]
		b.WriteString(text[from:i])
		begin := b.Len()
		b.WriteString(plain)
		out.at = append(out.at, int32(begin), int32(i), int32(b.Len()), int32(i+n)) //nolint:gosec // texts are shorter than 2 GiB
		from = i + n
		i = from - 1
	}
	if from == 0 {
		return *v, false
	}
	b.WriteString(text[from:])
	out.text = b.String()
	return out, true
}

// codings holds the coding of which a byte begins the escapes.
var codings = [256]coding{'\\': inJSON, '%': inURL, '&': inHTML}

// escape returns what the escape that text begins with represents, and its length; 0 without one.
func escape(text string, c coding) (plain string, n int) {
	switch codings[text[0]] & c {
	case inJSON:
		return jsonEscape(text)
	case inURL:
		if alphabets[at(text, 1)]&alphabets[at(text, 2)]&hexes != 0 {
			b, _ := strconv.ParseUint(text[1:3], 16, 8)
			return string([]byte{byte(b)}), 3
		}
	case inHTML:
		return entity(text)
	}
	return "", 0
}

func jsonEscape(text string) (plain string, n int) {
	if i := strings.IndexByte(`"\/bfnrt'`, at(text, 1)); i >= 0 {
		return "\"\\/\b\f\n\r\t'"[i : i+1], 2
	}
	r, ok := unit(text)
	switch {
	case !ok:
		return "", 0
	case !utf16.IsSurrogate(r):
		return string(r), maxEscape / 2
	}
	low, _ := unit(text[maxEscape/2:])
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return "", 0
	}
	return string(r), maxEscape
}

// unit returns what \uXXXX at the beginning of text represents.
func unit(text string) (rune, bool) {
	if len(text) < maxEscape/2 || text[:2] != `\u` {
		return 0, false
	}
	r, err := strconv.ParseUint(text[2:6], 16, 16)
	return rune(r), err == nil
}

// entity decodes those of HTML that represent one character, as &lt; or &#39; or &#x27;.
func entity(text string) (plain string, n int) {
	n = strings.IndexByte(text[:min(len(text), maxEscape)], ';') + 1
	plain = html.UnescapeString(text[:n])
	if n < 4 || plain == text[:n] || utf8.RuneCountInString(plain) != 1 {
		return "", 0
	}
	return strings.ReplaceAll(plain, "\u00a0", " "), n
}

// original returns where a part of the view was in the text. What an escape gave belongs to it whole.
func (v *view) original(s span) span {
	for ; v.in != nil; v = v.in {
		s.begin, s.end = v.locate(s.begin, false), v.locate(s.end, true)
	}
	return s
}

func (v *view) locate(pos int, end bool) int {
	n := sort.Search(len(v.at)/4, func(n int) bool { return int(v.at[4*n]) >= pos }) // the escapes that begin before pos
	if n == 0 {
		return pos
	}
	e := v.at[4*(n-1) : 4*n]
	switch {
	case pos >= int(e[2]):
		return int(e[3]) + pos - int(e[2])
	case end:
		return int(e[3])
	}
	return int(e[1])
}
