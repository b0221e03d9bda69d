package gateway

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads the string that begins here, checks it and resolves its escapes, in
// one pass and eight bytes at a time: nearly all of a request is strings. What it
// returns is a part of the text, or of the desk if there are escapes.
func (p *parser) str() ([]byte, bool) {
	p.i++
	start := p.i
	p.i = plainTo(p.b, p.i)
	if p.i >= len(p.b) {
		return nil, false
	}
	if p.b[p.i] == '"' {
		p.i++
		return p.b[start : p.i-1 : p.i-1], true
	}
	return p.escaped(start)
}

// word is how many bytes are looked at together.
const word = 8

// A byte of its own in every byte of a word.
const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// marks has the highest bit of the first byte of w set that is no letter of a
// plain string: a quote, a backslash, a control character. Bits above it may be
// wrong, none is below. (Bit tricks: Warren, Hacker's Delight, 6-1.)
func marks(w uint64) uint64 {
	quote, slash := w^('"'*ones), w^('\\'*ones)
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-' '*ones)&^w) & highs
}

// special reports whether c is a byte that marks marks.
func special(c byte) bool { return c == '"' || c == '\\' || c < ' ' }

// plainTo returns where the first special byte from i on stands, or len(b).
func plainTo(b []byte, i int) int {
	for ; i+word <= len(b); i += word {
		if m := marks(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/word
		}
	}
	for i < len(b) && !special(b[i]) {
		i++
	}
	return i
}

// escaped is the rest of str for a string in which something special stands at
// p.i, while all from start to there is plain.
func (p *parser) escaped(start int) ([]byte, bool) {
	out, b, i := p.desk.space(len(p.b)-start+word), p.b, p.i
	n := copy(out, b[start:i])
	for i < len(b) {
		// What is read is no shorter than what is written, so that a word always fits.
		if i+word <= len(b) && b[i] != '\\' {
			w := binary.LittleEndian.Uint64(b[i:])
			binary.LittleEndian.PutUint64(out[n:], w)
			m := marks(w)
			if m == 0 {
				i, n = i+word, n+word
				continue
			}
			plain := bits.TrailingZeros64(m) / word
			i, n = i+plain, n+plain
		}
		switch c := b[i]; {
		case c == '"':
			p.i = i + 1
			p.desk.used += n
			return out[:n:n], true
		case c == '\\':
			read, wrote := unescape(out[n:], b[i:])
			if read == 0 {
				p.i = i
				return nil, false
			}
			i, n = i+read, n+wrote
		case c < ' ':
			p.i = i
			return nil, false
		default:
			out[n] = c
			i, n = i+1, n+1
		}
	}
	p.i = i
	return nil, false
}

// unescape resolves the escape that b begins with. It returns how many bytes it
// has read, 0 if it is none, and written.
func unescape(out, b []byte) (read, wrote int) {
	if len(b) < 2 {
		return 0, 0
	}
	c := b[1]
	switch c {
	case 'n':
		c = '\n'
	case '"', '\\', '/':
	case 't':
		c = '\t'
	case 'r':
		c = '\r'
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'u':
		return unescapeRune(out, b)
	default:
		return 0, 0
	}
	out[0] = c
	return 2, 1
}

// unescapeRune resolves \uXXXX, and two of them that are one rune. Half of such
// a pair becomes U+FFFD, as encoding/json does it.
func unescapeRune(out, b []byte) (read, wrote int) {
	r, ok := hex4(b[2:])
	if !ok {
		return 0, 0
	}
	read = 6
	if utf16.IsSurrogate(r) {
		high := r
		r = utf8.RuneError
		if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
			low, _ := hex4(b[8:])
			if pair := utf16.DecodeRune(high, low); pair != utf8.RuneError {
				r, read = pair, 12
			}
		}
	}
	return read, utf8.EncodeRune(out, r)
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// validUTF8 returns a copy in which every byte that is no UTF-8 is U+FFFD, as
// encoding/json reads it.
func validUTF8(b []byte) []byte {
	out := make([]byte, 0, len(b)+len(b)/2)
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		out = utf8.AppendRune(out, r)
		b = b[size:]
	}
	return out
}
