package textgame

import (
	"errors"
	"math/bits"
)

// maxVisits bounds the facts and objects that are looked at for one move.
const maxVisits = 20_000_000

// errVisits reports a game that is too large to be played.
var errVisits = errors.New("its conditions have too many candidates; allowed: 20 million for a move. Leave the game out of the tasks")

// solver finds the values of variables with which conditions hold.
type solver struct {
	*logic
	facts   facts
	vars    []int   // kinds of the variables
	values  []int32 // of the variables; -1 = none yet
	relaxed bool    // conditions that need the absence of something hold
	visits  *int    // that are left
}

func (l *logic) newSolver(f facts, vars []int, relaxed bool, visits *int) *solver {
	s := &solver{logic: l, facts: f, vars: vars, values: make([]int32, len(vars)), relaxed: relaxed, visits: visits}
	for v := range s.values {
		s.values[v] = -1
	}
	return s
}

// visit counts a candidate, and reports whether more may be looked at.
func (s *solver) visit() bool {
	*s.visits--
	return *s.visits > 0
}

// value returns the object that an argument is; -1 = none yet.
func (s *solver) value(arg int32) int32 {
	if arg < 0 {
		return ^arg
	}
	return s.values[arg]
}

// row returns the objects of an atom.
func (s *solver) row(a atom) []int32 {
	row := make([]int32, len(a.args))
	for i, arg := range a.args {
		row[i] = s.value(arg)
	}
	return row
}

// holds reports whether one of the alternatives holds.
func (s *solver) holds(alternatives []conj) bool {
	for i := range alternatives {
		if !s.each(&alternatives[i], func() bool { return false }) {
			return true
		}
	}
	return false
}

// each calls yield for each solution of a conjunction until yield returns false; then it returns false.
func (s *solver) each(c *conj, yield func() bool) bool {
	if len(c.pos) > 64 {
		*s.visits = 0
		return true
	}
	return s.join(c, 1<<len(c.pos)-1, yield)
}

// join gives values to the variables of the atoms that are left, those with the fewest candidates first.
func (s *solver) join(c *conj, left uint64, yield func() bool) bool {
	best, fewest := -1, 0
	var candidates []int32
	for set := left; set != 0; set &= set - 1 {
		i := bits.TrailingZeros64(set)
		t := s.facts[c.pos[i].pred]
		order, n := s.candidates(t, c.pos[i])
		if n == 0 {
			return true
		}
		if best < 0 || n < fewest {
			best, fewest, candidates = i, n, order
		}
	}
	if best < 0 {
		return s.rest(c, c.own, yield)
	}
	a, t := c.pos[best], s.facts[c.pos[best].pred]
	for i := range fewest {
		row := t.rows[i]
		if candidates != nil {
			row = t.rows[candidates[i]]
		}
		if !s.visit() {
			return true
		}
		if !s.match(a, row, func() bool { return s.join(c, left&^(1<<best), yield) }) {
			return false
		}
	}
	return true
}

// candidates returns the rows that an atom may be, and their number; no list: all rows.
func (s *solver) candidates(t *table, a atom) (order []int32, n int) {
	n = len(t.rows)
	for i, arg := range a.args {
		if v := s.value(arg); v >= 0 {
			if found := t.find(i, v); order == nil || len(found) < n {
				order, n = found, len(found)
			}
		}
	}
	return order, n
}

// match gives the variables of an atom the values of a row while then runs, if they can have them.
func (s *solver) match(a atom, row []int32, then func() bool) bool {
	var set [8]int32
	bound := set[:0]
	fits, more := true, true
	for i, arg := range a.args {
		switch v := s.value(arg); {
		case v == row[i]:
		case v < 0 && s.kinds[s.vars[arg]].has[row[i]]:
			s.values[arg] = row[i]
			bound = append(bound, arg)
		default:
			fits = false
		}
	}
	if fits {
		more = then()
	}
	for _, v := range bound {
		s.values[v] = -1
	}
	return more
}

// rest gives values to the variables that no atom has, and checks what remains.
func (s *solver) rest(c *conj, own []int, yield func() bool) bool {
	for len(own) > 0 && s.values[own[0]] >= 0 {
		own = own[1:]
	}
	if len(own) == 0 {
		if !s.check(c) {
			return true
		}
		return yield()
	}
	v := own[0]
	defer func() { s.values[v] = -1 }()
	for _, o := range s.kinds[s.vars[v]].members {
		if !s.visit() {
			return true
		}
		if s.values[v] = o; !s.rest(c, own[1:], yield) {
			return false
		}
	}
	return true
}

// check reports whether the parts of a conjunction hold that find no values.
func (s *solver) check(c *conj) bool {
	for _, pair := range c.same {
		if s.value(pair[0]) != s.value(pair[1]) {
			return false
		}
	}
	if s.relaxed {
		return true
	}
	for _, pair := range c.other {
		if s.value(pair[0]) == s.value(pair[1]) {
			return false
		}
	}
	for _, a := range c.neg {
		if s.facts[a.pred].has(s.row(a)) {
			return false
		}
	}
	for _, alternatives := range c.no {
		if s.holds(alternatives) {
			return false
		}
	}
	return true
}
