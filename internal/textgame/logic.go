package textgame

import (
	"slices"
	"strings"
)

// maxObjects bounds the objects of a game.
const maxObjects = 10_000

// root is the type that all objects have.
const root = 0

// kind is a type of objects.
type kind struct {
	name     string
	parent   int // another kind; root of itself
	declared bool
	members  []int32
	has      []bool // by object
}

// predicate is a name of facts.
type predicate struct {
	name    string
	arity   int
	derived bool // by :derived
	fluent  bool // an action changes it
	needed  bool // whether something can make it true matters
}

// logic is what the PDDL of a game says. It does not change.
type logic struct {
	objects    []string // sorted; an object is its index
	of         []int    // kinds of the objects
	kinds      []kind
	predicates []predicate
	actions    []*action // sorted by name
	initial    facts
	goal       []conj
	goalVars   []int // kinds

	byObject map[string]int32
	byKind   map[string]int
	byName   map[string]int // predicates
}

// action is an operator with variables.
type action struct {
	name    string
	params  []string // names of the first variables, without question mark
	vars    []int    // kinds of all variables
	pre     []conj   // one of them holds
	effects []effect
}

// effect is a fact that an action adds or removes.
type effect struct {
	atom
	add  bool
	when []conj // nil: always
}

// allowed constructs, for messages.
const (
	domainParts  = ":requirements, :types, :constants, :predicates, :functions, :action, :derived"
	problemParts = ":domain, :requirements, :objects, :init, :goal, :metric"
	actionParts  = ":parameters, :precondition, :effect"
)

// parseLogic reads a domain and a problem.
func parseLogic(domain, problem string) (*logic, error) {
	l := &logic{byObject: map[string]int32{}, byKind: map[string]int{}, byName: map[string]int{}}
	l.kinds = []kind{{name: "object", declared: true}}
	l.byKind["object"] = root
	domainNode, err := parseDefinition(domain, "domain")
	if err != nil {
		return nil, locate(err, "", partDomain)
	}
	problemNode, err := parseDefinition(problem, "problem")
	if err != nil {
		return nil, locate(err, "", partProblem)
	}
	var constants []typed
	if constants, err = l.readDeclarations(domainNode); err != nil {
		return nil, locate(err, "", partDomain)
	}
	if err = l.readObjects(constants, problemNode); err != nil {
		return nil, locate(err, "", partProblem)
	}
	if err = l.readActions(domainNode); err != nil {
		return nil, locate(err, "", partDomain)
	}
	if err = l.readProblem(problemNode); err != nil {
		return nil, locate(err, "", partProblem)
	}
	l.mark()
	return l, nil
}

// parseDefinition returns the parts of (define (KIND NAME) PART...).
func parseDefinition(text, kind string) ([]node, error) {
	n, err := parseNode(text)
	if err != nil {
		return nil, err
	}
	if n.head() != "define" || len(n.list) < 2 || n.list[1].head() != kind {
		return nil, newError(n.line, "it does not begin with (define (%s NAME)", kind)
	}
	for _, part := range n.list[2:] {
		if part.list == nil || len(part.list) == 0 {
			return nil, newError(part.line, "found %q, expected a list such as (:%s ...)", part, map[string]string{"domain": "types", "problem": "init"}[kind])
		}
	}
	return n.list[2:], nil
}

// typed is a name with its type.
type typed struct {
	name, kind string
	line       int
}

// readTyped reads a list such as "a b - t c": c has the type object.
func readTyped(list []node) (names []typed, err error) {
	untyped := 0 // the first name whose type is not read yet
	for i := 0; i < len(list); i++ {
		switch n := list[i]; {
		case n.list != nil:
			return nil, newError(n.line, "found %s, expected a name", n)
		case n.word != "-":
			names = append(names, typed{n.word, "object", n.line})
		case i+1 == len(list):
			return nil, newError(n.line, "a type is missing after -")
		default:
			for i++; untyped < len(names); untyped++ {
				names[untyped].kind = list[i].String()
			}
		}
	}
	return names, nil
}

