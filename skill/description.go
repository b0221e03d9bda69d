package skill

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// MaxDescription is how many characters a description may have by the Agent Skills
// standard.
const MaxDescription = 1024

const descriptionKey = "description"

// Why a text cannot become the description of a skill, apart from a *FrontMatterError.
var (
	ErrNoFrontMatter  = errors.New("the skill has no front matter")
	ErrNoDescription  = errors.New("a description needs text")
	ErrDescription    = errors.New("a description is text of one paragraph, UTF-8, without tags and control characters")
	ErrFrontMatterFix = errors.New("the front matter is written in a way in which the description cannot be replaced alone: write description: as a line of its own, without anchor or tag")
)

// WithDescription returns s with another description in its front matter, which gets one
// if it has none. White space within it becomes single spaces. All other bytes of
// the skill stay: the name, other fields and their comments, the body. The error is one of
// the above, ErrTooLarge for more than MaxDescription characters, or a *FrontMatterError.
func (s Skill) WithDescription(text string) (Skill, error) {
	change, err := changeDescription(s.main, text)
	if err != nil {
		return Skill{}, err
	}
	return s.WithText(change.in(s.main)), nil
}

// changeDescription returns the change of a SKILL.md that gives it another description.
func changeDescription(main, description string) (Change, error) {
	doc, err := Parse(main)
	if err != nil {
		return Change{}, err
	}
	if doc.Head == "" {
		return Change{}, ErrNoFrontMatter
	}
	if description = oneLine(description); description == "" {
		return Change{}, ErrNoDescription
	}
	if n := utf8.RuneCountInString(description); n > MaxDescription {
		return Change{}, fmt.Errorf("a description of %d characters is %w: at most %d", n, ErrTooLarge, MaxDescription)
	}
	if invalidUTF8(description) >= 0 || Plain(description) != description || StripMarkers(description) != description || tag.MatchString(description) {
		return Change{}, ErrDescription
	}
	v, err := findDescription(doc.Head)
	if err != nil {
		return Change{}, err
	}
	for _, written := range v.writings(description) {
		c := Change{From: v.at.from, To: v.at.to, Text: v.before + written + v.after}
		if replaces(main, c.in(main), description) {
			return c, nil
		}
	}
	return Change{}, ErrFrontMatterFix
}

// tag is what the standard's readers take for the beginning of an XML tag.
var tag = pattern.New(`</?[A-Za-z!?]`)

// replaces reports whether after is before with another description, and differs in
// nothing else that a reader of the front matter sees.
func replaces(before, after, description string) bool {
	was, err1 := Parse(before)
	is, err2 := Parse(after)
	if err1 != nil || err2 != nil || is.Body != was.Body || is.Description != description {
		return false
	}
	fields := func(head string) map[string]any {
		m := map[string]any{}
		if _, err := yamlx.Decode([]byte(frontMatterYAML(head)), &m); err != nil {
			return nil
		}
		delete(m, descriptionKey)
		return m
	}
	a, b := fields(was.Head), fields(is.Head)
	return a != nil && b != nil && reflect.DeepEqual(a, b)
}

// descriptionValue is where the description is in a SKILL.md, and what has to be
// around a new one.
type descriptionValue struct {
	at            span
	before, after string
	quoted        bool
}

// writings returns the ways to write a description as YAML, the best one first. One without quotes
// may turn out to be something else.
func (v descriptionValue) writings(text string) []string {
	var quoted bytes.Buffer
	enc := json.NewEncoder(&quoted) // text in quotes is the same in YAML
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		return nil // text is UTF-8: there is no such error
	}
	ways := []string{strings.TrimSpace(quoted.String())}
	if !v.quoted && plainText.MatchString(text) && !strings.Contains(text, ": ") && !strings.Contains(text, " #") && !strings.HasSuffix(text, ":") {
		ways = slices.Insert(ways, 0, text)
	}
	return ways
}

// plainText is text that no one takes for a number, a truth value or a list.
var plainText = pattern.New(`^\pL[^"'\\]* [^"'\\]*$`)

