package textgame

import "slices"

// maxConjs bounds the alternatives of a condition.
const maxConjs = 1 << 10

// atom is a fact with variables. An argument is the number of a variable, or ^object.
type atom struct {
	pred int
	args []int32
}

// conj is a conjunction: it holds for each value of its variables with which all of its parts hold.
type conj struct {
	own   []int // variables that it gives values
	pos   []atom
	neg   []atom
	same  [][2]int32 // arguments that are equal
	other [][2]int32 // arguments that differ
	no    [][]conj   // of each no alternative holds
}

// join returns the conjunction of two.
func (c conj) join(d conj) conj {
	return conj{
		own: slices.Concat(c.own, d.own), pos: slices.Concat(c.pos, d.pos), neg: slices.Concat(c.neg, d.neg),
		same: slices.Concat(c.same, d.same), other: slices.Concat(c.other, d.other), no: slices.Concat(c.no, d.no),
	}
}

// compiler makes alternatives of conjunctions out of the conditions of one action, or of a goal.
type compiler struct {
	*logic
	vars  []int // kinds
	scope []scoped
}

// scoped is a variable as a condition names it.
type scoped struct {
	name string
	v    int32
}

// enter brings the variables of a list into scope.
func (c *compiler) enter(n node) ([]typed, error) {
	if n.list == nil {
		return nil, newError(n.line, "found %s, expected a list of variables", n)
	}
	names, err := readTyped(n.list)
	if err != nil {
		return nil, err
	}
	for _, t := range names {
		if t.name[0] != '?' {
			return nil, newError(t.line, "found %s, expected a variable such as ?x", t.name)
		}
		c.scope = append(c.scope, scoped{t.name, int32(len(c.vars))})
		c.vars = append(c.vars, c.kind(t.kind))
	}
	return names, nil
}

// conditionParts are the constructs of conditions, for messages.
const conditionParts = "and, or, not, imply, exists, forall, =, predicates of the domain"

// formula returns alternatives, one of which holds where the condition does; negated, where it does not.
func (c *compiler) formula(n node, negated bool) ([]conj, error) {
	if len(n.list) == 0 {
		return nil, newError(n.line, "found %s, expected a condition: %s", n, conditionParts)
	}
	switch rest := n.rest(); n.head() {
	case "and":
		return c.formulas(rest, negated, !negated)
	case "or":
		return c.formulas(rest, negated, negated)
	case "not":
		if len(rest) == 1 {
			return c.formula(rest[0], !negated)
		}
	case "imply":
		if len(rest) == 2 {
			left := node{list: []node{{word: "not"}, rest[0]}, line: n.line}
			return c.formulas([]node{left, rest[1]}, negated, negated)
		}
	case "exists", "forall":
		if len(rest) == 2 {
			return c.quantified(rest[0], rest[1], negated, (n.head() == "exists") != negated)
		}
	case "=":
		if len(rest) == 2 {
			return c.equality(rest, negated)
		}
	default:
		a, err := c.atom(n)
		if negated {
			return []conj{{neg: []atom{a}}}, err
		}
		return []conj{{pos: []atom{a}}}, err
	}
	return nil, newError(n.line, "%s has %d parts, which it does not take", n.head(), len(n.rest()))
}

// formulas compiles a list of conditions: all of them hold, or one.
func (c *compiler) formulas(list []node, negated, all bool) (alternatives []conj, err error) {
	if all {
		alternatives = []conj{{}}
	}
	for _, n := range list {
		part, err := c.formula(n, negated)
		if err != nil {
			return nil, err
		}
		if all {
			alternatives, err = product(alternatives, part, n.line)
		} else {
			alternatives = append(alternatives, part...)
		}
		if err != nil {
			return nil, err
		}
	}
	return alternatives, nil
}

// product returns the alternatives of two conditions that both hold.
func product(a, b []conj, line int) ([]conj, error) {
	if len(a)*len(b) > maxConjs {
		return nil, newError(line, "the condition has more than %d alternatives", maxConjs)
	}
	both := make([]conj, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			both = append(both, x.join(y))
		}
	}
	return both, nil
}

