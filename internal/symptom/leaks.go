package symptom

import (
	"slices"
	"strings"
	"unicode"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/plant"
)

// known is what only the fix and the hidden tests have.
type known struct {
	source Source
	names  map[string]bool // identifiers, in lower case
	needed map[string]bool // those of them that the tests need: a text may name them
	lines  []string        // without spaces
	tests  string          // the text of tests without spaces
	code   string          // the same, strings masked
}

var (
	word = pattern.New(`[\p{L}_$][\p{L}\p{N}\p{M}_$]*`)
	// used is a plain word that code has: one that is called, assigned, declared or a member.
	used    = pattern.New(`([\p{L}_$][\p{L}\p{N}\p{M}_$]*) ?(?:\(|\[|\.\w|:?=[^=]|[-+*/]=)|(?:\.|\b(?:def|func|fn|function|let|mut|const|var|class|type|struct|for|as|self\.) ?)([\p{L}_$][\p{L}\p{N}\p{M}_$]*)`)
	defined = pattern.New(`(?m)\b(?:def|func|fn|function|class|type|struct|let|mut|const|var) +([\p{L}_$][\p{L}\p{N}\p{M}_$]*)|^\s*([\p{L}_$][\p{L}\p{N}\p{M}_$]*) *:?=[^=]`)
	words   = pattern.New(`^(?:if|else|elif|for|while|return|func|def|fn|function|class|var|let|const|in|is|not|and|or|the|an?|of|to|import|from|raise|throw|try|except|catch|new|nil|none|null|true|false|self|this|err|error|len|range|int|str|string|bool|list|with|as|match|case|switch|break|continue|pass|async|await|pub|use|mut|impl|struct|enum|type|map|set|go|defer|select|package|interface|static|void|unwrap|some|ok)$`)
)

func know(s Source) *known {
	k := &known{source: s, names: map[string]bool{}, needed: map[string]bool{}}
	base := map[string]bool{}
	for _, w := range word.Regexp().FindAllString(s.BaseText, -1) {
		base[strings.ToLower(w)] = true
	}
	ext := s.Path
	if ext == "" {
		ext = "x.js"
	}
	tests := plant.Code(ext, s.TestText)
	for _, w := range word.Regexp().FindAllString(stringsIn(s.TestText, tests), -1) {
		base[strings.ToLower(w)] = true // what tests pass in or expect is behaviour
	}
	for _, f := range s.Failing {
		for _, w := range word.Regexp().FindAllString(f.Name, -1) {
			base[strings.ToLower(w)] = true
		}
	}
	for line := range strings.Lines(s.Diff) {
		if len(line) > 1 && (line[0] == '+' || line[0] == '-') && !strings.HasPrefix(line, "+++ ") && !strings.HasPrefix(line, "--- ") {
			code := plant.Code(ext, line[1:])
			k.note(line[1:], code)
			if line[0] == '+' {
				k.identify(code, base, true)
			}
		}
	}
	at := 0
	for line := range strings.Lines(s.TestText) {
		k.note(line, tests[at:at+len(line)])
		at += len(line)
	}
	k.identify(tests, base, false)
	needed := s.Undefined
	for _, f := range s.Failing {
		needed = append(slices.Clip(needed), FindUndefined(f.Message)...)
	}
	for _, w := range needed {
		if l := strings.ToLower(w); k.names[l] {
			k.needed[l] = true
			delete(k.names, l)
		}
	}
	k.tests, k.code = squashBoth(s.TestText, tests)
	return k
}

// stringsIn returns what is in strings: what code is not.
func stringsIn(text, code string) string {
	out := []byte(text)
	for i := range out {
		if code[i] != '"' && out[i] != '\n' {
			out[i] = ' '
		}
	}
	return string(out)
}

// identify notes the names of code that the base does not have: of a fix all, of tests those that they
// define and that are no plain words.
func (k *known) identify(code string, base map[string]bool, fix bool) {
	note := func(w string) {
		if l := strings.ToLower(w); len(w) > 1 && !base[l] && !words.MatchString(l) {
			k.names[l] = true
		}
	}
	odd := func(w string) bool { return strings.ContainsAny(w, "_$0123456789") || strings.ToLower(w[1:]) != w[1:] }
	if !fix {
		for _, m := range defined.FindAllStringSubmatch(code, -1) {
			if w := m[1] + m[2]; odd(w) {
				note(w)
			}
		}
		return
	}
	for _, w := range word.Regexp().FindAllString(code, -1) {
		if odd(w) || unicode.IsUpper([]rune(w)[0]) {
			note(w)
		}
	}
	for _, m := range used.FindAllStringSubmatch(code, -1) {
		note(m[1] + m[2])
	}
}

// note notes a line that has code which is more than a name.
func (k *known) note(line, code string) {
	if len(squash(strings.ReplaceAll(code, `"`, ""))) >= 8 && strings.ContainsAny(code, "(=<>[.:+") {
		k.lines = append(k.lines, strings.TrimRight(squash(line), ";,{:"))
	}
}

func squashBoth(text, code string) (string, string) {
	var a, b strings.Builder
	for i := range len(text) {
		if strings.IndexByte(" \t\r\n", text[i]) < 0 {
			a.WriteByte(text[i])
			b.WriteByte(code[i])
		}
	}
	return a.String(), b.String()
}

// Leaks returns what a text names of the fix or the hidden tests: identifiers and lines that the
// base does not have. What s.Undefined lists is none. They are sorted.
func Leaks(text string, s Source) []string { return know(s).leaks(text) }

func (k *known) leaks(text string) []string {
	var out []string
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text)
	for _, w := range word.Regexp().FindAllString(text, -1) {
		if k.names[strings.ToLower(w)] {
			out = append(out, w)
		}
	}
	for flat := squash(text); len(flat) > 0; flat = "" {
		for _, line := range k.lines {
			if strings.Contains(flat, line) {
				out = append(out, line)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var call = pattern.New(`[\w$)\]]\(`)

// lead is what assertions say before they quote what was asserted.
var lead = pattern.New(`^\s*(?:AssertionError:\s*)?(?:assert(?:ion failed)?:?\s+)?`)

// quotes reports whether a line of a message is code of the tests, as that which an assertion evaluated.
func (k *known) quotes(line string) bool {
	flat := strings.TrimRight(squash(lead.ReplaceAllString(line, "")), ";")
	if len(flat) < 6 || !call.MatchString(flat) {
		return false
	}
	at := strings.Index(k.tests, flat)
	return at >= 0 && strings.Trim(k.code[at:at+len(flat)], `"`) != ""
}
