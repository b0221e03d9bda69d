package transcript

import (
	"bytes"
	"unicode/utf8"
)

// Texts of more than longText bytes lose all but their ends where a source says that what they
// are is what a tool printed.
const (
	longText = 2 << 10
	ends     = 512 // that stay, at either end
)

// printed reports whether a line has what a tool printed, and nothing that has to be read whole.
// What looks for `"word"` finds it as a name or a value alone: within a text a quote has a
// backslash before it.
type printed func(line []byte) bool

// mentions returns a printed that looks for words.
func mentions(words ...string) printed {
	return func(line []byte) bool {
		for _, w := range words {
			if bytes.Contains(line, []byte(w)) {
				return true
			}
		}
		return false
	}
}

// abridgeLine returns a line of JSON with its long texts cut in the middle: most of what agents
// write down is what tools printed, and next to nothing of that is read. The line is valid JSON if
// it was; a line that is not whole is returned as it is.
func abridgeLine(line []byte) []byte {
	out := make([]byte, 0, 2*ends)
	for rest := line; ; {
		from := bytes.IndexByte(rest, '"') + 1
		if from == 0 {
			return append(out, rest...)
		}
		n := findTextEnd(rest[from:])
		if n < 0 {
			return line
		}
		out = append(out, rest[:from]...)
		if text := rest[from : from+n]; n > longText {
			out = append(append(append(out, head(text)...), "…"...), tail(text)...)
		} else {
			out = append(out, text...)
		}
		out, rest = append(out, '"'), rest[from+n+1:]
	}
}

// findTextEnd returns where the text that b begins with ends: at a quote that no backslash escapes.
// It returns -1 if the text does not end.
func findTextEnd(b []byte) int {
	for from := 0; ; {
		n := bytes.IndexByte(b[from:], '"')
		if n < 0 {
			return -1
		}
		at := from + n
		slashes := 0
		for at-slashes > from && b[at-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return at
		}
		from = at + 1
	}
}

// head returns the beginning of a text, without an escape or a character that is cut.
func head(text []byte) []byte {
	n := ends
	for !utf8.RuneStart(text[n]) {
		n--
	}
	const escape = len(`\u0000`) - 1 // the most of one that can precede the cut
	if i := bytes.LastIndexByte(text[n-escape:n], '\\'); i >= 0 {
		n += i - escape
	}
	for n > 0 && text[n-1] == '\\' {
		n--
	}
	return text[:n]
}

// tail returns the end of a text. What is left of an escape that was cut is not an escape.
func tail(text []byte) []byte {
	n := len(text) - ends
	for n < len(text) && (text[n-1] == '\\' || !utf8.RuneStart(text[n])) {
		n++
	}
	return text[n:]
}
