package textgame

import (
	"slices"
)

// move is an action with objects for its parameters.
type move struct {
	action *action
	args   []int32
}

// moves returns those that are possible, sorted by action and objects.
func (l *logic) moves(f facts, reach func() facts) ([]move, error) {
	var all []move
	visits := maxVisits
	for _, a := range l.actions {
		s := l.newSolver(f, a.vars, false, &visits)
		from := len(all)
		for i := range a.pre {
			c := &a.pre[i]
			s.each(c, func() bool {
				if s.changes(a, c, reach) {
					all = append(all, move{a, slices.Clone(s.values[:len(a.params)])})
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

// changes reports whether an effect is left of an action without those that can never do anything: the
// addition of what its condition demands, the removal of what is added too or never holds, and what
// has a condition that cannot hold.
func (s *solver) changes(a *action, c *conj, reach func() facts) bool {
	for i := range a.effects {
		e := &a.effects[i]
		if e.when != nil {
			if s.possible(e, c, reach()) {
				return true
			}
			continue
		}
		row := s.row(e.atom)
		if s.idle(e, row, c) || !e.add && (s.adds(a, e.pred, row) || !s.facts[e.pred].has(row) && !reach()[e.pred].has(row)) {
			continue
		}
		return true
	}
	return false
}

// idle reports whether the condition of an action demands what an effect does.
func (s *solver) idle(e *effect, row []int32, c *conj) bool {
	demanded := c.neg
	if e.add {
		demanded = c.pos
	}
	return s.among(demanded, e.pred, row)
}

func (s *solver) among(atoms []atom, pred int, row []int32) bool {
	return slices.ContainsFunc(atoms, func(a atom) bool { return a.pred == pred && slices.Equal(s.row(a), row) })
}

// adds reports whether an action adds a fact under no condition.
func (s *solver) adds(a *action, pred int, row []int32) bool {
	return slices.ContainsFunc(a.effects, func(e effect) bool {
		return e.add && e.when == nil && e.pred == pred && slices.Equal(s.row(e.atom), row)
	})
}

// possible reports whether an effect with a condition can do something in a move, now or later.
func (s *solver) possible(e *effect, c *conj, reach facts) bool {
	sub := *s
	sub.facts, sub.relaxed = reach, true
	for i := range e.when {
		when := &e.when[i]
		found := !sub.each(when, func() bool {
			row := sub.row(e.atom)
			return sub.idle(e, row, c) || !e.add && !reach[e.pred].has(row) || sub.contradicts(when, c)
		})
		if found {
			return true
		}
	}
	return false
}

// contradicts reports whether a condition cannot hold together with that of its action, or where facts
// that never change rule it out.
func (s *solver) contradicts(when, c *conj) bool {
	for _, a := range when.pos {
		if s.among(c.neg, a.pred, s.row(a)) {
			return true
		}
	}
	for _, a := range when.neg {
		row := s.row(a)
		if s.among(c.pos, a.pred, row) || !s.predicates[a.pred].fluent && s.facts[a.pred].has(row) {
			return true
		}
	}
	return slices.ContainsFunc(when.other, func(pair [2]int32) bool { return s.value(pair[0]) == s.value(pair[1]) })
}

// change is what a move does to the facts of a predicate.
type change struct{ added, removed [][]int32 }

// apply returns the facts after a move, and those that were removed by moves and not added again.
func (l *logic) apply(m move, f, gone facts, reach func() facts) (after, goneAfter facts, err error) {
	visits := maxVisits
	s := l.newSolver(f, m.action.vars, false, &visits)
	copy(s.values, m.args)
	changes := map[int]*change{}
	for i := range m.action.effects {
		e := &m.action.effects[i]
		s.fire(e, func(row []int32) {
			if !e.add && !f[e.pred].has(row) && !gone[e.pred].has(row) && (s.demands(m.action, e, row) || !reach()[e.pred].has(row)) {
				return
			}
			if changes[e.pred] == nil {
				changes[e.pred] = &change{}
			}
			if c := changes[e.pred]; e.add {
				c.added = append(c.added, row)
			} else {
				c.removed = append(c.removed, row)
			}
		})
	}
	if visits <= 0 {
		return nil, nil, errVisits
	}
	after, goneAfter = slices.Clone(f), slices.Clone(gone)
	for p, c := range changes {
		after[p] = f[p].with(c.added, c.removed)
		removed := slices.DeleteFunc(c.removed, after[p].has)
		goneAfter[p] = gone[p].with(removed, c.added)
	}
	return after, goneAfter, nil
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

// demands reports whether each condition of an action that holds needs the absence of a fact that it removes.
func (s *solver) demands(a *action, e *effect, row []int32) bool {
	for i := range a.pre {
		if !s.each(&a.pre[i], func() bool { return s.among(a.pre[i].neg, e.pred, row) }) {
			return false
		}
	}
	return true
}

// explore returns all facts that moves can make true, where no move takes anything away, of the predicates
// for which this matters. It ends early when enough does.
func (l *logic) explore(enough func(facts) bool) (facts, error) {
	visits := 5 * maxVisits
	for f := l.initial; ; {
		added := make([][][]int32, len(f))
		for _, a := range l.actions {
			s := l.newSolver(f, a.vars, true, &visits)
			for i := range a.pre {
				s.each(&a.pre[i], func() bool {
					s.collect(a, added)
					return true
				})
			}
		}
		next, grown := slices.Clone(f), false
		for p, rows := range added {
			if len(rows) > 0 {
				next[p], grown = newTable(len(f[p].by), append(rows, f[p].rows...)), true
			}
		}
		switch {
		case visits <= 0:
			return nil, errVisits
		case !grown || enough(next):
			return next, nil
		}
		f = next
	}
}

// collect notes what a move adds that is not there yet.
func (s *solver) collect(a *action, added [][][]int32) {
	for i := range a.effects {
		e := &a.effects[i]
		if !e.add || !s.predicates[e.pred].needed {
			continue
		}
		s.fire(e, func(row []int32) {
			if !s.facts[e.pred].has(row) {
				added[e.pred] = append(added[e.pred], row)
			}
		})
	}
}

// reachable reports whether the goal holds where moves take nothing away.
func (l *logic) reachable() (bool, error) {
	visits := maxVisits
	holds := func(f facts) bool { return l.newSolver(f, l.goalVars, true, &visits).holds(l.goal) }
	if holds(l.initial) {
		return true, nil
	}
	f, err := l.explore(holds)
	return err == nil && holds(f), err
}

// won reports whether the goal holds.
func (l *logic) won(f facts) bool {
	visits := maxVisits
	return l.newSolver(f, l.goalVars, false, &visits).holds(l.goal)
}
