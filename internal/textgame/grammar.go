package textgame

import (
	"encoding/json"
	"errors"
	"fmt"
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
	for {
		t, err := s.next()
		switch {
		case err != nil:
			return nil, err
		case t.kind == tokenEnd:
			return g, nil
		case t.text == "grammar":
			err = g.readRules(s, false)
		case t.text == "action":
			err = g.readVerb(s)
		default:
			err = newError(t.line, "found %q, expected a block: grammar, action", t.text)
		}
		if err != nil {
			return nil, err
		}
	}
}

// readVerb reads NAME { key :: value; ... }.
func (g *grammar) readVerb(s *scanner) error {
	name, err := s.expect(tokenName, "")
	if err == nil {
		_, err = s.expect(tokenMark, "{")
	}
	var v verb
	for err == nil {
		var key token
		if key, err = s.next(); err != nil {
			break
		}
		switch key.text {
		case "}":
			if v.command == nil || v.answer == nil {
				return newError(key.line, "the action %s has no template or no feedback", name.text)
			}
			g.verbs[strings.ToLower(name.text)] = v
			return nil
		case "template":
			v.command, err = s.sentence()
		case "feedback":
			v.answer, err = s.sentence()
		case "grammar":
			err = g.readRules(s, true)
		case "pddl":
			_, err = s.value(tokenBlock)
		default:
			err = newError(key.line, "found %q in the action %s; allowed: template, feedback, grammar, pddl", key.text, name.text)
		}
	}
	return err
}

// readRules reads a block of rules. A symbol that has rules already gets these instead.
func (g *grammar) readRules(s *scanner, comments bool) error {
	block, err := s.value(tokenBlock)
	if err != nil {
		return err
	}
	text := block.text
	if comments {
		text = blankComments(text)
	}
	var rules map[string][]struct {
		Condition string  `json:"condition"`
		RHS       *string `json:"rhs"`
	}
	if err := json.Unmarshal([]byte(text), &rules); err != nil {
		return newError(block.line+strings.Count(text[:errorOffset(err)], "\n"), "the rules cannot be read: %v", err)
	}
	for symbol, list := range rules {
		g.rules[symbol] = nil
		for _, r := range list {
			if r.RHS == nil {
				return newError(block.line, "a rule of %q has no rhs", symbol)
			}
			g.rules[symbol] = append(g.rules[symbol], rule{parseQuery(r.Condition), parseSentence(*r.RHS)})
		}
	}
	return nil
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

// blankComments empties the lines that begin with #.
func blankComments(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
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

// scanner reads tokens.
type scanner struct {
	text string
	line int
}

var (
	// skipPattern is what tokens have between them: white space, and comments.
	skipPattern  = pattern.New(`^(?:\s+|#.*)*`)
	tokenPattern = pattern.New(`^(?:("""(?s:.*?)""")|("[^"]*")|([\pL\pN_/-]+)|(::|[^"])|$)`)
)

func (s *scanner) next() (token, error) {
	s.advance(len(skipPattern.FindString(s.text)))
	t := token{line: s.line}
	m := tokenPattern.FindStringSubmatch(s.text)
	switch {
	case m == nil:
		return t, newError(s.line, "a text in quotes is not closed")
	case m[1] != "":
		t.kind, t.text = tokenBlock, m[1][3:len(m[1])-3]
	case m[2] != "":
		t.kind, t.text = tokenString, m[2][1:len(m[2])-1]
	case m[3] != "":
		t.kind, t.text = tokenName, m[3]
	case m[4] != "":
		t.kind, t.text = tokenMark, m[4]
	default:
		t.kind = tokenEnd
	}
	s.advance(len(m[0]))
	return t, nil
}

func (s *scanner) advance(n int) {
	s.line += strings.Count(s.text[:n], "\n")
	s.text = s.text[n:]
}

// expect reads a token of a kind, and with a text unless it is "".
func (s *scanner) expect(kind, text string) (token, error) {
	t, err := s.next()
	if err == nil && (t.kind != kind || text != "" && t.text != text) {
		want := kind
		if text != "" {
			want = fmt.Sprintf("%q", text)
		}
		err = newError(t.line, "found %q, expected %s", t.text, want)
	}
	return t, err
}

// value reads ":: VALUE ;".
func (s *scanner) value(kind string) (token, error) {
	if _, err := s.expect(tokenMark, "::"); err != nil {
		return token{}, err
	}
	t, err := s.expect(kind, "")
	if err == nil {
		_, err = s.expect(tokenMark, ";")
	}
	return t, err
}

// sentence reads a value that is a sentence.
func (s *scanner) sentence() ([]part, error) {
	t, err := s.value(tokenString)
	return parseSentence(t.text), err
}