// quantified compiles exists, or a forall as one that no counterexample refutes.
func (c *compiler) quantified(vars, body node, negated, exists bool) ([]conj, error) {
	outer, first := len(c.scope), len(c.vars)
	if _, err := c.enter(vars); err != nil {
		return nil, err
	}
	last := len(c.vars)
	alternatives, err := c.formula(body, negated != !exists)
	c.scope = c.scope[:outer]
	if err != nil {
		return nil, err
	}
	for i := range alternatives {
		for v := first; v < last; v++ {
			alternatives[i].own = append(alternatives[i].own, v)
		}
	}
	if exists {
		return alternatives, nil
	}
	return []conj{{no: [][]conj{alternatives}}}, nil
}

func (c *compiler) equality(rest []node, negated bool) ([]conj, error) {
	a, err := c.term(rest[0])
	if err != nil {
		return nil, err
	}
	b, err := c.term(rest[1])
	if negated {
		return []conj{{other: [][2]int32{{a, b}}}}, err
	}
	return []conj{{same: [][2]int32{{a, b}}}}, err
}

// noObject is one that a condition names and the game does not have: domains name those of other games.
const noObject = 1 << 30

// term returns a variable in scope, or an object.
func (c *compiler) term(n node) (int32, error) {
	for _, s := range slices.Backward(c.scope) {
		if s.name == n.word {
			return s.v, nil
		}
	}
	if o, known := c.byObject[n.word]; known {
		return ^o, nil
	}
	if n.word == "" || n.word[0] == '?' {
		return 0, newError(n.line, "found %s, which is no variable here", n)
	}
	return ^noObject, nil
}

func (c *compiler) atom(n node) (a atom, err error) {
	p, known := c.byName[n.head()]
	switch {
	case !known:
		return a, newError(n.line, "unknown %s; allowed: %s", n.head(), conditionParts)
	case c.predicates[p].derived:
		return a, newError(n.line, "%s is defined by :derived, which is skipped, and cannot be used", n.head())
	case c.predicates[p].arity != len(n.rest()):
		return a, newError(n.line, "%s has %d arguments, and takes %d", n, len(n.rest()), c.predicates[p].arity)
	}
	a.pred = p
	for _, arg := range n.rest() {
		t, err := c.term(arg)
		if err != nil {
			return a, err
		}
		a.args = append(a.args, t)
	}
	return a, nil
}

// effect compiles what an action does, under a condition.
func (c *compiler) effect(n node, when []conj) (effects []effect, err error) {
	rest := n.rest()
	switch {
	case n.head() == "increase":
		return nil, nil
	case n.head() == "and":
		for _, part := range rest {
			some, err := c.effect(part, when)
			if err != nil {
				return nil, err
			}
			effects = append(effects, some...)
		}
		return effects, nil
	case n.head() == "when" && len(rest) == 2:
		return c.conditional(rest[0], rest[1], when)
	case n.head() == "forall" && len(rest) == 2:
		return c.universal(rest[0], rest[1], when)
	case len(n.list) == 0:
		return nil, newError(n.line, "found %s, expected an effect: and, when, forall, increase, not, predicates of the domain", n)
	}
	add := n.head() != "not"
	if !add && len(rest) == 1 && len(rest[0].list) > 0 {
		n = rest[0]
	}
	a, err := c.atom(n)
	if err == nil && slices.Contains(a.args, ^noObject) {
		err = newError(n.line, "the effect %s names something that is no object", n)
	}
	return []effect{{atom: a, add: add, when: when}}, err
}

func (c *compiler) conditional(condition, body node, when []conj) ([]effect, error) {
	alternatives, err := c.formula(condition, false)
	if err != nil {
		return nil, err
	}
	if when != nil {
		if alternatives, err = product(when, alternatives, condition.line); err != nil {
			return nil, err
		}
	}
	return c.effect(body, alternatives)
}

func (c *compiler) universal(vars, body node, when []conj) ([]effect, error) {
	outer, all := len(c.scope), conj{}
	names, err := c.enter(vars)
	if err != nil {
		return nil, err
	}
	for i := range names {
		all.own = append(all.own, len(c.vars)-len(names)+i)
	}
	if when == nil {
		when = []conj{{}}
	}
	if when, err = product(when, []conj{all}, vars.line); err != nil {
		return nil, err
	}
	effects, err := c.effect(body, when)
	c.scope = c.scope[:outer]
	return effects, err
}
