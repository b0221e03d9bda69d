// Package template fills named values into text: {{name}} and {{a.b}}, nothing
// more. There are no conditions, loops or functions, so that a template can
// never fail half way or run anything. Four opening braces represent two.
//
// It knows nothing about prompts, tasks or where its text comes from. A parsed
// Template is immutable and safe for concurrent use.
package template

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Template is parsed text with names to be filled in.
type Template struct {
	name     string
	segments []segment
}

// segment is literal text, then a name to look up ("" at the end of the text).
type segment struct {
	text string
	name string
	line int
}

// Error is a fault of a template's text or of the values given to it.
type Error struct {
	Template   string // name given to Parse: a file or a config key
	Line       int    // 1-based
	Name       string // the unknown name, "" for a fault of syntax
	Suggestion string // known name closest to Name, "" when none is close
	Msg        string
}

func (e *Error) Error() string {
	msg := fmt.Sprintf("%s:%d: %s", e.Template, e.Line, e.Msg)
	if e.Suggestion != "" {
		msg += fmt.Sprintf("; did you mean {{%s}}?", e.Suggestion)
	}
	return msg
}

// Parse reads a template. name is what errors call it. Every error is an
// *Error with the line of the fault.
func Parse(name, text string) (*Template, error) { return ParseAt(name, 1, text) }

// ParseAt parses text as Parse does, where the text begins on the given line of what name calls.
func ParseAt(name string, line int, text string) (*Template, error) {
	t := &Template{name: name}
	var lit strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{{")
		lit.WriteString(before)
		line += strings.Count(before, "\n")
		if !found {
			break
		}
		if strings.HasPrefix(rest, "{{") {
			lit.WriteString("{{")
			text = rest[2:]
			continue
		}
		inner, after, closed := strings.Cut(rest, "}}")
		key := strings.Trim(inner, " \t")
		if !closed || !validName(key) {
			return nil, syntaxError(name, line, inner, closed)
		}
		t.segments = append(t.segments, segment{text: lit.String(), name: key, line: line})
		lit.Reset()
		text = after
	}
	t.segments = append(t.segments, segment{text: lit.String()})
	return t, nil
}

func syntaxError(name string, line int, inner string, closed bool) error {
	msg := fmt.Sprintf("{{%s}} is not a name: letters, digits, _ and - are allowed, with dots between them; write {{{{ for two literal braces", excerpt(inner))
	if !closed {
		msg = "{{ without }}; write {{{{ for two literal braces"
	}
	return &Error{Template: name, Line: line, Msg: msg}
}

// excerpt keeps the message of a fault on one short line.
func excerpt(s string) string {
	s, _, cut := strings.Cut(s, "\n")
	if len(s) > 40 {
		s, cut = strings.ToValidUTF8(s[:40], ""), true
	}
	if cut {
		return s + "..."
	}
	return s
}

func validName(s string) bool {
	for word := range strings.SplitSeq(s, ".") {
		if word == "" || strings.ContainsFunc(word, notNameRune) {
			return false
		}
	}
	return true
}

func notNameRune(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
		return false
	}
	return r < 0x80 || !isLetter(r)
}

// Names returns the names that the template uses, sorted, each once.
func (t *Template) Names() []string {
	var names []string
	for _, p := range t.segments {
		if p.name != "" {
			names = append(names, p.name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Check reports the first name of the template that is not among known, as an
// *Error. A known name covers everything under it: "data" allows {{data.x}}.
func (t *Template) Check(known ...string) error {
	for _, p := range t.segments {
		if p.name == "" || slices.ContainsFunc(known, func(k string) bool { return covers(k, p.name) }) {
			continue
		}
		return t.unknown(p, known)
	}
	return nil
}

func covers(known, name string) bool {
	rest, ok := strings.CutPrefix(name, known)
	return ok && (rest == "" || rest[0] == '.')
}

// Render fills in the values. A name is looked up whole first, then word by
// word in nested maps. Strings are inserted verbatim, nil as nothing, numbers
// and booleans as JSON has them, lists and maps as compact JSON. A name that is
// not in values is an *Error.
func (t *Template) Render(values map[string]any) (string, error) {
	texts := make([]string, 0, 2*len(t.segments))
	for _, p := range t.segments {
		s, err := t.value(p, values)
		if err != nil {
			return "", err
		}
		texts = append(texts, p.text, s)
	}
	return strings.Join(texts, ""), nil // of the right size at once: prompts are long
}

// value returns the text that a part's name represents.
func (t *Template) value(p segment, values map[string]any) (string, error) {
	if p.name == "" {
		return "", nil
	}
	v, ok := lookup(values, p.name)
	if !ok {
		return "", t.unknown(p, knownNames(values))
	}
	s, err := formatValue(v)
	if err != nil {
		return "", &Error{Template: t.name, Line: p.line, Name: p.name, Msg: fmt.Sprintf("{{%s}}: %v", p.name, err)}
	}
	return s, nil
}

func (t *Template) unknown(p segment, known []string) error {
	known = slices.Sorted(slices.Values(known))
	msg := fmt.Sprintf("unknown name {{%s}}", p.name)
	if len(known) > 0 && len(known) <= 20 {
		msg += " (known: " + strings.Join(known, ", ") + ")"
	}
	near, _ := wording.Suggest(p.name, known)
	return &Error{Template: t.name, Line: p.line, Name: p.name, Suggestion: near, Msg: msg}
}
