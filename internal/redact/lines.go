package redact

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxPiece bounds what is looked at as one: a line that is longer is cut where no
// secret is. It is the carry-over of a Stream.
const maxPiece = 64 << 10

// piece returns how much of the beginning of text is looked at as one: a line, or a
// part of one that is too long. It depends on no more than the first two bounds of
// text. Without final, text may go on; then 0 says that more of it is needed.
func piece(text string, final bool) int {
	window := text[:min(len(text), 2*maxPiece)]
	if end := strings.IndexByte(window[:min(len(window), maxPiece)], '\n'); end >= 0 {
		return end + 1
	}
	if len(window) < 2*maxPiece {
		if !final {
			return 0
		}
		if end := strings.IndexByte(window, '\n'); end >= 0 {
			window = window[:end+1]
		}
		if len(window) <= maxPiece {
			return len(window)
		}
	}
	return border(window)
}

// border returns where to cut a line at about maxPiece: behind a secret that is
// there, else before a word.
func border(window string) int {
	if end := strings.IndexByte(window, '\n'); end >= 0 {
		window = window[:end+1]
	}
	cut := maxPiece
	spans := scan(window)
	for _, s := range spans {
		if s.begin < cut+maxName && s.end > cut {
			return s.end
		}
	}
	for i := cut; i > cut-maxPiece/2; i-- {
		if (window[i-1] == ' ' || window[i-1] == ',') && !within(spans, i) {
			cut = i
			break
		}
	}
	for cut < len(window) && !utf8.RuneStart(window[cut]) {
		cut++
	}
	return cut
}

// within reports whether i is in a secret or in the name before it.
func within(spans []span, i int) bool {
	return slices.ContainsFunc(spans, func(s span) bool { return s.begin-maxName < i && i < s.end })
}

const (
	blockBegin = "-----BEGIN "
	blockEnd   = "-----END "
	blockKind  = "PRIVATE KEY"
	blockDash  = "-----"

	maxBlockLine = 80 // the length of a line that begins or ends a block
)

// withoutBlocks returns text without private keys in PEM.
func withoutBlocks(text string) string {
	if !strings.Contains(text, blockBegin) {
		return text
	}
	var b blocks
	return b.pass(text, true)
}

// blocks takes private keys in PEM out of a text that comes in parts.
type blocks struct {
	rest   string // may be part of a line that begins or ends a block
	inside bool
}

// pass takes a part of a text, the last one if final is set, and returns what it has
// of the text without private keys so far.
func (b *blocks) pass(text string, final bool) string {
	var out strings.Builder
	text = b.rest + text
	for text != "" {
		n, was := 0, b.inside
		if was {
			n = b.stop(text, final)
		} else {
			n = b.begin(&out, text, final)
		}
		if n == 0 && b.inside == was {
			break
		}
		text = text[n:]
	}
	b.rest = text
	return out.String()
}

// begin hands over what is before the next block, and the mask for that. It returns
// how much of text is done with; 0 if more of it is needed.
func (b *blocks) begin(out *strings.Builder, text string, final bool) int {
	for from := 0; ; {
		i := strings.Index(text[from:], blockBegin)
		if i < 0 {
			break
		}
		at := from + i
		from = at + len(blockBegin)
		if isBlockLine(text[from:]) > 0 {
			out.WriteString(text[:at] + Mask)
			b.inside = true
			return from
		}
		if !final && len(text)-from < maxBlockLine {
			out.WriteString(text[:at])
			return at
		}
	}
	n := len(text)
	if !final {
		n -= partial(text, blockBegin)
	}
	out.WriteString(text[:n])
	return n
}

// partial returns the length of the longest end of text that something may begin
// with.
func partial(text, something string) int {
	for n := min(len(text), len(something)-1); n > 0; n-- {
		if strings.HasSuffix(text, something[:n]) {
			return n
		}
	}
	return 0
}

// isBlockLine returns the length of what is behind BEGIN or END of a private key:
// its kind and dashes. 0 for other blocks.
func isBlockLine(rest string) int {
	rest = rest[:min(len(rest), maxBlockLine)]
	words := run(rest, 0, uppers|digits) // RSA PRIVATE KEY BLOCK
	for words < len(rest) && rest[words] == ' ' {
		words = run(rest, words+1, uppers|digits)
	}
	if strings.Contains(rest[:words], blockKind) && strings.HasPrefix(rest[words:], blockDash) {
		return words + len(blockDash)
	}
	return 0
}

// stop returns how much of text belongs to the private key that it is inside of, up
// to its last line, before the quote that ends a text in JSON, or all; 0 if more of
// text is needed.
func (b *blocks) stop(text string, final bool) int {
	quote := strings.IndexByte(text, '"')
	search := text
	if quote >= 0 {
		search = text[:quote]
	}
	for at := 0; ; {
		i := strings.Index(search[at:], blockEnd)
		if i < 0 {
			break
		}
		at += i + len(blockEnd)
		if n := isBlockLine(search[at:]); n > 0 {
			b.inside = false
			return at + n
		}
	}
	if quote >= 0 {
		b.inside = false
		return len(strings.TrimRight(search, `\`))
	}
	if final {
		return len(text)
	}
	return max(0, len(text)-len(blockEnd)-maxBlockLine)
}
