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
func (c *compiler) enter(n node) []typed {
	names := c.readTyped(n.list)
	for _, t := range names {
		if t.name[0] != '?' {
			c.fail(t.line, "found %s, expected a variable such as ?x", t.name)
		}
		c.scope = append(c.scope, scoped{t.name, int32(len(c.vars))})
		c.vars = append(c.vars, c.kind(t.kind))
	}
	return names
}

// openScope runs compile with the variables of a list in scope, and returns their numbers.
func (c *compiler) openScope(vars node, compile func(own []int)) {
	outer, own := len(c.scope), []int{}
	for range c.enter(vars) {
		own = append(own, len(c.vars)-len(own)-1)
	}
	compile(own)
	c.scope = c.scope[:outer]
}

// conditionParts are the constructs of conditions, for messages.
const conditionParts = "and, or, not, imply, exists, forall, =, predicates of the domain"

// formula returns alternatives, one of which holds where the condition does; negated, where it does not.
func (c *compiler) formula(n node, negated bool) []conj {
	rest := n.rest()
	switch parts := len(rest); n.head() {
	case "and":
		return c.formulas(rest, negated, !negated)
	case "or":
		return c.formulas(rest, negated, negated)
	case "not":
		if parts == 1 {
			return c.formula(rest[0], !negated)
		}
	case "imply":
		if parts == 2 {
			left := node{list: []node{{word: "not"}, rest[0]}, line: n.line}
			return c.formulas([]node{left, rest[1]}, negated, negated)
		}
	case "exists", "forall":
		if parts == 2 {
			return c.quantifier(rest[0], rest[1], negated, (n.head() == "exists") != negated)
		}
	case "=":
		if parts == 2 {
			pair := [][2]int32{{c.term(rest[0]), c.term(rest[1])}}
			if negated {
				return []conj{{other: pair}}
			}
			return []conj{{same: pair}}
		}
	default:
		a := []atom{c.atom(n)}
		if negated {
			return []conj{{neg: a}}
		}
		return []conj{{pos: a}}
	}
	c.fail(n.line, "%s has %d parts, which it does not take", n.head(), len(rest))
	return nil
}

// formulas compiles a list of conditions: all of them hold, or one.
func (c *compiler) formulas(list []node, negated, all bool) (alternatives []conj) {
	if all {
		alternatives = []conj{{}}
	}
	for _, n := range list {
		part := c.formula(n, negated)
		if all {
			alternatives = c.product(alternatives, part, n.line)
		} else {
			alternatives = append(alternatives, part...)
		}
	}
	return alternatives
}

// product returns the alternatives of two conditions that both hold.
func (c *compiler) product(a, b []conj, line int) (both []conj) {
	if len(a)*len(b) > maxConjs {
		c.fail(line, "the condition has more than %d alternatives", maxConjs)
		return nil
	}
	for _, x := range a {
		for _, y := range b {
			both = append(both, x.join(y))
		}
	}
	return both
}

// quantifier compiles exists, or a forall as one that no counterexample refutes.
func (c *compiler) quantifier(vars, body node, negated, exists bool) (alternatives []conj) {
	c.openScope(vars, func(own []int) {
		alternatives = c.formula(body, negated != !exists)
		for i := range alternatives {
			alternatives[i].own = append(alternatives[i].own, own...)
		}
	})
	if exists {
		return alternatives
	}
	return []conj{{no: [][]conj{alternatives}}}
}

// noObject is one that a condition names and the game does not have: domains name those of other games.
const noObject = 1 << 30

// term returns a variable in scope, or an object.
func (c *compiler) term(n node) int32 {
	for _, s := range slices.Backward(c.scope) {
		if s.name == n.word {
			return s.v
		}
	}
	if o, known := c.byObject[n.word]; known {
		return ^o
	}
	if n.word == "" || n.word[0] == '?' {
		c.fail(n.line, "found %s, which is no variable here", n)
	}
	return ^noObject
}

func (c *compiler) atom(n node) (a atom) {
	p, known := c.byName[n.head()]
	switch {
	case !known || n.list == nil:
		c.fail(n.line, "found %s; allowed: %s", n, conditionParts)
	case c.predicates[p].derived:
		c.fail(n.line, "%s is defined by :derived, which is skipped, and cannot be used", n.head())
	case c.predicates[p].arity != len(n.rest()):
		c.fail(n.line, "%s has %d arguments, and takes %d", n, len(n.rest()), c.predicates[p].arity)
	}
	a.pred = p
	for _, arg := range n.rest() {
		a.args = append(a.args, c.term(arg))
	}
	return a
}

// effect compiles what an action does, under a condition.
func (c *compiler) effect(n node, when []conj) (effects []effect) {
	rest := n.rest()
	switch n.head() {
	case "increase":
		return nil
	case "and":
		for _, part := range rest {
			effects = append(effects, c.effect(part, when)...)
		}
		return effects
	case "when", "forall":
		if len(rest) != 2 {
			c.fail(n.line, "%s has %d parts, which it does not take", n.head(), len(rest))
			return nil
		}
		if when == nil {
			when = []conj{{}}
		}
		if n.head() == "when" {
			return c.effect(rest[1], c.product(when, c.formula(rest[0], false), n.line))
		}
		c.openScope(rest[0], func(own []int) {
			effects = c.effect(rest[1], c.product(when, []conj{{own: own}}, n.line))
		})
		return effects
	}
	add := n.head() != "not"
	if !add && len(rest) == 1 {
		n = rest[0]
	}
	a := c.atom(n)
	if slices.Contains(a.args, ^noObject) {
		c.fail(n.line, "the effect %s names something that is no object", n)
	}
	return []effect{{atom: a, add: add, when: when}}
}
