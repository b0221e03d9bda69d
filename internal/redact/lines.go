package redact

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// maxPiece bounds what is looked at as one: a line that is longer is cut where no
// secret is.
const maxPiece = 64 << 10

// piece returns how much of the beginning of text is looked at as one: a line, or a
// part of one that is too long. It depends on no more than the first two bounds of
// text.
func piece(text string, looked *int) int {
	window := text[:min(len(text), 2*maxPiece)]
	if end := strings.IndexByte(window[:min(len(window), maxPiece)], '\n'); end >= 0 {
		return end + 1
	}
	if len(window) < 2*maxPiece {
		if end := strings.IndexByte(window, '\n'); end >= 0 {
			window = window[:end+1]
		}
		if len(window) <= maxPiece {
			return len(window)
		}
	}
	return border(window, looked)
}

// border returns where to cut a line at about maxPiece: behind a secret that is
// there, else before a word.
func border(window string, looked *int) int {
	if end := strings.IndexByte(window, '\n'); end >= 0 {
		window = window[:end+1]
	}
	cut := maxPiece
	spans := scan(window, nothing, looked)
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
	if open := strings.LastIndexByte(window[max(0, cut-maxName):cut], '['); open >= 0 {
		open += max(0, cut-maxName)
		cut = max(cut, open+maskAt(window[open:])) // a mask that is cut is none any more
	}
	return cut
}

// within reports whether i is in a secret or in the name before it.
func within(spans []span, i int) bool {
	n := sort.Search(len(spans), func(n int) bool { return spans[n].end > i }) // they are in order
	return n < len(spans) && spans[n].begin-maxName < i
}

const (
	blockBegin = "-----BEGIN "
	blockEnd   = "-----END "
	blockKind  = "PRIVATE KEY"
	blockDash  = "-----"

	maxBlockLine = 80 // the length of a line that begins or ends a block

	linesBegin = "Private-Lines: " // of a private key of PuTTY: how many lines of base64 follow
	maxKeyLine = 120               // the length of one of them, with what a listing puts before it
)

// withoutBlocks returns text without private keys in PEM, and those of PuTTY.
func withoutBlocks(text string, looked *int) string {
	if !strings.Contains(text, blockBegin) && !strings.Contains(text, linesBegin) {
		return text
	}
	var b blocks
	text = b.pass(text)
	*looked += b.looked
	return text
}

// blocks takes private keys out of a text that comes in parts.
type blocks struct {
	inside bool // of a block of PEM
	lines  int  // of a key of PuTTY that may follow
	looked int  // bytes
}

// pass takes a part of a text, and returns it without private keys.
func (b *blocks) pass(text string) string {
	var out strings.Builder
	m := places{looked: &b.looked}
	b.looked += len(text)
	for text != "" {
		n := 0
		switch {
		case b.inside:
			n = b.stop(&m, text)
		case b.lines > 0:
			n = b.keyLine(&out, text)
		default:
			n = b.begin(&m, &out, text)
		}
		text = text[n:]
	}
	return out.String()
}

// begin passes on what is before the next block, and the mask for that. It returns
// how much of text is done with.
func (b *blocks) begin(m *places, out *strings.Builder, text string) int {
	for from := 0; ; {
		at := min(m.next(text, from, blockBegin), m.next(text, from, linesBegin))
		if at >= len(text) {
			break
		}
		mark := text[at : at+len(blockBegin)]
		if mark == blockBegin {
			from = at + len(blockBegin)
			if isBlockLine(text[from:]) > 0 {
				out.WriteString(text[:at] + Mask)
				b.inside = true
				return from
			}
		} else {
			from = at + len(linesBegin)
			if n, lines := keyLines(text[from:]); lines > 0 {
				out.WriteString(text[:from+n])
				b.lines = lines
				return from + n
			}
		}
	}
	out.WriteString(text)
	return len(text)
}

