package latex

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// Options say how much two values may differ.
type Options struct {
	// Rel is the relative difference that is none; 0 is what calculating in floats loses.
	Rel float64
	// Unit is "match", "strict" or "ignore": the unit of the accepted value must be in the
	// answer, both must have the same, or none counts. "" is match.
	Unit string
}

// quantity is an expression that has a value.
type quantity struct {
	value
	percent bool
	unit    string
}

// collection is an answer: one element, or several in brackets or a row.
type collection struct {
	shape    string // "" for one, "list", or its brackets
	elements []element
}

type element struct {
	name     string // what the value is called
	text     string // the form in which it is compared if it has no value
	quantity *quantity
}

// maxElements bounds collections, which are compared each with each.
const maxElements = 64

// Equal reports whether an answer is the same as an accepted one: the same number, tuple or
// set, exactly where both are fractions, or else the same text but for the way it is set. why
// says how they were read where they differ. What it says is decided without doubt in one
// direction only: two expressions with variables may be the same and differ here.
func Equal(answer, accepted string, o Options) (same bool, why string) {
	if len(answer) > maxExpression || len(accepted) > maxExpression {
		return answer == accepted, "too long to be read as an expression"
	}
	a, b := read(answer), read(accepted)
	if len(a.elements) == 0 || len(b.elements) == 0 {
		return false, "nothing to compare"
	}
	if a.shape == b.shape || isUnordered(a) && isUnordered(b) {
		if len(a.elements) == len(b.elements) && o.sameElements(a, b) {
			return true, ""
		}
	}
	if text := textual(answer); text != "" && text == textual(accepted) {
		return true, ""
	}
	return false, fmt.Sprintf("read as %s, expected %s", a, b)
}

// Says reports whether a text has anything to compare.
func Says(text string) bool { return textual(text) != "" }

func isUnordered(c collection) bool { return c.shape == "list" || c.shape == `\{\}` }