// readDeclarations reads types and predicates, and returns the constants.
func (l *logic) readDeclarations(parts []node) (constants []typed, err error) {
	for _, part := range parts {
		switch part.head() {
		case ":types":
			err = l.readKinds(part.rest())
		case ":constants":
			constants, err = readTyped(part.rest())
		case ":predicates":
			err = l.readPredicates(part.rest())
		case ":derived":
			if rest := part.rest(); len(rest) > 0 && len(rest[0].list) > 0 {
				l.predicates[l.predicate(rest[0].head(), len(rest[0].rest()))].derived = true
			}
		case ":requirements", ":functions", ":action":
		default:
			err = newError(part.line, "unknown part %s; allowed: %s", part.head(), domainParts)
		}
		if err != nil {
			return nil, err
		}
	}
	return constants, nil
}

// readKinds declares types.
func (l *logic) readKinds(list []node) error {
	names, err := readTyped(list)
	if err != nil {
		return err
	}
	for _, n := range names {
		at, parent := l.kind(n.name), l.kind(n.kind)
		if l.kinds[at].declared = true; at != root {
			l.kinds[at].parent = parent
		}
	}
	for at := range l.kinds {
		k := at
		for range l.kinds {
			k = l.kinds[k].parent
		}
		if k != root {
			return newError(list[0].line, "the type %s is below itself", l.kinds[at].name)
		}
	}
	return nil
}

// kind returns the number of a type. One that is not declared has no objects, and neither has (either a b).
func (l *logic) kind(name string) int {
	at, known := l.byKind[name]
	if !known {
		at = len(l.kinds)
		l.kinds = append(l.kinds, kind{name: name, has: make([]bool, len(l.objects))})
		l.byKind[name] = at
	}
	return at
}

// predicate returns the number of a predicate, which is declared by its first use.
func (l *logic) predicate(name string, arity int) int {
	at, known := l.byName[name]
	if !known {
		at = len(l.predicates)
		l.predicates = append(l.predicates, predicate{name: name, arity: arity})
		l.byName[name] = at
	}
	return at
}

func (l *logic) readPredicates(list []node) error {
	for _, n := range list {
		if len(n.list) == 0 {
			return newError(n.line, "found %s, expected a predicate such as (at ?a - agent)", n)
		}
		args, err := readTyped(n.rest())
		if err != nil {
			return err
		}
		l.predicate(n.head(), len(args))
	}
	return nil
}

// readObjects reads the objects of the problem, and sorts all by name.
func (l *logic) readObjects(all []typed, parts []node) error {
	for _, part := range parts {
		if part.head() != ":objects" {
			continue
		}
		names, err := readTyped(part.rest())
		if err != nil {
			return err
		}
		all = append(all, names...)
	}
	if len(all) > maxObjects {
		return newError(0, "there are %d objects; at most %d are played", len(all), maxObjects)
	}
	slices.SortStableFunc(all, func(a, b typed) int { return strings.Compare(a.name, b.name) })
	for i, o := range all {
		if i > 0 && all[i-1].name == o.name {
			return newError(o.line, "the object %s is declared twice", o.name)
		}
		k := l.kind(o.kind)
		if !l.kinds[k].declared {
			return newError(o.line, "the object %s has the type %s, which the domain does not declare", o.name, o.kind)
		}
		l.byObject[o.name] = int32(i)
		l.objects, l.of = append(l.objects, o.name), append(l.of, k)
	}
	l.fillKinds()
	return nil
}

// fillKinds sorts the objects into their types and those above.
func (l *logic) fillKinds() {
	for k := range l.kinds {
		l.kinds[k].has = make([]bool, len(l.objects))
	}
	for o, k := range l.of {
		for {
			l.kinds[k].has[o] = true
			l.kinds[k].members = append(l.kinds[k].members, int32(o))
			if k == root {
				break
			}
			k = l.kinds[k].parent
		}
	}
}

// readActions compiles the actions, sorted by name.
func (l *logic) readActions(parts []node) error {
	for _, part := range parts {
		if part.head() != ":action" {
			continue
		}
		a, err := l.readAction(part)
		if err != nil {
			return err
		}
		l.actions = append(l.actions, a)
	}
	slices.SortStableFunc(l.actions, func(a, b *action) int { return strings.Compare(a.name, b.name) })
	return nil
}

