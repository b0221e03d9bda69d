package textgame

import (
	"fmt"
	"slices"
	"strings"
)

// Bounds of one sentence.
const (
	maxNesting  = 100
	maxSentence = 64 << 10
	maxLooks    = 1_000_000 // at its parts, and at facts
)

// binding gives a name to an object, as one of a type.
type binding struct {
	holder
	object int32
	of     int // the kind that the object has here
}

// writer writes a sentence about a state.
type writer struct {
	*Game
	state
	out   strings.Builder
	depth int
	looks int   // that are left
	err   error // the first; nothing is written after it
}

// sentence returns the text of parts.
func (g *Game) sentence(at state, parts []part, names []binding) (string, error) {
	w := writer{Game: g, state: at, looks: maxLooks}
	w.write(parts, names)
	return w.out.String(), w.err
}

func (w *writer) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

func (w *writer) write(parts []part, names []binding) {
	if w.depth++; w.depth > maxNesting {
		w.fail("its rules are nested more than %d deep", maxNesting)
	}
	for i := range parts {
		if w.looks--; w.looks <= 0 || w.out.Len() > maxSentence {
			w.fail("a sentence is longer than %d characters, or looks at more than %d facts", maxSentence, maxLooks)
		}
		if w.err != nil {
			return
		}
		w.writePart(&parts[i], names)
	}
	w.depth--
}

// writePart writes a part once, or for each answer to its query.
func (w *writer) writePart(p *part, names []binding) {
	all := [][]binding{names}
	if p.given != nil {
		all = nil
		w.ask(p.given, names, func(found []binding) bool { all = append(all, found); return true })
	}
	if p.list && len(all) == 0 {
		w.writeSymbol("list_empty", names)
	}
	for i, found := range all {
		switch {
		case !p.list || i == 0:
		case i == len(all)-1:
			w.writeSymbol("list_last_separator", names)
		default:
			w.writeSymbol("list_separator", names)
		}
		switch {
		case p.symbol:
			w.writeSymbol(p.text, found)
		case p.expr != nil:
			w.out.WriteString(w.compute(p.expr, found))
		default:
			w.out.WriteString(p.text)
		}
	}
}

// writeSymbol writes by the first rule whose condition holds.
func (w *writer) writeSymbol(symbol string, names []binding) {
	rules := w.grammar.rules[symbol]
	for _, r := range rules {
		holds := r.condition == nil
		if !holds {
			w.ask(r.condition, names, func([]binding) bool { holds = true; return false })
		}
		if holds {
			w.write(r.text, names)
			return
		}
	}
	w.fail("the grammar has no rule for #%s# whose condition holds, of %d", symbol, len(rules))
}

// ask calls yield for each answer to a query, in the order of the names of objects, until it returns false.
func (w *writer) ask(q *query, names []binding, yield func([]binding) bool) {
	if q.err != nil {
		w.fail("%w", q.err)
	}
	for _, f := range q.facts {
		for _, a := range f.args {
			if k, known := w.byKind[a.kind]; !known || !w.kinds[k].declared {
				w.fail("the condition %q names the type %q, which the domain does not declare", q.text, a.kind)
			}
		}
	}
	if w.err == nil {
		w.match(q.facts, slices.Clip(names), yield)
	}
}

// match finds the facts of a query one after the other.
func (w *writer) match(query []template, names []binding, yield func([]binding) bool) bool {
	if len(query) == 0 {
		return yield(names)
	}
	t := w.table(query[0])
	if w.looks--; t == nil || w.looks <= 0 {
		return true
	}
	var order []int32
	for i, a := range query[0].args {
		if at := findHolder(names, a); at >= 0 {
			if found := t.find(i, names[at].object); order == nil || len(found) < len(order) {
				order = append([]int32{}, found...)
			}
		}
	}
	if order == nil && len(query[0].args) > 0 {
		order = t.by[0]
	}
	for _, below := range []bool{false, true} { // objects of the very types first
		w.looks -= len(order)
		for _, i := range order {
			found, ok := w.bind(query[0].args, t.rows[i], names, below)
			if ok && !w.match(query[1:], found, yield) {
				return false
			}
		}
	}
	if len(query[0].args) == 0 && len(t.rows) > 0 {
		return w.match(query[1:], names, yield)
	}
	return true
}

// table returns the facts that a template is about; those with not_ are removed ones. nil: there are none.
func (w *writer) table(q template) *table {
	all := w.shown
	p, known := w.byName[q.predicate]
	if name, not := strings.CutPrefix(q.predicate, "not_"); not && !known {
		all = w.gone
		p, known = w.byName[name]
	}
	if !known || w.predicates[p].arity != len(q.args) {
		return nil
	}
	return all[p]
}

func findHolder(names []binding, h holder) int {
	return slices.IndexFunc(names, func(b binding) bool { return b.holder == h })
}

// bind names the objects of a row. Different names are different objects. below says whether an object is
// of a type below the one that is asked for.
func (w *writer) bind(args []holder, row []int32, names []binding, below bool) (found []binding, ok bool) {
	exact := true
	found = names
	for i, a := range args {
		o, of := row[i], w.of[row[i]]
		k := w.byKind[a.kind]
		if !w.kinds[k].has[o] {
			return nil, false
		}
		exact = exact && k == of
		isIt := func(b binding) bool { return b.object == o && b.of == of }
		if at := findHolder(found, a); at >= 0 {
			if !isIt(found[at]) {
				return nil, false
			}
			continue
		}
		if slices.ContainsFunc(found, isIt) {
			return nil, false
		}
		found = append(slices.Clip(found), binding{a, o, of})
	}
	return found, exact != below
}

// compute returns the value of an expression.
func (w *writer) compute(e *expression, names []binding) (text string) {
	if e.err != nil {
		w.fail("%w", e.err)
	}
	for _, sum := range e.any {
		text = ""
		for _, t := range sum {
			value, err := w.value(t, names)
			if err == nil && !t.literal && t.field == "" && len(sum) > 1 {
				err = fmt.Errorf("%s is an object, which + does not take", t.text)
			}
			if err != nil {
				w.fail("the expression %q: %w", e.text, err)
			}
			text += value
		}
		if text != "" {
			break
		}
	}
	return text
}

// value returns the value of a term. Of two objects with one name it is the later one.
func (w *writer) value(t term, names []binding) (string, error) {
	if t.literal {
		return t.text, nil
	}
	at := len(names) - 1
	for at >= 0 && names[at].name != t.text {
		at--
	}
	if at < 0 {
		return "", fmt.Errorf("there is no %q here; %w", t.text, errNoExpression)
	}
	o := names[at].object
	switch name := w.names[o]; {
	case name == "":
		return "", fmt.Errorf("the object %s is in no fact and has no name", w.objects[o])
	case t.field == "" || t.field == "name":
		return name, nil
	case t.field == "id":
		return w.objects[o], nil
	case t.field == "indefinite":
		return "a", nil
	case t.field == "definite":
		return "the", nil
	}
	return "", fmt.Errorf("an object has no %q; %w", t.field, errNoExpression)
}
