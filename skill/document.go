package skill

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// Document is a SKILL.md taken apart. Head and Body together are the text,
// byte for byte.
type Document struct {
	Head string // the front matter with its two --- lines, "" if there is none
	Body string

	Name        string // of the front matter, as in Agent Skills; "" if it has none
	Description string
}

// FrontMatterError is front matter that is not a YAML mapping, or whose name or
// description is not text.
type FrontMatterError struct {
	Line int    // 1-based line of SKILL.md
	Bare string // the field whose value wants quotes; "" if that is not what is wrong
	Err  error
}

func (e *FrontMatterError) Error() string {
	reason := e.Err.Error()
	var y *yamlx.Error
	if errors.As(e.Err, &y) { // its line is that of the YAML
		reason = y.Msg
	}
	if e.Bare != "" {
		reason = fmt.Sprintf("the value of %s is no YAML (%s): put it in quotes", e.Bare, reason)
	}
	return fmt.Sprintf("line %d: front matter: %s", e.Line, reason)
}

func (e *FrontMatterError) Unwrap() error { return e.Err }

// Parse takes a SKILL.md apart. The front matter is read to expose name and
// description only, never written again. The error is a *FrontMatterError; the
// document is split even then.
func Parse(text string) (Document, error) {
	at := frontMatterEnd(text)
	doc := Document{Head: text[:at], Body: text[at:]}
	if at == 0 {
		return doc, nil
	}
	inner := frontMatterYAML(doc.Head)
	fields := map[string]any{}
	if _, err := yamlx.Decode([]byte(inner), &fields); err != nil {
		line := yamlLine(err)
		return doc, &FrontMatterError{Line: 1 + line, Bare: bareField(inner, line), Err: err}
	}
	for _, f := range []struct {
		key  string
		into *string
	}{{"name", &doc.Name}, {"description", &doc.Description}} {
		value, ok := yamlText(fields[f.key])
		if !ok {
			err := fmt.Errorf("%s is %s, want text", f.key, describe(fields[f.key]))
			return doc, &FrontMatterError{Line: 1 + keyLine(inner, f.key), Err: err}
		}
		*f.into = value
	}
	return doc, nil
}

// Text returns the document as it was read.
func (d Document) Text() string { return d.Head + d.Body }

// yamlLine returns the 1-based line of the YAML text that err is about.
func yamlLine(err error) int {
	var y *yamlx.Error
	if errors.As(err, &y) {
		return max(1, y.Line)
	}
	return 1
}

// bareValue is a field on one line or several, whose value has no quotes and what YAML takes for
// more than text: a colon, or a sign that begins something else.
var bareValue = pattern.New(`(?s)\A([\w-]+):[ \t]+(?:[@&*!%{\x60\[].*|[^"'|>\s].*:(?:\s.*)?)\z`)

// bareField returns the field that is on a line of a YAML text, if its value wants quotes.
func bareField(text string, line int) string {
	lines := strings.Split(text, lf)
	continues := func(i int) bool { return lines[i] == "" || strings.ContainsAny(lines[i][:1], " \t") }
	begin := min(line, len(lines)) - 1
	for begin > 0 && continues(begin) {
		begin--
	}
	end := begin + 1
	for end < len(lines) && continues(end) {
		end++
	}
	m := bareValue.FindStringSubmatch(strings.Join(lines[begin:end], lf))
	if m == nil {
		return ""
	}
	return m[1]
}

// keyLine returns the 1-based line of a top-level key in a YAML text.
func keyLine(text, key string) int {
	at := strings.Index(lf+text, lf+key+":")
	return lineNumber(text, max(0, at))
}

// yamlText returns a YAML scalar as text: a name may look like a number.
func yamlText(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "", true
	case map[string]any, []any:
		return "", false
	case string:
		return v, true
	default:
		return fmt.Sprint(v), true
	}
}

const (
	byteOrderMark = "\ufeff"
	fence         = "---"
)

// frontMatterEnd returns the offset behind the line that closes the front
// matter, 0 if text has none. Front matter starts in the first line; a first
// --- that nothing closes before the first region is a thematic break of
// Markdown: what is written into a region must not turn it into front matter.
func frontMatterEnd(text string) int {
	at := len(text) - len(strings.TrimPrefix(text, byteOrderMark))
	line, next := lineAt(text, at)
	if !isFence(line) {
		return 0
	}
	for next < len(text) {
		line, next = lineAt(text, next)
		if isFence(line) {
			return next
		}
		if StripMarkers(line) != line {
			return 0
		}
	}
	return 0
}

// frontMatterYAML returns what is between the two fences of head.
func frontMatterYAML(head string) string {
	_, from := lineAt(head, 0)
	inner := strings.TrimRight(head[from:], "\r\n")
	return inner[:strings.LastIndex(lf+inner, lf)]
}

// lineAt returns the line that starts at offset at, and where the next starts.
func lineAt(text string, at int) (line string, next int) {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return text[at : at+i], at + i + 1
	}
	return text[at:], len(text)
}

func isFence(line string) bool { return strings.TrimRight(line, " \t\r") == fence }