// findDescription finds the value of the description in a head, or where it would be.
func findDescription(head string) (descriptionValue, error) {
	_, inner := lineAt(head, 0)
	yaml := frontMatterYAML(head)
	end := LineEnd(head)
	key, next, err := descriptionLines(yaml)
	if err != nil {
		return descriptionValue{}, err
	}
	if key == 0 {
		at := inner + len(yaml)
		v := descriptionValue{at: span{at, at}, before: descriptionKey + ": ", after: end}
		return v, nil
	}
	from := offsetOfLine(yaml, key)
	colon := strings.IndexByte(yaml[from:], ':')
	if colon < 0 {
		return descriptionValue{}, ErrFrontMatterFix
	}
	from += colon + 1
	region := yaml[from:offsetOfLine(yaml, next)]
	at, quoted, ok := scalarIn(region)
	if !ok {
		return descriptionValue{}, ErrFrontMatterFix
	}
	v := descriptionValue{at: span{inner + from + at.from, inner + from + at.to}, quoted: quoted}
	if at.from == 0 {
		v.before = " "
	}
	return v, nil
}

// descriptionLines returns the 1-based line of the description's key in front matter, 0 if it has
// none, and that of the key after it, 0 if it is the last.
func descriptionLines(yaml string) (key, next int, err error) {
	// With \r the library counts lines twice behind a comment.
	file, err := yamlx.Parse([]byte(strings.ReplaceAll(yaml, "\r\n", lf)))
	if err != nil {
		return 0, 0, ErrFrontMatterFix // Parse has read it: it is no document of one mapping
	}
	for doc := range file.Documents() {
		for k := range doc.Pairs() {
			switch {
			case k.Column() != 1: // a mapping in braces
				return 0, 0, ErrFrontMatterFix
			case key > 0:
				return key, k.Line(), nil
			case k.Kind() == yamlx.String && k.Text() == descriptionKey:
				key = k.Line()
			}
		}
	}
	return key, 0, nil
}

// offsetOfLine returns where a 1-based line begins, the length of text for 0.
func offsetOfLine(text string, line int) int {
	if line == 0 {
		return len(text)
	}
	at := 0
	for range line - 1 {
		_, at = lineAt(text, at)
	}
	return at
}

// scalarIn finds the scalar that begins in a text, which ends before the next key: its
// bytes, without white space and comments around it.
func scalarIn(text string) (at span, quoted, ok bool) {
	at.from = len(text) - len(strings.TrimLeft(text, " \t"))
	if at.from == len(text) || strings.ContainsRune("#\r\n", rune(text[at.from])) {
		return span{}, false, strings.TrimSpace(text) == "" // nothing; not one that begins on another line
	}
	switch text[at.from] {
	case '"', '\'':
		n := quotedLength(text[at.from:])
		at.to = at.from + n
		return at, true, n > 0
	case '&', '*', '!', '[', '{', '@', '`', '%':
		return span{}, false, false
	case '|', '>':
		header, _ := lineAt(text, at.from)
		at.to = blockEnd(text, at.from)
		return at, false, !strings.ContainsRune(header, '#')
	}
	to := len(text)
	if m := comment.FindStringIndex(text[at.from:]); m != nil {
		to = at.from + m[0]
	}
	at.to = at.from + len(trimEnd(text[at.from:to]))
	return at, false, true
}

// blockEnd returns where the last line of text in block style ends, whose header begins at
// from: before the line ending.
func blockEnd(text string, from int) int {
	header, next := lineAt(text, from)
	to := from + len(trimEnd(header))
	for next < len(text) {
		line, after := lineAt(text, next)
		switch {
		case trim(line) == "":
		case line[0] != ' ':
			return to
		default:
			to = next + len(trimEnd(line))
		}
		next = after
	}
	return to
}

// comment is the beginning of one behind a scalar without quotes.
var comment = pattern.New(`[ \t\r\n]#`)

// quotedLength returns the length of the quoted text that a text begins with, 0 if it does not
// end.
func quotedLength(text string) int {
	quote := text[0]
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
		case text[i] == quote && quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return 0
}
