package redact

import "strings"

// A promise is what a line says of the next one.
type promise uint8

const (
	nothing promise = iota
	under           // "password:", whose value is below it
	blockOf         // "password: |", whose value surely does
	entry           // "login me" of .netrc, before "password x"
	beside          // "name: API_KEY", before "value: x"
)

// promiseOf returns what a line without secrets says of the next one.
func promiseOf(line string) promise {
	if !strings.HasSuffix(line, "\n") {
		return nothing
	}
	line = strings.TrimRight(line, " \t\r\n")
	begin := behindSpace(line, 0)
	if begin >= len(line) {
		return nothing
	}
	switch line[len(line)-1] {
	case ':':
		return below(line[:len(line)-1], under)
	case '|', '>', '-', '+':
		at := strings.LastIndexByte(line, ':')
		if at < 0 || !isBlock(line, behindSpace(line, at+1)) {
			return nothing
		}
		return below(line[:at], blockOf)
	}
	if strings.HasPrefix(line[begin:], "login ") || strings.HasPrefix(line[begin:], "machine ") {
		return entry
	}
	if at := strings.LastIndexByte(line, ':'); at > 0 {
		before := strings.TrimRight(strings.TrimSuffix(line[:at], `"`), " ")
		of := strings.Trim(line[at+1:], " \"',")
		if k := kindOf(of); (strings.HasSuffix(before, "name") || strings.HasSuffix(before, "key")) && run(of, 0, token|dots) == len(of) && (k == strong || k == spoken) {
			return beside
		}
	}
	return nothing
}

// below returns p if a name ends before that is one of a secret.
func below(before string, p promise) promise {
	before = strings.TrimRight(before, `"' `)
	begin := len(before)
	for begin > 0 && inWord[before[begin-1]] {
		begin--
	}
	if k := kindOf(before[begin:]); k != strong && k != spoken {
		return nothing
	}
	return p
}

// promised masks what the line before has promised, and returns where to continue.
func (sc *scanner) promised(p promise) int {
	s := sc.s
	v := behindSpace(s, 0)
	if p == nothing || v >= len(s) {
		return 0
	}
	switch p {
	case entry:
		if strings.HasPrefix(s[v:], "password ") {
			return sc.positional(sc.arguments(v+len("password"), 1), 0, 0)
		}
	case beside:
		word := v + len(quoteAt(s, v))
		if end := run(s, word, letters); s[word:end] == "value" {
			if at, quote, ok := separated(s, end); ok && at < len(s) {
				return sc.value(name{kind: strong, text: "value", begin: word, quote: quote}, at)
			}
		}
	default:
		if v == 0 {
			return 0
		}
		from, end := sc.commandWord(v)
		rest := strings.Trim(s[end:], "\"' \t\r\n")
		if value := s[from:end]; rest == "" && len(value) >= 4 && !sc.placeholder(from, end) && (p == blockOf || sc.looksSecret(from, end)) {
			return sc.mask(from, end, "")
		}
	}
	return 0
}

// isBlock reports whether what is at v says that the value of a name is below it.
func isBlock(s string, v int) bool {
	if v >= len(s) || s[v] != '|' && s[v] != '>' {
		return false
	}
	if v++; v < len(s) && (s[v] == '-' || s[v] == '+') {
		v++
	}
	v = runOf(s, v, ' ')
	return textEnd(s, v) == v
}
