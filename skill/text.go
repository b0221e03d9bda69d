package skill

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/wording"
)

const (
	lf   = "\n"
	crlf = "\r\n"
)

// LineEnd returns the line ending of text: "\r\n" when more than half of its
// line breaks are, else "\n".
func LineEnd(text string) string {
	if 2*strings.Count(text, crlf) > strings.Count(text, lf) {
		return crlf
	}
	return lf
}

// WithLineEnd returns text with end, "\n" or "\r\n", instead of each line
// break of either sort.
func WithLineEnd(text, end string) string {
	text = strings.ReplaceAll(text, crlf, lf)
	if end == crlf {
		return strings.ReplaceAll(text, lf, crlf)
	}
	return text
}

// Plain returns a text that somebody else wrote, such as a model, as it may become
// part of a skill: without characters that steer what displays them or that no one
// sees (control characters but line break and tab, overrides of direction, what
// has no width). Others that end a line become line breaks. Text that is not UTF-8
// stays as it is: Apply refuses it.
func Plain(text string) string {
	if invalidUTF8(text) >= 0 {
		return text
	}
	return wording.Plain(text)
}

// PlainLines does what Plain does for a document that was written again. Lines that are in the
// document before it stay byte for byte as they are there.
func PlainLines(before, after string) string { return newLines(before, after, Plain) }

// newLines cleans those lines of after that are not in before.
func newLines(before, after string, clean func(string) string) string {
	if clean(after) == after {
		return after
	}
	known := map[string]bool{}
	for line := range strings.Lines(before) {
		known[strings.TrimRight(line, crlf)] = true
	}
	var b strings.Builder
	for line := range strings.Lines(after) {
		if known[strings.TrimRight(line, crlf)] {
			b.WriteString(line)
			continue
		}
		b.WriteString(clean(line))
	}
	return b.String()
}

// isSpace is Python's notion of white space: Unicode's, and the four ASCII
// separators. The reference trims by it.
func isSpace(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }

func trim(s string) string    { return strings.TrimFunc(s, isSpace) }
func trimEnd(s string) string { return strings.TrimRightFunc(s, isSpace) }

// indexFrom returns where sub begins in the part of text from the byte at on, counted from the start of text, -1 if nowhere.
func indexFrom(text, sub string, at int) int {
	if i := strings.Index(text[at:], sub); i >= 0 {
		return at + i
	}
	return -1
}

// joinLines joins two texts, leaving at most two line feeds where they meet.
func joinLines(a, b string) string {
	left := len(a) - len(strings.TrimRight(a, lf))
	right := len(b) - len(strings.TrimLeft(b, lf))
	if left == 0 && right == 0 || left+right <= 2 {
		return a + b
	}
	return a[:len(a)-left] + "\n\n" + b[right:]
}

// paragraphs returns text[:upTo] without white space at its end and with one
// blank line after it. The front matter is never trimmed.
func paragraphs(text string, upTo int, end string) string {
	kept, gap := paragraphGap(text, upTo, end)
	return text[:kept] + gap
}

// paragraphGap returns how much of text[:upTo] stays when white space at its end
// is dropped, and the line breaks after which a new paragraph begins.
func paragraphGap(text string, upTo int, end string) (kept int, gap string) {
	front := frontMatterEnd(text)
	kept = front + len(trimEnd(text[front:upTo]))
	if front > 0 && kept == front && strings.HasSuffix(text[:kept], lf) {
		return kept, end
	}
	return kept, end + end
}

// cut returns the first n code points of s.
func cut(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// lineNumber returns the 1-based line in which the byte at offset is.
func lineNumber(text string, offset int) int { return 1 + strings.Count(text[:offset], lf) }

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(text string) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}
