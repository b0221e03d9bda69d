package redact

import (
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// maxPiece bounds how many bytes of lines are looked at as one; a line that is longer is one.
const maxPiece = 16 << 10

// piece returns how much of the beginning of text is looked at as one: whole lines.
func piece(text string) int {
	if len(text) <= maxPiece {
		return len(text)
	}
	if end := strings.LastIndexByte(text[:maxPiece], '\n'); end >= 0 {
		return end + 1
	}
	if end := strings.IndexByte(text[maxPiece:], '\n'); end >= 0 {
		return maxPiece + end + 1
	}
	return len(text)
}

// What private keys are between in PEM, and what is before one of PuTTY: how many lines of
// base64 follow.
const (
	blockBegin = "-----BEGIN "
	linesBegin = "Private-Lines: "
)

var (
	blockStart = pattern.New(`\A-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----`)
	blockStop  = pattern.New(`-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----`)
	keyCount   = pattern.New(`\A` + linesBegin + `(\d{1,3})(?:\r?\n|(?:\\+r)?\\+n)`)
	// A line of a key, behind what a listing puts before it: its number, the sign of a difference
	// or of a quotation.
	keyLine = pattern.New(`\A[ \t]*(?:\d+(?:→|\t|: |\| ))?[ \t]*[+>|-]?[ \t]*([A-Za-z0-9+/=]+|\[redacted\])(?:\r?\n|(?:\\+r)?\\+n|\z|\\*")`)
)

// blocks returns where private keys of several lines are in a text: in PEM, without an end up to
// the quote that ends a text in JSON, or the end of all; and those of PuTTY.
func blocks(text string, looked *int) (spans []span) {
	const line = 160
	a := ahead{s: text}
	for i := 0; i < len(text); {
		pem := a.nextText(i, blockBegin)
		putty := a.nextText(i, linesBegin)
		i = min(pem, putty)
		if i == len(text) {
			break
		}
		window := text[i:min(len(text), i+line)]
		if m := blockStart.FindStringIndex(window); m != nil {
			end := a.blockEnd(i + m[1])
			spans = append(spans, span{begin: i, end: end, with: Mask, body: m[1]})
			i = end
			continue
		}
		m := keyCount.FindStringSubmatchIndex(window)
		if m == nil {
			i++
			continue
		}
		left, _ := strconv.Atoi(window[m[2]:m[3]])
		for i += m[1]; left > 0; left-- {
			l := keyLine.FindStringSubmatchIndex(text[i:min(len(text), i+line)])
			if l == nil {
				break
			}
			if maskAt(text[i+l[2]:]) == 0 {
				spans = append(spans, span{begin: i + l[2], end: i + l[3], with: Mask})
			}
			i += l[1]
		}
	}
	*looked += a.looked
	return spans
}

// blockEnd returns where the block of PEM ends whose first line ends at i.
func (a *ahead) blockEnd(i int) int {
	quote := a.nextText(i, `"`)
	if m := blockStop.FindStringIndex(a.s[i:quote]); m != nil {
		a.looked += m[1]
		return i + m[1]
	}
	a.looked += quote - i
	if quote < len(a.s) {
		return i + len(strings.TrimRight(a.s[i:quote], `\`))
	}
	return quote
}
