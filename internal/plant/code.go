package plant

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// language returns how a file is written, by its name: "c" is what is like C, "" is unknown.
func language(name string) string {
	ext := strings.TrimPrefix(strings.ToLower(path.Ext(name)), ".")
	switch {
	case slices.Contains(strings.Fields("js jsx mjs cjs ts tsx mts cts"), ext):
		return "js"
	case slices.Contains(strings.Fields("java kt c h cc cpp hpp cs swift dart scala"), ext):
		return "c"
	case ext == "go" || ext == "py" || ext == "rs":
		return ext
	}
	return ""
}

// Code returns a text of which code is left alone: comments are spaces, strings and regular
// expressions are quotes. Every byte of code is where it was, and every line.
func Code(name, text string) string {
	m := masker{in: text, out: []byte(text), language: language(name)}
	for at := 0; at < len(text); at++ { // code ends at a brace that nothing opened
		at = m.code(at)
	}
	return string(m.out)
}

type masker struct {
	in       string
	out      []byte
	language string
	depth    int // how many strings the code is in
}

// deepest is how far strings with code in them may be nested.
const deepest = 64

// code masks from at to the first "}" that closes nothing, and returns where it is. In a string of
// Python the format of a value follows a ":", and is no code.
func (m *masker) code(at int) int {
	for open := 0; at < len(m.in); {
		switch m.in[at] {
		case '{', '(', '[':
			open++
		case '}', ')', ']':
			if open--; open < 0 && (m.in[at] == '}' || m.depth > 0) {
				return at
			}
			open = max(open, 0)
		case ':':
			if open == 0 && m.depth > 0 && m.language == "py" {
				return at
			}
		}
		if end := m.comment(at); end > at {
			at = m.fill(at, end, ' ')
		} else if end := m.stringEnd(at); end > at {
			at = m.fill(at, end, '"')
		} else {
			at++
		}
	}
	return at
}

func (m *masker) fill(at, end int, with byte) int {
	for end = min(end, len(m.in)); at < end; at++ {
		if m.in[at] != '\n' {
			m.out[at] = with
		}
	}
	return end
}

// comment returns the end of a comment. Rust has them in each other.
func (m *masker) comment(at int) int {
	rest := m.in[at:]
	switch {
	case rest[0] == '#' && (m.language == "py" || m.language == "c"), strings.HasPrefix(rest, "//") && m.language != "py", strings.HasPrefix(rest, "#!") && at == 0:
		return at + indexFrom(rest, "\n", 0)
	case !strings.HasPrefix(rest, "/*") || m.language == "py":
		return at
	case m.language != "rs":
		return at + indexFrom(rest, "*/", 2) + 2
	}
	i := 3
	for open := 1; open > 0 && i < len(rest); i++ {
		switch rest[i-1 : i+1] {
		case "/*":
			open, i = open+1, i+1
		case "*/":
			open, i = open-1, i+1
		}
	}
	return at + i
}

// indexFrom returns where end is in rest, from a place on, or the length of rest.
func indexFrom(rest, end string, from int) int {
	if i := strings.Index(rest[min(from, len(rest)):], end); i >= 0 {
		return from + i
	}
	return len(rest)
}

var (
	pythonString = pattern.New(`^(?i)([rbuft]{0,2})("""|'''|"|')`)
	rustString   = pattern.New(`^(?:(?:b|c)?r(#*)"|(?:b|c)?(")|b?'(?:\\[^\n][^'\n]*|[^\\'\n])')`)
	jsRegex      = pattern.New(`^/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])*/\w*`)
	// jsNoValue is what no division follows; a "/" after "<" closes a tag.
	jsNoValue = pattern.New(`(?:^|[^\w\s$)\]}"<+-]|\b(?:return|typeof|case|in|of|delete|void|throw|new|else|do|instanceof|yield|await))\s*$`)
)

// stringEnd returns the end of a string or of a regular expression.
func (m *masker) stringEnd(at int) int {
	rest, word := m.in[at:], at > 0 && wordy(m.in[at-1])
	if !strings.ContainsRune("\"'`/#", rune(rest[0])) && (word || !wordy(rest[0])) {
		return at
	}
	switch m.language {
	case "py":
		if found := pythonString.FindStringSubmatch(rest); found != nil && (!word || found[1] == "") {
			return m.quoteEnd(at+len(found[0]), found[2], strings.ContainsAny(found[1], "ftFT"))
		}
		return at
	case "rs":
		found := rustString.FindStringSubmatch(rest)
		switch {
		case found == nil || word && rest[0] != '"' && rest[0] != '\'':
			return at
		case strings.HasSuffix(found[0], "'"):
			return at + len(found[0])
		case found[2] != "":
			return m.quoteEnd(at+len(found[0]), `"`, false)
		}
		return at + indexFrom(rest, `"`+found[1], len(found[0])) + 1 + len(found[1])
	}
	switch {
	case strings.HasPrefix(rest, `"""`), strings.HasPrefix(rest, "'''"):
		return m.quoteEnd(at+3, rest[:3], false)
	case rest[0] == '`' && m.language != "js":
		return at + indexFrom(rest, "`", 1) + 1
	case strings.ContainsRune("\"'`", rune(rest[0])):
		return m.quoteEnd(at+1, rest[:1], rest[0] == '`')
	case rest[0] == '/' && m.language == "js" && jsNoValue.MatchString(string(m.out[max(0, at-40):at])):
		return at + len(jsRegex.FindString(rest))
	}
	return at
}

func wordy(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= utf8.RuneSelf
}

// quoteEnd returns the end of a string that end closes. With a quote of one character it ends with its
// line but in Rust. The code in a template or a formatted string may have such strings itself.
func (m *masker) quoteEnd(at int, end string, fields bool) int {
	for lines := len(end) > 1 || end == "`" || m.language == "rs"; at < len(m.in); {
		switch rest := m.in[at:]; {
		case strings.HasPrefix(rest, end):
			return at + len(end)
		case rest[0] == '\n' && !lines:
			return at
		case rest[0] == '\\', fields && end != "`" && strings.HasPrefix(rest, "{{"):
			at += 2
		case fields && m.depth < deepest && (rest[0] == '{' && end != "`" || end == "`" && strings.HasPrefix(rest, "${")):
			m.depth++
			at = m.code(at+1+strings.IndexByte(rest, '{')) + 1
			m.depth--
		default:
			at++
		}
	}
	return at
}

// bracketsFit reports whether brackets fit in code.
func bracketsFit(code string) bool {
	var open []byte
	for i := range len(code) {
		switch c := code[i]; c {
		case '(', '[', '{':
			open = append(open, c)
		case ')', ']', '}':
			if len(open) == 0 || c-open[len(open)-1] > 2 {
				return false
			}
			open = open[:len(open)-1]
		}
	}
	return len(open) == 0
}
