package redact

import (
	"html"
	"sort"
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

	inAll = inJSON | inURL | inHTML
)

// maxEscape is the length in bytes of the longest escape that is decoded: a pair of
// surrogates.
const maxEscape = 12

// view is a text with its escapes decoded. It knows where its bytes was.
type view struct {
	text string
	at   []int32 // of what is decoded: offset in text, offset in the original, both ends
	of   coding  // those that were there
}

// decoded returns text without the escapes of the codings c, and whether there were
// any.
func decoded(text string, c coding) (view, bool) {
	var v view
	var out []byte
	from := 0
	for i := nextEscape(text, 0, c); i < len(text); {
		char, size, n := escape(text[i:], c)
		if n == 0 {
			i = nextEscape(text, i+1, c)
			continue
		}
		if out == nil {
			out, v.at = make([]byte, 0, len(text)), make([]int32, 0, 64)
		}
		v.of |= codings[text[i]]
		out = append(out, text[from:i]...)
		begin := len(out)
		out = append(out, char[:size]...)
		v.at = append(v.at, int32(begin), int32(i), int32(len(out)), int32(i+n)) //nolint:gosec // texts are shorter than 2 GiB
		from = i + n
		i = nextEscape(text, from, c)
	}
	if out == nil {
		return view{text: text}, false
	}
	v.text = string(append(out, text[from:]...))
	return v, true
}

// codings holds the coding of which a byte begins the escapes.
var codings = [256]coding{'\\': inJSON, '%': inURL, '&': inHTML}

// nextEscape returns where the next escape may begin.
func nextEscape(text string, i int, c coding) int {
	for i < len(text) && codings[text[i]]&c == 0 {
		i++
	}
	return i
}

// escape returns what text begins with, the number of its bytes and those of the
// escape; none if it does not begin with an escape.
func escape(text string, c coding) (char [4]byte, size, n int) {
	if len(text) < 2 {
		return char, 0, 0
	}
	switch codings[text[0]] & c {
	case inJSON:
		return jsonEscape(text)
	case inURL:
		if b, ok := hexByte(text[1:]); ok {
			return [4]byte{b}, 1, 3
		}
	case inHTML:
		return entity(text)
	}
	return char, 0, 0
}

func jsonEscape(text string) (char [4]byte, size, n int) {
	if i := strings.IndexByte(`"\/bfnrt'`, text[1]); i >= 0 {
		return [4]byte{"\"\\/\b\f\n\r\t'"[i]}, 1, 2
	}
	r, ok := unit(text)
	if !ok {
		return char, 0, 0
	}
	n = 6
	if utf16.IsSurrogate(r) {
		low, ok := unit(text[6:])
		if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
			return char, 0, 0
		}
		n = 12
	}
	return char, utf8.EncodeRune(char[:], r), n
}

// unit returns what \uXXXX at the beginning of text represents.
func unit(text string) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	high, ok := hexByte(text[2:])
	low, also := hexByte(text[4:])
	return rune(high)<<8 | rune(low), ok && also
}

func hexByte(text string) (byte, bool) {
	if len(text) < 2 || hexDigit[text[0]] == 0 || hexDigit[text[1]] == 0 {
		return 0, false
	}
	return (hexDigit[text[0]]-1)<<4 | (hexDigit[text[1]] - 1), true
}

// hexDigit holds the values of hexadecimal digits plus one.
var hexDigit = func() (t [256]byte) {
	for i, c := range "0123456789abcdef" {
		t[c], t[strings.ToUpper(string(c))[0]] = byte(i)+1, byte(i)+1
	}
	return t
}()

// entity decodes those of HTML that represent one character, as &lt; or &#39; or &#x27;.
func entity(text string) (char [4]byte, size, n int) {
	end := strings.IndexByte(text[:min(len(text), maxEscape)], ';') + 1
	plain := html.UnescapeString(text[:end])
	if end < 4 || plain == text[:end] || utf8.RuneCountInString(plain) != 1 {
		return char, 0, 0
	}
	if plain == "\u00a0" {
		plain = " "
	}
	return char, copy(char[:], plain), end
}

// original returns where a part of the view was. What an escape gave belongs to
// it whole.
func (v view) original(s span) span {
	return span{begin: v.locate(s.begin, false), end: v.locate(s.end, true)}
}

func (v view) locate(pos int, end bool) int {
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
