package textgame

import "slices"

// move is an action with objects for its parameters.
type move struct {
	action *action
	pre    *conj // the alternative of its condition that holds
	args   []int32
}

// moves returns those that are possible, sorted by action and objects.
func (l *logic) moves(f facts) ([]move, error) {
	var all []move
	visits := maxVisits
	for _, a := range l.actions {
		s := l.newSolver(f, a.vars, false, &visits)
		from := len(all)
		for i := range a.pre {
			c := &a.pre[i]
			s.each(c, func() bool {
				if s.hasEffect(a, c) {
					all = append(all, move{a, c, slices.Clone(s.values[:len(a.params)])})
				}
				return true
			})
		}
		slices.SortFunc(all[from:], func(m, n move) int { return slices.Compare(m.args, n.args) })
		all = append(all[:from], slices.CompactFunc(all[from:], func(m, n move) bool { return slices.Equal(m.args, n.args) })...)
	}
	if visits <= 0 {
		return nil, errVisits
	}
	return all, nil
}

// hasEffect reports whether an effect is left of a move.
func (s *solver) hasEffect(a *action, c *conj) bool {
	return !s.eachEffect(a, c, func(*effect, []int32) bool { return false })
}

// eachEffect calls yield for each effect of a move, whatever its condition, without those that can never do
// anything: the addition of what the move demands, the removal of what it adds too, what never holds or
// what it demands to be absent, and what has a condition that cannot hold. It ends when yield returns false,
// and returns false then.
func (s *solver) eachEffect(a *action, c *conj, yield func(e *effect, row []int32) bool) bool {
	for i := range a.effects {
		e := &a.effects[i]
		if row := s.row(e.atom); e.when == nil && s.canDo(a, e, row, c) && !yield(e, row) {
			return false
		}
		for j := range e.when {
			sub := *s
			sub.facts, sub.relaxed = s.reach, true
			more := sub.each(&e.when[j], func() bool {
				row := sub.row(e.atom)
				return !sub.canDo(a, e, row, c) || sub.contradicts(e, row, &e.when[j], c) || yield(e, row)
			})
			if !more {
				return false
			}
		}
	}
	return true
}

// canDo reports whether a move can do an effect, but for its condition.
func (s *solver) canDo(a *action, e *effect, row []int32, c *conj) bool {
	if e.add {
		return !s.hasAtom(c.pos, e.pred, row)
	}
	return !s.hasAtom(c.neg, e.pred, row) && s.reach[e.pred].has(row) && !s.adds(a, e.pred, row)
}

// adds reports whether a move adds a fact in each state: under no condition, or under one of facts that never change.
func (s *solver) adds(a *action, pred int, row []int32) bool {
	sub := *s
	sub.relaxed = false
	fluent := func(a atom) bool { return s.predicates[a.pred].fluent }
	return slices.ContainsFunc(a.effects, func(e effect) bool {
		if !e.add || e.pred != pred {
			return false
		}
		return e.when == nil && slices.Equal(s.row(e.atom), row) || slices.ContainsFunc(e.when, func(c conj) bool {
			fixed := len(c.no) == 0 && !slices.ContainsFunc(c.pos, fluent) && !slices.ContainsFunc(c.neg, fluent)
			return fixed && !sub.each(&c, func() bool { return !slices.Equal(sub.row(e.atom), row) })
		})
	})
}

func (s *solver) hasAtom(atoms []atom, pred int, row []int32) bool {
	return slices.ContainsFunc(atoms, func(a atom) bool { return a.pred == pred && slices.Equal(s.row(a), row) })
}

// contradicts reports whether the condition of an effect cannot hold: because of what the move demands, of facts
// that never change, or because it removes what it demands to be absent.
func (s *solver) contradicts(e *effect, row []int32, when, c *conj) bool {
	if !e.add && s.hasAtom(when.neg, e.pred, row) {
		return true
	}
	for _, a := range when.pos {
		if s.hasAtom(c.neg, a.pred, s.row(a)) {
			return true
		}
	}
	for _, a := range when.neg {
		row := s.row(a)
		if s.hasAtom(c.pos, a.pred, row) || !s.predicates[a.pred].fluent && s.facts[a.pred].has(row) {
			return true
		}
	}
	return slices.ContainsFunc(when.other, func(pair [2]int32) bool { return s.value(pair[0]) == s.value(pair[1]) })
}

