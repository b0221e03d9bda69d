package sim

import (
	"fmt"
	"math/big"
	"strings"
	"unicode"
)

// value is what an expression works on: one text or a list of texts. Numbers
// are texts that read as numbers.
type value struct {
	items []string
	list  bool
}

func scalar(text string) value { return value{items: []string{text}} }

// text returns the value as the text of an answer.
func (v value) text() string { return strings.Join(v.items, ", ") }

// scope is where the names of an expression are looked up.
type scope struct {
	names  map[string]value
	tables map[string]map[string]string
}

// expression is a compiled expression.
type expression interface {
	eval(s scope) (value, error)
}

type (
	literal   string
	reference string
	operation struct {
		op          string
		left, right expression
	}
	invocation struct {
		name string
		fn   function
		args []expression
	}
)

func (l literal) eval(scope) (value, error) { return scalar(string(l)), nil }

func (r reference) eval(s scope) (value, error) {
	v, ok := s.names[string(r)]
	if !ok {
		return value{}, fmt.Errorf("the name %s has no value", string(r))
	}
	return v, nil
}

func (o operation) eval(s scope) (value, error) {
	l, err := o.left.eval(s)
	if err != nil {
		return value{}, err
	}
	r, err := o.right.eval(s)
	if err != nil {
		return value{}, err
	}
	return pairwise(l, r, func(a, b string) (string, error) { return operate(o.op, a, b) })
}

func (c invocation) eval(s scope) (value, error) {
	args := make([]value, len(c.args))
	for i, a := range c.args {
		v, err := a.eval(s)
		if err != nil {
			return value{}, err
		}
		args[i] = v
	}
	v, err := c.fn.apply(s, args)
	if err != nil {
		return value{}, fmt.Errorf("%s: %w", c.name, err)
	}
	return v, nil
}

// pairwise combines two lists element by element, or a list with one value.
func pairwise(l, r value, f func(a, b string) (string, error)) (value, error) {
	n := max(len(l.items), len(r.items))
	switch {
	case !l.list && !r.list:
		n = 1
	case !l.list:
		n = len(r.items)
	case !r.list:
		n = len(l.items)
	case len(l.items) != len(r.items):
		return value{}, fmt.Errorf("lists of %d and %d elements do not go together", len(l.items), len(r.items))
	}
	out := value{items: make([]string, n), list: l.list || r.list}
	for i := range out.items {
		text, err := f(l.at(i), r.at(i))
		if err != nil {
			return value{}, err
		}
		out.items[i] = text
	}
	return out, nil
}

// at returns the i-th element of a list, or the one value that represents all.
func (v value) at(i int) string {
	if !v.list {
		return v.items[0]
	}
	return v.items[i]
}

// operate applies an operator. Comparisons give 1 or 0; == and != compare texts
// that are no numbers as texts.
func operate(op, a, b string) (string, error) {
	x, errX := number(a)
	y, errY := number(b)
	if errX != nil || errY != nil {
		if op == "==" || op == "!=" {
			return truth((a == b) == (op == "==")), nil
		}
		if errX != nil {
			return "", errX
		}
		return "", errY
	}
	switch op {
	case "+":
		return decimal(x.Add(x, y)), nil
	case "-":
		return decimal(x.Sub(x, y)), nil
	case "*":
		return decimal(x.Mul(x, y)), nil
	case "/":
		if y.Sign() == 0 {
			return "", fmt.Errorf("%s is divided by zero", a)
		}
		return decimal(new(big.Rat).Quo(x, y)), nil
	}
	return truth(satisfies(op, x.Cmp(y))), nil
}

func satisfies(op string, c int) bool {
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	case ">=":
		return c >= 0
	case "==":
		return c == 0
	}
	return c != 0
}

