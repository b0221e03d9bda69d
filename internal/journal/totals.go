package journal

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Total is what the entries of one stage and role add up to.
type Total struct {
	Stage string
	Role  string

	Calls     int64            // replies received: Call and Inner entries, without inherited ones
	Episodes  int64            // finished episodes, without inherited ones
	Inherited int64            // results that another run paid for
	Elsewhere int64            // of them, those whose origin is known
	Faults    map[string]int64 // attempts without a result, by class
	Usage     Usage            // of everything that answered, lost calls included
	CostNano  int64            // known cost in billionths of a US dollar
	Took      time.Duration    // of what answered, added up
	Unpriced  int64            // calls whose cost is not known, and episodes that report tokens without a cost

	// Unknown is how many of the calls and episodes did not say what they used, or
	// nothing that can be true, and Bounded the most that those of them used for which
	// there is a bound. Failed is the most that attempts without a result used, which
	// may have been charged for or not. None of it is part of Usage and CostNano.
	Unknown   int64
	Unbounded int64 // of Unknown: those without a bound
	Bounded   Spent
	Failed    Spent

	// Lost is the part of the above that belongs to tries of episodes that have
	// no result: cut off, failed, or still in progress.
	Lost Loss
}

// Spent is an amount of tokens and their cost.
type Spent struct {
	Usage    Usage
	CostNano int64
}

func (s *Spent) add(v Spent) {
	addUsage(&s.Usage, v.Usage, 1)
	s.CostNano += v.CostNano
}

// toSpent returns what an entry used.
func (s Spend) toSpent() Spent {
	out := Spent{Usage: s.Usage}
	if s.Cost != nil {
		out.CostNano = *s.Cost
	}
	return out
}

// Loss is what was spent without a result.
type Loss struct {
	Calls    int64
	Usage    Usage
	CostNano int64
}

// FaultCount returns the number of attempts without a result.
func (t Total) FaultCount() int64 {
	var n int64
	for _, count := range t.Faults {
		n += count
	}
	return n
}

// Totals returns the sums of all durable entries by stage and role, sorted.
func (j *Journal) Totals() []Total {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.totals.list()
}

// Sum adds up totals; Stage and Role of the result are empty.
func Sum(all []Total) Total {
	sum := Total{Faults: map[string]int64{}}
	for _, t := range all {
		sum.Calls += t.Calls
		sum.Episodes += t.Episodes
		sum.Inherited += t.Inherited
		sum.Elsewhere += t.Elsewhere
		addUsage(&sum.Usage, t.Usage, 1)
		sum.CostNano += t.CostNano
		sum.Took += t.Took
		sum.Unpriced += t.Unpriced
		sum.Unknown += t.Unknown
		sum.Unbounded += t.Unbounded
		sum.Bounded.add(t.Bounded)
		sum.Failed.add(t.Failed)
		sum.Lost.add(t.Lost, 1)
		for code, n := range t.Faults {
			sum.Faults[code] += n
		}
	}
	return sum
}

func (l *Loss) add(m Loss, sign int64) {
	l.Calls += sign * m.Calls
	addUsage(&l.Usage, m.Usage, sign)
	l.CostNano += sign * m.CostNano
}

type totalKey struct{ stage, role string }

// try names one try of an episode. Its calls may be made for several stages.
type try struct {
	id      keyID
	attempt int
	sum     *Total
}

// totals counts entries as they become durable.
type totals struct {
	sums map[totalKey]*Total
	open map[try]Loss // of episodes without a result so far

	codes int // of attempts without a result, those of each stage and role
}

func newTotals() totals {
	return totals{sums: make(map[totalKey]*Total), open: make(map[try]Loss)}
}

func (t *totals) add(r *Record) {
	if r.Kind == Decision || r.Kind == Unmeasured {
		return // no one was asked, and they belong to no stage
	}
	sum := t.of(totalKey{r.Stage, r.Role})
	if r.Code == CodeInherited && !r.Kind.ledger() {
		sum.Inherited++
		if r.Origin != (Origin{}) {
			sum.Elsewhere++
		}
		return
	}
	switch {
	case r.Kind == Fault && r.Estimate:
		sum.Failed.add(r.toSpent())
	case r.Estimate:
		sum.estimate(r)
	default:
		addUsage(&sum.Usage, r.Usage, 1)
	}
	switch r.Kind {
	case Call:
		sum.Calls++
		sum.Took += r.Took
		t.price(sum, r)
	case Inner:
		sum.Calls++
		sum.Took += r.Took
		t.price(sum, r)
		t.lose(sum, r)
	case Fault:
		if sum.Faults[r.Code]++; sum.Faults[r.Code] == 1 {
			t.codes++
		}
	case Episode:
		sum.Episodes++
		if r.Usage != (Usage{}) || r.Estimate {
			t.price(sum, r) // its calls went past the record
		}
		t.settle(r)
	}
}

func (t *totals) of(key totalKey) *Total {
	sum := t.sums[key]
	if sum == nil {
		sum = &Total{Stage: key.stage, Role: key.role, Faults: map[string]int64{}}
		t.sums[key] = sum
	}
	return sum
}

func (t *totals) price(sum *Total, r *Record) {
	if r.Cost == nil {
		sum.Unpriced++
		return
	}
	if !r.Estimate {
		sum.CostNano += *r.Cost
	}
}

// estimate counts an entry of which only a bound is known, if that.
func (t *Total) estimate(r *Record) {
	t.Unknown++
	if r.Usage == (Usage{}) {
		t.Unbounded++
	}
	t.Bounded.add(r.toSpent())
}

// lose counts an inner call as lost until its episode has a result.
func (t *totals) lose(sum *Total, r *Record) {
	loss := Loss{Calls: 1}
	if !r.Estimate {
		spent := r.toSpent()
		loss.Usage, loss.CostNano = spent.Usage, spent.CostNano
	}
	sum.Lost.add(loss, 1)
	key := try{hashKey(r.Key), r.Attempt, sum}
	open := t.open[key]
	open.add(loss, 1)
	t.open[key] = open
}

// settle takes the calls of a finished episode out of what is lost.
func (t *totals) settle(r *Record) {
	id := hashKey(r.Key)
	for _, sum := range t.sums {
		key := try{id, r.Attempt, sum}
		if loss, ok := t.open[key]; ok {
			sum.Lost.add(loss, -1)
			delete(t.open, key)
		}
	}
}

func (t *totals) list() []Total {
	list := make([]Total, 0, len(t.sums))
	for _, sum := range t.sums {
		c := *sum
		c.Faults = maps.Clone(sum.Faults)
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b Total) int {
		return cmp.Or(cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Role, b.Role))
	})
	return list
}