func (o Options) sameElements(a, b collection) bool {
	if !isUnordered(a) {
		for i := range a.elements {
			if !o.same(a.elements[i], b.elements[i]) {
				return false
			}
		}
		return true
	}
	used := make([]bool, len(b.elements))
	for _, x := range a.elements {
		found := false
		for j, y := range b.elements {
			if !used[j] && o.same(x, y) {
				used[j], found = true, true
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

func (o Options) same(answer, accepted element) bool {
	if answer.name != "" && accepted.name != "" && answer.name != accepted.name {
		return false
	}
	if answer.quantity == nil || accepted.quantity == nil {
		return answer.quantity == nil && accepted.quantity == nil && answer.text != "" && answer.text == accepted.text
	}
	return o.sameQuantity(*answer.quantity, *accepted.quantity)
}

func (o Options) sameQuantity(q, want quantity) bool {
	rel := max(o.Rel, roundingError)
	equal := q.equal(want.value, rel)
	if o.Unit == "ignore" {
		return equal || q.bare().equal(want.bare(), rel)
	}
	if q.percent && !want.percent && want.unit == "" && o.Unit != "strict" {
		equal = equal || q.bare().equal(want.value, rel) // asked for in percent
	}
	if !equal {
		return false
	}
	unit, wanted := strings.ReplaceAll(q.unit, "degree", ""), strings.ReplaceAll(want.unit, "degree", "")
	if o.Unit == "strict" {
		return unit == wanted && q.percent == want.percent
	}
	if want.unit == "degree" {
		return unit == ""
	}
	return wanted == "" || unit == wanted
}

// bare returns a percentage as its number.
func (q quantity) bare() value {
	if !q.percent {
		return q.value
	}
	v, err := q.mul(whole(100))
	if err != nil {
		return q.value
	}
	return v
}

// joined finds what is between the members of a list.
var joined = pattern.New(`(?i)\s*,?\s*(?:\\(?:text|mathrm|mbox)\{\s*(?:and|or)\s*\}|\b(?:and|or)\b|\\vee\b|\\lor\b)\s*|;\s*`)

// read takes an answer apart.
func read(s string) collection {
	s = tidy(s)
	if s == "" {
		return collection{}
	}
	name, parts := cutName(s)
	body := parts[len(parts)-1]
	if len(parts) == 1 {
		if shape, inner := brackets(body); shape != "" && topComma(inner) {
			return collection{shape: shape, elements: parseElements(name, splitTop(inner))}
		}
	}
	row := splitTop(joined.ReplaceAllString(s, ", "))
	if len(row) == 1 || len(row) > maxElements || isNumber(s) {
		return one(parseElement(s))
	}
	return collection{shape: "list", elements: parseElements("", row)}
}

// one returns the collection of a single element; "plus or minus" makes two of it.
func one(e element) collection {
	if rest, ok := strings.CutPrefix(e.text, `\pm`); ok && e.quantity == nil {
		plus := parseElement(rest)
		if plus.quantity != nil {
			minus := *plus.quantity
			minus.value = minus.neg()
			return collection{shape: "list", elements: []element{{name: e.name, quantity: plus.quantity}, {name: e.name, quantity: &minus}}}
		}
	}
	return collection{elements: []element{e}}
}

func parseElements(name string, texts []string) (list []element) {
	for _, t := range texts {
		for _, e := range one(parseElement(t)).elements {
			if name != "" {
				e.name = name
			}
			list = append(list, e)
		}
	}
	return list
}

// isNumber reports whether all of s is one number with its unit, whose commas separate
// thousands.
func isNumber(s string) bool {
	q, ok := parseQuantity(s)
	return ok && q.exact != nil && !strings.Contains(s, ", ")
}

func parseElement(s string) element {
	name, parts := cutName(strings.TrimSpace(s))
	last := parts[len(parts)-1]
	e := element{name: name, text: textual(last)}
	if name != "" && len(parts) > 1 || name == "" && len(parts) > 1 {
		e.text = textual(strings.Join(parts, "="))
	}
	q, ok := parseQuantity(last)
	if !ok {
		return e
	}
	for _, part := range parts[:len(parts)-1] {
		if other, ok := parseQuantity(part); !ok || !other.equal(q.value, roundingError) {
			return e // an equation, no value
		}
	}
	e.quantity = &q
	return e
}

// variable finds a single letter right behind a number.
var variable = pattern.New(`^[A-Za-z](?:[^A-Za-z]|$)`)

// parseQuantity evaluates an expression with what follows it.
func parseQuantity(s string) (quantity, bool) {
	if strings.TrimSpace(s) == "" {
		return quantity{}, false
	}
	r := &reader{s: s}
	v, err := r.sum()
	if err != nil {
		return quantity{}, false
	}
	q := quantity{value: v}
	if r.i > 0 && isDigit(s[r.i-1]) && variable.MatchString(s[r.i:]) {
		return quantity{}, false // 3m may be three times m; 3 m is a length
	}
	tail := plainWords.ReplaceAllString(strings.TrimSpace(s[r.i:]), " $1 ")
	tail, factor := cutScales(tail)
	if factor.Cmp(big.NewRat(1, 1)) != 0 {
		if q.value, err = v.mul(value{exact: factor, f: float64(factor.Num().Int64())}); err != nil {
			return quantity{}, false
		}
	}
	tail = strings.TrimSpace(tail)
	for _, sign := range []string{`\%`, "percent", "per cent"} {
		if rest, ok := strings.CutPrefix(tail, sign); ok && strings.TrimSpace(rest) == "" {
			if q.value, err = q.div(whole(100)); err != nil {
				return quantity{}, false
			}
			q.percent = true
			return q, true
		}
	}
	tail = strings.Join(strings.Fields(strings.ReplaceAll(strings.ReplaceAll(tail, `\degree`, " degree "), " ^", "^")), " ")
	var ok bool
	q.unit, ok = parseUnit(tail)
	return q, ok
}

// brackets takes the brackets off a collection. Intervals keep which they are.
func brackets(s string) (shape, inner string) {
	for _, open := range []string{`\{`, "{", "(", "[", `\langle`} {
		rest, ok := strings.CutPrefix(s, open)
		if !ok {
			continue
		}
		for _, shut := range []string{`\}`, "}", ")", "]", `\rangle`} {
			if inner, ok := strings.CutSuffix(rest, shut); ok && level(inner) {
				shape = open + shut
				if shape == "{}" {
					shape = `\{\}`
				}
				return shape, strings.TrimSpace(inner)
			}
		}
	}
	return "", s
}

// level reports whether no bracket closes that was not opened.
func level(s string) bool {
	depth := 0
	for _, c := range s {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}

func topComma(s string) bool { return len(splitTop(s)) > 1 }

// splitTop cuts at the commas that are in no brackets.
func splitTop(s string) (parts []string) {
	depth, from := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				parts, from = append(parts, strings.TrimSpace(s[from:i])), i+1
			}
		}
	}
	return append(parts, strings.TrimSpace(s[from:]))
}

// String returns a collection as it was read.
func (c collection) String() string {
	texts := make([]string, len(c.elements))
	for i, e := range c.elements {
		texts[i] = e.String()
	}
	if c.shape == "" {
		return strings.Join(texts, "")
	}
	return fmt.Sprintf("%d values (%s)", len(texts), strings.Join(texts, ", "))
}

func (e element) String() string {
	if e.quantity == nil {
		return fmt.Sprintf("the text %q", cut(e.text))
	}
	text := fmt.Sprintf("%.12g", e.quantity.bare().f)
	if e.quantity.percent {
		text += " %"
	}
	return strings.TrimSpace(text + " " + e.quantity.unit)
}

func cut(s string) string {
	const most = 80
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return s
}
