package textgame

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// part is a piece of a sentence.
type part struct {
	text   string      // itself, or the name of the symbol
	symbol bool        // it is written by the rules of a symbol
	expr   *expression // it is the value of an expression
	given  *query      // it is written for each answer to a query
	list   bool        // what is written for the answers is joined to a list
}

// The pieces of sentences. White space between the marks of a piece is a tab, as the Python package has it.
const (
	symbolPiece = `#\t*([\pL\pN_()/!<>\s,.-]+)#`
	givenPiece  = `\{\t*(?:` + symbolPiece + `|([^\t#|\[\]{}\n<>][^|\[\]{}\n<>]*))(?:\s*\|\s*([^;|{}\n\[\]#]+))?\t*\}`
	plainPiece  = `[^;|"<>\[\]#{}]*`
)

var (
	// startPattern is what a sentence may begin with that is left out: white space, and lines of comments.
	startPattern = pattern.New(`^(?:\s*\n|//.*\n)*(?://.*|\s*)`)
	// partPattern has groups for a list, its symbol, expression and query; the same of no list; a symbol; texts.
	partPattern = pattern.New(`^\t*(?:(\[)\t*` + givenPiece + `\t*\]|` + givenPiece + `|` + symbolPiece + `|"(` + plainPiece + `)"|([^\t;|"<>\[\]#{}]` + plainPiece + `))`)
)

// parseSentence reads a sentence. It ends at what is none, as published games rely on.
func parseSentence(text string) []part {
	text = text[len(startPattern.FindString(text)):]
	parts := []part{}
	for {
		m := partPattern.FindStringSubmatch(text)
		if m == nil {
			return parts
		}
		p := part{list: m[1] != "", given: parseQuery(m[4] + m[7])}
		switch symbol, expr := m[2]+m[5]+m[8], m[3]+m[6]; {
		case symbol != "":
			p.text, p.symbol = symbol, true
		case expr != "":
			p.expr = parseExpression(expr)
		default:
			p.text = m[9] + m[10]
		}
		parts, text = append(parts, p), text[len(m[0]):]
	}
}

// The pieces of queries and expressions.
var (
	factPattern = pattern.New(`^\s*(!?[\pL\pN_/]+)\s*\(([^()]*)\)\s*$`)
	argPattern  = pattern.New(`^\s*([\pL\pN_']+)\s*(?::\s*([\pL\pN_/-]+)\s*)?$`)
	termPattern = pattern.New(`^\s*(?:([A-Za-z_]\w*)(?:\s*\.\s*([A-Za-z_]\w*))?|'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*(\+|or\b)?`)
)

// query asks for objects with which facts hold.
type query struct {
	text  string
	facts []template
	err   error // it cannot be asked
}

// template is a fact with names for its objects.
type template struct {
	predicate string
	args      []holder
}

// holder is a name with a type.
type holder struct{ name, kind string }

// parseQuery reads "fact(name: type, ...) & ...". It returns nil for no text, and a query that cannot be
// asked where it makes no sense: this matters only when the sentence is written.
func parseQuery(text string) *query {
	if text == "" {
		return nil
	}
	q := &query{text: text}
	for one := range strings.SplitSeq(text, "&") {
		m := factPattern.FindStringSubmatch(one)
		if m == nil {
			q.err = fmt.Errorf("the condition %q cannot be read at %q; allowed: fact(name: type, ...) & fact(...)", text, one)
			return q
		}
		p := template{predicate: m[1]}
		for a := range strings.SplitSeq(m[2], ",") {
			if h := argPattern.FindStringSubmatch(a); h != nil {
				if h[2] == "" {
					h[2] = strings.TrimRight(h[1], "'")
				}
				p.args = append(p.args, holder{h[1], h[2]})
			} else if strings.TrimSpace(m[2]) != "" {
				q.err = fmt.Errorf("the condition %q cannot be read at %q; allowed: name: type", text, a)
			}
		}
		q.facts = append(q.facts, p)
	}
	return q
}

// expression is what braces hold: names of objects, their fields, texts, + and or.
type expression struct {
	text string
	any  [][]term // the first sum with a value
	err  error    // it cannot be computed
}

// term is a text, or a field of an object.
type term struct {
	literal bool
	text    string // the literal, or the name of the object
	field   string // "": the object itself
}

var errNoExpression = errors.New("allowed in braces: a name, name.name, name.id, name.indefinite, name.definite, a text in quotes, +, or")

// parseExpression reads an expression. One that cannot be read is an error only when it is computed.
func parseExpression(text string) *expression {
	e := &expression{text: strings.TrimSpace(text)}
	sum := []term{}
	for rest, more := text, true; more; {
		m := termPattern.FindStringSubmatch(rest)
		if m == nil {
			e.err = fmt.Errorf("the expression %q cannot be read; %w", e.text, errNoExpression)
			return e
		}
		t := term{text: m[1], field: m[2]}
		if t.text == "" {
			t = term{literal: true, text: unquote(m[3] + m[4])}
		}
		if sum = append(sum, t); m[5] != "+" {
			e.any, sum = append(e.any, sum), nil
		}
		rest, more = rest[len(m[0]):], m[5] != ""
		if !more && strings.TrimSpace(rest) != "" {
			e.err = fmt.Errorf("the expression %q cannot be read at %q; %w", e.text, rest, errNoExpression)
		}
	}
	return e
}

// unquote replaces the usual escapes of a text.
func unquote(text string) string {
	return strings.NewReplacer(`\\`, `\`, `\'`, `'`, `\"`, `"`, `\n`, "\n", `\t`, "\t").Replace(text)
}
