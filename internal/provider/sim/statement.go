package sim

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/skill"
)

// statement is one thing that a document says: a list item, a heading or a
// paragraph.
type statement struct {
	raw  string // as it is in the document, without the line break at its end
	text string // folded, for matching
}

// statements cuts a document. Consecutive lines belong to one statement unless
// the next begins a list item or a heading. Worked examples state nothing: what they teach
// is a dial of the world.
func statements(doc string) []statement {
	doc = skill.New(doc).WithExamples(nil).Text()
	var out []statement
	start, end := -1, 0
	flush := func() {
		if start >= 0 {
			raw := doc[start:end]
			out = append(out, statement{raw: raw, text: fold(raw)})
		}
		start = -1
	}
	for at := 0; at < len(doc); {
		next := len(doc)
		if i := strings.IndexByte(doc[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		line := strings.TrimSpace(doc[at:next])
		if line == "" || strings.HasPrefix(line, "<!--") {
			flush()
			at = next
			continue
		}
		if beginsStatement(line) {
			flush()
		}
		if start < 0 {
			start = at
		}
		end = at + len(strings.TrimRight(doc[at:next], "\r\n"))
		if line[0] == '#' {
			flush()
		}
		at = next
	}
	flush()
	return out
}

// beginsStatement reports whether a trimmed line starts a list item or heading.
func beginsStatement(line string) bool {
	if line[0] == '#' || strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "+ ") {
		return true
	}
	digits := 0
	for digits < len(line) && line[digits] >= '0' && line[digits] <= '9' {
		digits++
	}
	return digits > 0 && digits+1 < len(line) && (line[digits] == '.' || line[digits] == ')') && line[digits+1] == ' '
}

// fold makes wordings comparable: lower case, no emphasis or code marks,
// straight apostrophes, single spaces.
func fold(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	space := true
	for _, r := range text {
		switch r {
		case '*', '`', '"', '“', '”':
			continue
		case '’':
			r = '\''
		}
		if unicode.IsSpace(r) {
			if !space {
				b.WriteByte(' ')
			}
			space = true
			continue
		}
		space = false
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.TrimSuffix(b.String(), " ")
}

// term is one condition on a statement: a regular expression, or one of some
// phrases at the beginning of a word.
type term struct {
	absent  bool // the condition must not hold
	re      *regexp.Regexp
	phrases []string // folded
}

func newTerm(text string) (term, error) {
	var t term
	body := strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(body, "!"); ok {
		t.absent, body = true, rest
	}
	if len(body) > 2 && body[0] == '/' && body[len(body)-1] == '/' {
		re, err := regexp.Compile("(?i)" + body[1:len(body)-1])
		if err != nil {
			return term{}, fmt.Errorf("regular expression: %w", err)
		}
		t.re = re
		return t, nil
	}
	for p := range strings.SplitSeq(body, "|") {
		if p = fold(p); p != "" {
			t.phrases = append(t.phrases, p)
		}
	}
	if len(t.phrases) == 0 {
		return term{}, fmt.Errorf("%q holds no words", text)
	}
	return t, nil
}

func (t term) holds(folded string) bool {
	if t.re != nil {
		return t.re.MatchString(folded) != t.absent
	}
	for _, p := range t.phrases {
		if hasPhrase(folded, p) {
			return !t.absent
		}
	}
	return t.absent
}

// hasPhrase reports whether the phrase occurs at the beginning of a word; the
// last word may continue, so that "date" is also found in "dates".
func hasPhrase(text, phrase string) bool {
	first, _ := utf8.DecodeRuneInString(phrase)
	for from := 0; ; {
		i := strings.Index(text[from:], phrase)
		if i < 0 {
			return false
		}
		at := from + i
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		if at == 0 || !wordRune(first) || !wordRune(before) {
			return true
		}
		from = at + 1
	}
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// state is one way to state a rule: terms that must all hold for one statement.
type state []term

func (s state) holds(folded string) bool {
	for _, t := range s {
		if !t.holds(folded) {
			return false
		}
	}
	return true
}

// newState reads a state of the world file: a phrase, or a list of terms.
func newState(v any) (state, error) {
	var texts []string
	switch v := v.(type) {
	case string:
		texts = []string{v}
	case []any:
		for _, e := range v {
			texts = append(texts, fmt.Sprint(e))
		}
	default:
		return nil, fmt.Errorf("found %v, allowed are a phrase or a list of words", v)
	}
	var s state
	positive := false
	for _, text := range texts {
		t, err := newTerm(text)
		if err != nil {
			return nil, err
		}
		positive = positive || !t.absent
		s = append(s, t)
	}
	if !positive {
		return nil, fmt.Errorf("found %v, at least one word without ! is needed", v)
	}
	return s, nil
}
