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

// parseSentence reads a sentence. It ends at what is none, as published games rely on.
func parseSentence(text string) []part {
	text = trimStart(text)
	parts := []part{}
	for text != "" {
		p, rest, ok := parsePart(text)
		if !ok {
			break
		}
		parts, text = append(parts, p), rest
	}
	return parts
}

// trimStart leaves out white space and // comments at the very start.
func trimStart(text string) string {
	for {
		text = strings.TrimLeft(text, " \t\n\r\f\v")
		if !strings.HasPrefix(text, "//") {
			return text
		}
		_, text, _ = strings.Cut(text, "\n")
	}
}

// parsePart reads the first piece of a text.
func parsePart(text string) (p part, rest string, ok bool) {
	text = strings.TrimLeft(text, "\t")
	if text == "" {
		return p, "", false
	}
	switch text[0] {
	case '[':
		p, rest, ok = parseGiven(strings.TrimLeft(text[1:], "\t"))
		p.list = true
		rest, closed := strings.CutPrefix(strings.TrimLeft(rest, "\t"), "]")
		return p, rest, ok && closed
	case '{':
		return parseGiven(text)
	case '#':
		return parseSymbol(text)
	case '"':
		end := strings.IndexAny(text[1:], `;|"<>[]#{}`)
		if end < 0 || text[1+end] != '"' {
			return p, "", false
		}
		return part{text: text[1 : 1+end]}, text[end+2:], true
	}
	end := strings.IndexAny(text, `;|"<>[]#{}`)
	if end < 0 {
		end = len(text)
	}
	return part{text: text[:end]}, text[end:], end > 0
}

// parseSymbol reads "#name#".
func parseSymbol(text string) (p part, rest string, ok bool) {
	text, ok = strings.CutPrefix(text, "#")
	name, rest, closed := strings.Cut(strings.TrimLeft(text, "\t"), "#")
	other := strings.IndexFunc(name, func(r rune) bool { return !isName(r) && !strings.ContainsRune("()/!<>-,. \t\n\r\f\v", r) })
	return part{text: name, symbol: true}, rest, ok && closed && name != "" && other < 0
}

// parseGiven reads "{expression}", "{expression | query}" or "{#symbol# | query}".
func parseGiven(text string) (p part, rest string, ok bool) {
	text, ok = strings.CutPrefix(text, "{")
	if !ok {
		return p, "", false
	}
	text = strings.TrimLeft(text, "\t")
	if p, rest, ok = parseSymbol(text); !ok {
		end := strings.IndexAny(text, "|[]{}\n<>")
		if end <= 0 {
			return p, "", false
		}
		p, rest = part{expr: parseExpression(text[:end])}, text[end:]
	}
	if condition, found := strings.CutPrefix(strings.TrimLeft(rest, " \t\n\r\f\v"), "|"); found {
		condition = strings.TrimLeft(condition, " \t\n\r\f\v")
		end := strings.IndexAny(condition, ";|{}\n[]#")
		if end <= 0 {
			return p, "", false
		}
		p.given, rest = parseQuery(condition[:end]), condition[end:]
	}
	rest, ok = strings.CutPrefix(strings.TrimLeft(rest, "\t"), "}")
	return p, rest, ok
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
			q.err = fmt.Errorf("the condition %q cannot be read at %q; allowed: fact(name: type, ...) & ...", text, one)
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

// expression is what stands between braces: names of objects, their fields, texts, + and or.
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