// state is where a game is.
type state struct {
	facts facts // that hold
	// The facts that sentences are about. A move changes them by all of its effects, also by those whose
	// condition does not hold, and removes at last: so does the Python package.
	shown facts
	gone  facts // that moves removed, and did not add again
}

// changeSet holds what is added to the facts of predicates, and removed.
type changeSet map[int]*struct{ added, removed [][]int32 }

func (c changeSet) note(e *effect, row []int32) {
	if c[e.pred] == nil {
		c[e.pred] = &struct{ added, removed [][]int32 }{}
	}
	if e.add {
		c[e.pred].added = append(c[e.pred].added, row)
	} else {
		c[e.pred].removed = append(c[e.pred].removed, row)
	}
}

// apply returns the state after a move.
func (l *logic) apply(m move, old state) (state, error) {
	visits := maxVisits
	s := l.newSolver(old.facts, m.action.vars, false, &visits)
	copy(s.values, m.args)
	real, shown := changeSet{}, changeSet{}
	for i := range m.action.effects {
		e := &m.action.effects[i]
		s.fire(e, func(row []int32) { real.note(e, row) })
	}
	s.eachEffect(m.action, m.pre, func(e *effect, row []int32) bool {
		shown.note(e, row)
		return true
	})
	if visits <= 0 {
		return old, errVisits
	}
	n := state{slices.Clone(old.facts), slices.Clone(old.shown), slices.Clone(old.gone)}
	for p, c := range real {
		n.facts[p] = n.facts[p].update(nil, c.removed).update(c.added, nil)
	}
	for p, c := range shown {
		n.shown[p] = n.shown[p].update(c.added, nil).update(nil, c.removed)
		n.gone[p] = n.gone[p].update(nil, c.added).update(c.removed, nil)
	}
	return n, nil
}

// fire calls do with each fact that an effect is about.
func (s *solver) fire(e *effect, do func(row []int32)) {
	if e.when == nil {
		do(s.row(e.atom))
		return
	}
	for i := range e.when {
		s.each(&e.when[i], func() bool {
			do(s.row(e.atom))
			return true
		})
	}
}

// explore finds all facts that moves can make true where none takes anything away.
func (l *logic) explore() {
	visits := 5 * maxVisits
	l.reach = l.initial
	for grown := true; grown && visits > 0; {
		added := make([][][]int32, len(l.reach))
		for _, a := range l.actions {
			s := l.newSolver(l.reach, a.vars, true, &visits)
			for i := range a.pre {
				s.each(&a.pre[i], func() bool {
					s.collect(a, added)
					return true
				})
			}
		}
		next := slices.Clone(l.reach)
		grown = false
		for p, rows := range added {
			if len(rows) > 0 {
				next[p], grown = newTable(len(next[p].by), append(rows, next[p].rows...)), true
			}
		}
		l.reach = next
	}
	possible := l.newSolver(l.reach, l.goalVars, true, &visits).holds(l.goal)
	switch {
	case visits <= 0:
		l.fail(0, "%v", errVisits)
	case !possible:
		l.fail(0, "the goal can never hold")
	}
}

// collect notes what a move adds that is not there yet.
func (s *solver) collect(a *action, added [][][]int32) {
	for i := range a.effects {
		e := &a.effects[i]
		s.fire(e, func(row []int32) {
			if e.add && !s.facts[e.pred].has(row) {
				added[e.pred] = append(added[e.pred], row)
			}
		})
	}
}

// goalHolds reports whether the goal holds.
func (l *logic) goalHolds(f facts) bool {
	visits := maxVisits
	return l.newSolver(f, l.goalVars, false, &visits).holds(l.goal)
}
