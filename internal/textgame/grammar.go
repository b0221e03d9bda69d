package textgame

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// grammar is how a game speaks: rules for sentences, and for each action its command and its answer.
type grammar struct {
	rules map[string][]rule
	verbs map[string]verb // by the name of the action, in lower case
}

// verb is a block "action NAME { ... }".
type verb struct {
	command []part
	answer  []part
}

// rule is one way to write a symbol.
type rule struct {
	condition *query // nil: always
	text      []part
}

// parseGrammar reads a file of blocks.
func parseGrammar(text string) (*grammar, error) {
	g := &grammar{rules: map[string][]rule{}, verbs: map[string]verb{}}
	s := &scanner{text: text, line: 1}
	for t := s.next(); t.kind != tokenEnd; t = s.next() {
		switch t.text {
		case "grammar":
			g.readRules(s, false)
		case "action":
			g.readVerb(s)
		default:
			s.fail(t.line, "found %q, expected a block: grammar, action", t.text)
		}
	}
	return g, s.err
}

// readVerb reads NAME { key :: value; ... }.
func (g *grammar) readVerb(s *scanner) {
	name := s.expect(tokenName)
	s.mark("{")
	var v verb
	key := s.next()
	for ; key.kind == tokenName; key = s.next() {
		switch key.text {
		case "template":
			v.command = parseSentence(s.value(tokenString).text)
		case "feedback":
			v.answer = parseSentence(s.value(tokenString).text)
		case "grammar":
			g.readRules(s, true)
		case "pddl":
			s.value(tokenBlock)
		default:
			s.fail(key.line, "found %q in the action %s; allowed: template, feedback, grammar, pddl", key.text, name.text)
		}
	}
	if key.text != "}" || v.command == nil || v.answer == nil {
		s.fail(key.line, "the action %s needs a template, a feedback and a } at its end", name.text)
	}
	g.verbs[strings.ToLower(name.text)] = v
}

// readRules reads a block of rules. A symbol that has rules already gets these instead.
func (g *grammar) readRules(s *scanner, comments bool) {
	block := s.value(tokenBlock)
	if comments {
		block.text = commentPattern.ReplaceAllString(block.text, "")
	}
	var rules map[string][]struct {
		Condition string  `json:"condition"`
		RHS       *string `json:"rhs"`
	}
	if err := json.Unmarshal([]byte(block.text), &rules); err != nil {
		s.fail(block.line+strings.Count(block.text[:errorOffset(err)], "\n"), "the rules cannot be read: %v", err)
	}
	for symbol, list := range rules {
		g.rules[symbol] = nil
		for _, r := range list {
			if r.RHS == nil {
				s.fail(block.line, "a rule of %q has no rhs", symbol)
				continue
			}
			g.rules[symbol] = append(g.rules[symbol], rule{parseQuery(r.Condition), parseSentence(*r.RHS)})
		}
	}
}

// errorOffset returns where JSON has an error.
func errorOffset(err error) int64 {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return syntax.Offset
	case errors.As(err, &kind):
		return kind.Offset
	}
	return 0
}

// The kinds of tokens of a grammar.
const (
	tokenEnd    = "the end"
	tokenName   = "a name"
	tokenMark   = "a mark"
	tokenString = "a text in quotes"
	tokenBlock  = `a text in """`
)

type token struct {
	kind string
	text string // without quotes
	line int
}

// scanner reads tokens. After an error there is the end alone.
type scanner struct {
	text string
	line int
	err  error
}

var (
	// commentPattern is a line of a comment in the rules of an action.
	commentPattern = pattern.New(`(?m)^[ \t\r\f\v]*#.*$`)
	// skipPattern is what tokens have between them: white space, and comments.
	skipPattern  = pattern.New(`^(?:\s+|#.*)*`)
	tokenPattern = pattern.New(`^(?:("""(?s:.*?)""")|("[^"]*")|([\pL\pN_/-]+)|(::|[^"])|$)`)
)

// fail notes the first error.
func (s *scanner) fail(line int, format string, args ...any) {
	if s.err == nil {
		s.err, s.text = newError(line, format, args...), ""
	}
}

func (s *scanner) next() token {
	s.advance(len(skipPattern.FindString(s.text)))
	t := token{kind: tokenEnd, line: s.line}
	m := tokenPattern.FindStringSubmatch(s.text)
	switch {
	case m == nil:
		s.fail(s.line, "a text in quotes is not closed")
		return t
	case m[1] != "":
		t.kind, t.text = tokenBlock, m[1][3:len(m[1])-3]
	case m[2] != "":
		t.kind, t.text = tokenString, m[2][1:len(m[2])-1]
	case m[3] != "":
		t.kind, t.text = tokenName, m[3]
	case m[4] != "":
		t.kind, t.text = tokenMark, m[4]
	}
	s.advance(len(m[0]))
	return t
}

func (s *scanner) advance(n int) {
	s.line += strings.Count(s.text[:n], "\n")
	s.text = s.text[n:]
}

// expect reads a token of a kind.
func (s *scanner) expect(kind string) token {
	t := s.next()
	if t.kind != kind {
		s.fail(t.line, "found %q, expected %s", t.text, kind)
	}
	return t
}

// mark reads a mark.
func (s *scanner) mark(text string) {
	if t := s.next(); t.kind != tokenMark || t.text != text {
		s.fail(t.line, "found %q, expected %q", t.text, text)
	}
}

// value reads ":: VALUE ;".
func (s *scanner) value(kind string) token {
	s.mark("::")
	t := s.expect(kind)
	s.mark(";")
	return t
}