// places remembers where the next of each mark is in a text that gets shorter from its
// beginning, so that no part of it is searched twice. Places are counted from its end.
type places struct {
	left   map[string][2]int // from where it was searched, and where it was found
	looked *int
}

// next returns where the next mark is in text from i on; its length if there is none.
func (m *places) next(text string, i int, mark string) int {
	if f, ok := m.left[mark]; ok && f[0] >= len(text)-i && f[1] <= len(text)-i {
		return len(text) - f[1]
	}
	at := strings.Index(text[i:], mark)
	if at < 0 {
		at = len(text) - i
	}
	*m.looked += at
	if m.left == nil {
		m.left = map[string][2]int{}
	}
	m.left[mark] = [2]int{len(text) - i, len(text) - i - at}
	return i + at
}

// keyLines returns the length of what is behind linesBegin, with the end of its line, and how
// many lines it announces; 0 for other texts.
func keyLines(rest string) (n, lines int) {
	rest = rest[:min(len(rest), maxBlockLine)]
	end := run(rest, 0, digits)
	if end == 0 || end > 3 {
		return 0, 0
	}
	for _, d := range []byte(rest[:end]) {
		lines = lines*10 + int(d-'0')
	}
	stop, next := lineBreak(rest)
	if stop != end {
		return 0, 0
	}
	return next, lines
}

// lineBreak returns where the first line of text ends and the next begins, also where ends of
// lines are escaped as in JSON; -1 if it does not end.
func lineBreak(text string) (end, next int) {
	for i := range len(text) {
		switch text[i] {
		case '\n':
			return i, i + 1
		case '\r':
			if strings.HasPrefix(text[i:], "\r\n") {
				return i, i + 2
			}
		case '\\':
			slashes := len(text) - i - len(strings.TrimLeft(text[i:], `\`))
			rest := text[i+slashes:]
			cr := strings.HasPrefix(rest, "r"+text[i:i+slashes]+"n")
			switch {
			case cr:
				return i, i + slashes + 2 + slashes
			case strings.HasPrefix(rest, "n"):
				return i, i + slashes + 1
			}
		}
	}
	return -1, -1
}

// keyLine masks the next line of a key of PuTTY, if it is one. It returns how much of text is
// done with; 0 if the key is over.
func (b *blocks) keyLine(out *strings.Builder, text string) int {
	window := text[:min(len(text), maxKeyLine)]
	end, next := lineBreak(window)
	if end < 0 {
		if end = strings.IndexByte(window, '"'); end < 0 {
			end = len(window)
		}
		end -= len(window[:end]) - len(strings.TrimRight(window[:end], `\`))
		next = end
	}
	before := listing(text[:end])
	if line := text[before:end]; line == "" || maskAt(line) != len(line) && run(line, 0, alnum|signs) != len(line) {
		b.lines = 0
		return 0
	}
	out.WriteString(text[:before] + Mask + text[end:next])
	if b.lines--; next == end {
		b.lines = 0
	}
	return next
}

// listing returns the length of what a listing puts before a line: its number, the sign of a
// difference or of a quotation.
func listing(line string) int {
	i := behindSpace(line, 0)
	number := run(line, i, digits)
	for _, sign := range []string{"→", "\t", ": ", "| "} {
		if number > i && strings.HasPrefix(line[number:], sign) {
			i = number + len(sign)
		}
	}
	if i < len(line) && strings.IndexByte("+->|", line[i]) >= 0 {
		i++
	}
	return behindSpace(line, i)
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
// to its last line, before the quote that ends a text in JSON, or all.
func (b *blocks) stop(m *places, text string) int {
	quote := m.next(text, 0, `"`)
	search := text[:quote]
	for at := 0; ; {
		i := m.next(text, at, blockEnd)
		if i+len(blockEnd) > quote {
			break
		}
		at = i + len(blockEnd)
		if n := isBlockLine(search[at:]); n > 0 {
			b.inside = false
			return at + n
		}
	}
	if quote < len(text) {
		b.inside = false
		return len(strings.TrimRight(search, `\`))
	}
	return len(text)
}
