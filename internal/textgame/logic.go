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
}

// logic is what the PDDL of a game says. It does not change.
type logic struct {
	objects    []string // sorted; an object is its index
	of         []int    // kinds of the objects
	kinds      []kind
	predicates []predicate
	actions    []*action // sorted by name
	initial    facts
	reach      facts // all that moves can make true where none takes anything away
	goal       []conj
	goalVars   []int // kinds

	byObject map[string]int32
	byKind   map[string]int
	byName   map[string]int // predicates

	part string // that is read now
	err  error  // the first; what was read since then means nothing
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

// Allowed constructs, for messages.
const (
	domainParts  = ":requirements, :types, :constants, :predicates, :functions, :action, :derived"
	problemParts = ":domain, :requirements, :objects, :init, :goal, :metric"
	actionParts  = ":parameters, :precondition, :effect"
)

// parseLogic reads a domain and a problem.
func parseLogic(domain, problem string) (*logic, error) {
	l := &logic{byObject: map[string]int32{}, byKind: map[string]int{}, byName: map[string]int{}}
	l.kinds[l.kind("object")].declared = true
	domainNodes := l.parseDefinition(partDomain, domain, "domain")
	constants := l.readDeclarations(domainNodes)
	problemNodes := l.parseDefinition(partProblem, problem, "problem")
	l.readObjects(constants, problemNodes)
	l.part = partDomain
	l.readActions(domainNodes)
	l.part = partProblem
	l.readProblem(problemNodes)
	if l.err == nil {
		l.explore()
	}
	return l, l.err
}

// fail notes the first error.
func (l *logic) fail(line int, format string, args ...any) {
	if l.err == nil {
		l.err = locate(newError(line, format, args...), "", l.part)
	}
}

// parseDefinition returns the parts of (define (KIND NAME) PART...).
func (l *logic) parseDefinition(part, text, kind string) []node {
	l.part = part
	n, err := parseNode(text)
	if err != nil && l.err == nil {
		l.err = locate(err, "", part)
	}
	if n.head() != "define" || len(n.list) < 2 || n.list[1].head() != kind {
		l.fail(n.line, "it does not begin with (define (%s NAME)", kind)
		return nil
	}
	return n.list[2:]
}

// typed is a name with its type.
type typed struct {
	name, kind string
	line       int
}

// readTyped reads a list such as "a b - t c": c has the type object.
func (l *logic) readTyped(list []node) (names []typed) {
	untyped := 0 // the first name whose type is not read yet
	for i := 0; i < len(list); i++ {
		switch n := list[i]; {
		case n.list != nil:
			l.fail(n.line, "found %s, expected a name", n)
		case n.word != "-":
			names = append(names, typed{n.word, "object", n.line})
		case i+1 == len(list):
			l.fail(n.line, "a type is missing after -")
		default:
			for i++; untyped < len(names); untyped++ {
				names[untyped].kind = list[i].String()
			}
		}
	}
	return names
}

// readDeclarations reads types and predicates, and returns the constants.
func (l *logic) readDeclarations(parts []node) (constants []typed) {
	for _, part := range parts {
		switch rest := part.rest(); part.head() {
		case ":types":
			l.readKinds(rest)
		case ":constants":
			constants = l.readTyped(rest)
		case ":predicates":
			for _, n := range rest {
				l.predicate(n.head(), len(l.readTyped(n.rest())))
			}
		case ":derived":
			if len(rest) > 0 {
				l.predicates[l.predicate(rest[0].head(), len(rest[0].rest()))].derived = true
			}
		case ":requirements", ":functions", ":action":
		default:
			l.fail(part.line, "unknown part %s; allowed: %s", part.head(), domainParts)
		}
	}
	return constants
}

// readKinds declares types.
func (l *logic) readKinds(list []node) {
	for _, n := range l.readTyped(list) {
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
			l.fail(list[0].line, "the type %s is below itself", l.kinds[at].name)
			l.kinds[at].parent = root
		}
	}
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

// readObjects reads the objects of the problem, and sorts all by name.
func (l *logic) readObjects(all []typed, parts []node) {
	for _, part := range parts {
		if part.head() == ":objects" {
			all = append(all, l.readTyped(part.rest())...)
		}
	}
	if len(all) > maxObjects {
		l.fail(0, "there are %d objects; at most %d are played", len(all), maxObjects)
		return
	}
	slices.SortStableFunc(all, func(a, b typed) int { return strings.Compare(a.name, b.name) })
	for i, o := range all {
		k := l.kind(o.kind)
		if i > 0 && all[i-1].name == o.name {
			l.fail(o.line, "the object %s is declared twice", o.name)
		}
		if !l.kinds[k].declared {
			l.fail(o.line, "the object %s has the type %s, which the domain does not declare", o.name, o.kind)
		}
		l.byObject[o.name] = int32(i)
		l.objects, l.of = append(l.objects, o.name), append(l.of, k)
	}
	for k := range l.kinds {
		l.kinds[k].has = make([]bool, len(l.objects))
	}
	for o, k := range l.of {
		for above := -1; above != root; k = l.kinds[k].parent {
			above = k
			l.kinds[k].has[o] = true
			l.kinds[k].members = append(l.kinds[k].members, int32(o))
		}
	}
}

// readActions compiles the actions, sorted by name.
func (l *logic) readActions(parts []node) {
	for _, part := range parts {
		if part.head() == ":action" {
			l.actions = append(l.actions, l.readAction(part))
		}
	}
	slices.SortStableFunc(l.actions, func(a, b *action) int { return strings.Compare(a.name, b.name) })
}

// readAction compiles (:action NAME KEY VALUE ...).
func (l *logic) readAction(n node) *action {
	rest := n.rest()
	a := &action{pre: []conj{{}}}
	if len(rest)%2 != 1 {
		l.fail(n.line, "an action is written (:action NAME KEY VALUE ...); keys: %s", actionParts)
		return a
	}
	a.name = rest[0].word
	c := compiler{logic: l}
	for i := 1; i < len(rest); i += 2 {
		switch value := rest[i+1]; rest[i].word {
		case ":parameters":
			for _, p := range c.enter(value) {
				a.params = append(a.params, strings.TrimPrefix(p.name, "?"))
			}
		case ":precondition":
			if len(value.list) > 0 {
				a.pre = c.formula(value, false)
			}
		case ":effect":
			if len(value.list) > 0 {
				a.effects = c.effect(value, nil)
			}
		default:
			l.fail(rest[i].line, "unknown key %s of the action %s; allowed: %s", rest[i], a.name, actionParts)
		}
	}
	a.vars = c.vars
	for _, e := range a.effects {
		l.predicates[e.pred].fluent = true
	}
	for i := range a.pre { // each parameter has a value, also one that no condition names
		for v := range a.params {
			a.pre[i].own = append(a.pre[i].own, v)
		}
	}
	return a
}

// readProblem reads the facts at the start, and the goal.
func (l *logic) readProblem(parts []node) {
	rows, found := map[int][][]int32{}, false
	for _, part := range parts {
		switch part.head() {
		case ":init":
			l.readFacts(part.rest(), rows)
		case ":goal":
			c := compiler{logic: l}
			if found = len(part.list) == 2; found {
				l.goal = c.formula(part.list[1], false)
				l.goalVars = c.vars
			}
		case ":domain", ":requirements", ":objects", ":metric":
		default:
			l.fail(part.line, "unknown part %s; allowed: %s", part.head(), problemParts)
		}
	}
	if !found {
		l.fail(0, "the problem has no (:goal CONDITION)")
	}
	for p := range l.predicates {
		l.initial = append(l.initial, newTable(l.predicates[p].arity, rows[p]))
	}
}

// readFacts adds facts to the rows of tables. Distances and costs are skipped.
func (l *logic) readFacts(list []node, rows map[int][][]int32) {
	for _, n := range list {
		if n.head() == "=" || n.head() == "not" {
			continue
		}
		p := l.predicate(n.head(), len(n.rest()))
		if arity := l.predicates[p].arity; arity != len(n.rest()) {
			l.fail(n.line, "the fact %s has %d arguments, and %s takes %d", n, len(n.rest()), n.head(), arity)
			continue
		}
		row := make([]int32, 0, len(n.rest()))
		for _, arg := range n.rest() {
			o, known := l.byObject[arg.word]
			if !known {
				l.fail(arg.line, "the fact %s names %s, which is no object", n, arg)
			}
			row = append(row, o)
		}
		rows[p] = append(rows[p], row)
	}
}
