package redact

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// maxPiece bounds what is looked at as one, most lines: a line that is longer is cut where no
// secret is.
const (
	maxPiece  = 64 << 10
	mostLines = maxPiece / 8
)

// piece returns how much of the beginning of text is looked at as one: lines, or a
// part of one that is too long. It depends on no more than the first two bounds of
// text.
func piece(text string, looked *int) int {
	if len(text) <= mostLines {
		return len(text)
	}
	if end := strings.LastIndexByte(text[:mostLines], '\n'); end >= 0 {
		return end + 1
	}
	window := text[:min(len(text), 2*maxPiece)]
	if end := strings.IndexByte(window, '\n'); end >= 0 {
		window = window[:end+1]
	}
	if len(window) <= maxPiece {
		return len(window)
	}
	return border(window, looked)
}

// border returns where to cut a line at about maxPiece: behind a secret that is
// there, else before a word.
func border(window string, looked *int) int {
	cut := maxPiece
	spans := scan(window, false, looked)
	for _, s := range spans {
		if s.begin < cut+maxName && s.end > cut {
			return s.end
		}
	}
	n := len(spans) // they are in order
	for i := cut; i > cut-maxPiece/2; i-- {
		for n > 0 && spans[n-1].begin-maxName >= i {
			n--
		}
		if (window[i-1] == ' ' || window[i-1] == ',') && (n == 0 || spans[n-1].end <= i) {
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
			spans = append(spans, span{begin: i, end: end, body: m[1]})
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
				spans = append(spans, span{begin: i + l[2], end: i + l[3]})
			}
			i += l[1]
		}
	}
	*looked += a.looked
	return spans
}

// nextText returns where a text is from i on; the length of all if it is not.
func (a *ahead) nextText(i int, text string) int {
	end, _ := a.find(text, i, func(i int) (int, bool) {
		if at := strings.Index(a.s[i:], text); at >= 0 {
			return i + at, true
		}
		return len(a.s), false
	})
	return end
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