func truth(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// maxDepth bounds the nesting of an expression.
const maxDepth = 50

// exprParser is a recursive-descent parser:
//
//	expr    = sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
//	sum     = product {("+" | "-") product}
//	product = primary {("*" | "/") primary}
//	primary = number | 'text' | name | name "(" [expr {"," expr}] ")" | "(" expr ")"
type exprParser struct {
	tokens []string
	at     int
	depth  int
	known  func(name string) bool
}

// compile reads an expression over the names that known accepts.
func compile(text string, known func(name string) bool) (expression, error) {
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := exprParser{tokens: tokens, known: known}
	e, err := p.expr()
	if err != nil {
		return nil, err
	}
	if p.peek() != "" {
		return nil, fmt.Errorf("%q is not expected here", p.peek())
	}
	return e, nil
}

// lex cuts an expression into tokens. A text literal keeps its opening quote.
func lex(text string) ([]string, error) {
	var out []string
	for i := 0; i < len(text); {
		c := rune(text[i])
		j := i + 1
		switch {
		case unicode.IsSpace(c):
			i = j
			continue
		case c == '\'':
			end := strings.IndexByte(text[j:], '\'')
			if end < 0 {
				return nil, fmt.Errorf("the text %s has no closing quote", text[i:])
			}
			out = append(out, text[i:j+end])
			i = j + end + 1
			continue
		case c >= '0' && c <= '9':
			j = i + span(text[i:], "0123456789.")
		case nameByte(text[i]):
			for j < len(text) && (nameByte(text[j]) || text[j] >= '0' && text[j] <= '9' || text[j] == '.') {
				j++
			}
		case strings.ContainsRune("<>=!", c) && j < len(text) && text[j] == '=':
			j++
		case !strings.ContainsRune("+-*/()<>,", c):
			return nil, fmt.Errorf("%q is not expected in an expression", text[i:j])
		}
		out = append(out, text[i:j])
		i = j
	}
	return out, nil
}

func span(text, set string) int {
	for i := range len(text) {
		if strings.IndexByte(set, text[i]) < 0 {
			return i
		}
	}
	return len(text)
}

func nameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (p *exprParser) peek() string {
	if p.at < len(p.tokens) {
		return p.tokens[p.at]
	}
	return ""
}

func (p *exprParser) next() string {
	t := p.peek()
	p.at++
	return t
}

func (p *exprParser) take(ops ...string) (string, bool) {
	for _, op := range ops {
		if p.peek() == op {
			p.at++
			return op, true
		}
	}
	return "", false
}

func (p *exprParser) expr() (expression, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, fmt.Errorf("more than %d levels of nesting", maxDepth)
	}
	defer func() { p.depth-- }()
	left, err := p.sum()
	if err != nil {
		return nil, err
	}
	op, ok := p.take("<", "<=", ">", ">=", "==", "!=")
	if !ok {
		return left, nil
	}
	right, err := p.sum()
	return operation{op, left, right}, err
}

func (p *exprParser) sum() (expression, error) { return p.chain(p.product, "+", "-") }

func (p *exprParser) product() (expression, error) { return p.chain(p.primary, "*", "/") }

func (p *exprParser) chain(operand func() (expression, error), ops ...string) (expression, error) {
	left, err := operand()
	for err == nil {
		op, ok := p.take(ops...)
		if !ok {
			break
		}
		var right expression
		right, err = operand()
		left = operation{op, left, right}
	}
	return left, err
}

func (p *exprParser) primary() (expression, error) {
	t := p.next()
	switch {
	case t == "":
		return nil, fmt.Errorf("the expression ends too early")
	case t == "(":
		e, err := p.expr()
		if err == nil && p.next() != ")" {
			err = fmt.Errorf("a closing parenthesis is missing")
		}
		return e, err
	case t[0] == '\'':
		return literal(t[1:]), nil
	case t[0] >= '0' && t[0] <= '9':
		_, err := number(t)
		return literal(t), err
	case !nameByte(t[0]):
		return nil, fmt.Errorf("%q is not expected here", t)
	}
	if _, ok := p.take("("); ok {
		return p.invocation(t)
	}
	if !p.known(t) {
		return nil, fmt.Errorf("the name %s is unknown: names are the groups of match, and LIST.GROUP for those of find", t)
	}
	return reference(t), nil
}

func (p *exprParser) invocation(name string) (expression, error) {
	fn, ok := functions()[name]
	if !ok {
		return nil, fmt.Errorf("there is no function %s: allowed are %s", name, functionNames())
	}
	call := invocation{name: name, fn: fn}
	for {
		if _, ok := p.take(")"); ok {
			break
		}
		if len(call.args) > 0 {
			if _, ok := p.take(","); !ok {
				return nil, fmt.Errorf("%s: a comma or a closing parenthesis is missing", name)
			}
		}
		arg, err := p.expr()
		if err != nil {
			return nil, err
		}
		call.args = append(call.args, arg)
	}
	if len(call.args) != fn.arity {
		return nil, fmt.Errorf("%s takes %d arguments, found %d", name, fn.arity, len(call.args))
	}
	return call, nil
}