// readAction compiles (:action NAME KEY VALUE ...).
func (l *logic) readAction(n node) (*action, error) {
	rest := n.rest()
	if len(rest)%2 != 1 || rest[0].list != nil {
		return nil, newError(n.line, "an action is written (:action NAME KEY VALUE ...); keys: %s", actionParts)
	}
	a := &action{name: rest[0].word, pre: []conj{{}}}
	c := compiler{logic: l}
	var err error
	for i := 1; i < len(rest) && err == nil; i += 2 {
		switch value := rest[i+1]; rest[i].word {
		case ":parameters":
			var names []typed
			if names, err = c.enter(value); err == nil {
				for _, p := range names {
					a.params = append(a.params, strings.TrimPrefix(p.name, "?"))
				}
			}
		case ":precondition":
			if len(value.list) > 0 {
				a.pre, err = c.formula(value, false)
			}
		case ":effect":
			if len(value.list) > 0 {
				a.effects, err = c.effect(value, nil)
			}
		default:
			err = newError(rest[i].line, "unknown key %s of the action %s; allowed: %s", rest[i], a.name, actionParts)
		}
	}
	if err != nil {
		return nil, err
	}
	a.vars = c.vars
	for i := range a.pre { // each parameter has a value, also one that no condition names
		for v := range a.params {
			a.pre[i].own = append(a.pre[i].own, v)
		}
	}
	return a, nil
}

// readProblem reads the facts at the start, and the goal.
func (l *logic) readProblem(parts []node) (err error) {
	var rows [][][]int32
	for _, part := range parts {
		switch part.head() {
		case ":init":
			rows, err = l.readFacts(part.rest())
		case ":goal":
			c := compiler{logic: l}
			if len(part.list) != 2 {
				return newError(part.line, "a goal is written (:goal CONDITION)")
			}
			l.goal, err = c.formula(part.list[1], false)
			l.goalVars = c.vars
		case ":domain", ":requirements", ":objects", ":metric":
		default:
			err = newError(part.line, "unknown part %s; allowed: %s", part.head(), problemParts)
		}
		if err != nil {
			return err
		}
	}
	if l.goalVars == nil && l.goal == nil {
		return newError(1, "the problem has no (:goal CONDITION)")
	}
	l.initial = make(facts, len(l.predicates))
	for p := range l.predicates {
		var r [][]int32
		if p < len(rows) {
			r = rows[p]
		}
		l.initial[p] = newTable(l.predicates[p].arity, r)
	}
	return nil
}

// readFacts returns the rows of the tables at the start. Distances and costs are skipped.
func (l *logic) readFacts(list []node) (rows [][][]int32, err error) {
	for _, n := range list {
		if n.head() == "=" || n.head() == "not" {
			continue
		}
		if len(n.list) == 0 {
			return nil, newError(n.line, "found %s, expected a fact such as (at agent1 loc1)", n)
		}
		p := l.predicate(n.head(), len(n.rest()))
		if arity := l.predicates[p].arity; arity != len(n.rest()) {
			return nil, newError(n.line, "the fact %s has %d arguments, and %s takes %d", n, len(n.rest()), n.head(), arity)
		}
		row := make([]int32, 0, len(n.rest()))
		for _, arg := range n.rest() {
			o, known := l.byObject[arg.word]
			if !known {
				return nil, newError(arg.line, "the fact %s names %s, which is no object", n, arg)
			}
			row = append(row, o)
		}
		for len(rows) <= p {
			rows = append(rows, nil)
		}
		rows[p] = append(rows[p], row)
	}
	return rows, nil
}

// mark notes which predicates change, and for which ones it matters what can make them true.
func (l *logic) mark() {
	need := func(conjs []conj) {
		for _, c := range conjs {
			for _, a := range c.pos {
				l.predicates[a.pred].needed = true
			}
		}
	}
	need(l.goal)
	for _, a := range l.actions {
		need(a.pre)
		for _, e := range a.effects {
			need(e.when)
			l.predicates[e.pred].fluent = true
			if !e.add {
				l.predicates[e.pred].needed = true
			}
		}
	}
}
