package caller

import (
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/journal"
)

// Amount is what was or will be spent.
type Amount struct {
	Calls  int64
	Tokens int64 // input and output
	Nano   int64 // billionths of a US dollar
}

// Plus returns the sum of both.
func (a Amount) Plus(b Amount) Amount {
	return Amount{Calls: a.Calls + b.Calls, Tokens: a.Tokens + b.Tokens, Nano: a.Nano + b.Nano}
}

// spendAmount returns what a ledger entry counts for, without the call itself: the most that it can
// be where that is all that is known.
func spendAmount(s journal.Spend) Amount {
	a := Amount{Tokens: s.Usage.Input + s.Usage.Output}
	if s.Cost != nil {
		a.Nano = *s.Cost
	}
	return a
}

// Times returns a multiple.
func (a Amount) Times(f float64) Amount {
	return Amount{
		Calls: int64(f * float64(a.Calls)), Tokens: int64(f * float64(a.Tokens)), Nano: int64(f * float64(a.Nano)),
	}
}

// Short returns what a lacks of another amount, of each part: nothing where it has more.
func (a Amount) Short(of Amount) Amount {
	return Amount{
		Calls: max(0, of.Calls-a.Calls), Tokens: max(0, of.Tokens-a.Tokens), Nano: max(0, of.Nano-a.Nano),
	}
}

// Scale returns a, each part of it multiplied by the ratio of that part in whole to that in part.
// What part has nothing of stays as it is.
func (a Amount) Scale(whole, part Amount) Amount {
	by := func(v, w, p int64) int64 {
		if p <= 0 {
			return v
		}
		return int64(float64(v) * float64(w) / float64(p))
	}
	return Amount{
		Calls: by(a.Calls, whole.Calls, part.Calls), Tokens: by(a.Tokens, whole.Tokens, part.Tokens), Nano: by(a.Nano, whole.Nano, part.Nano),
	}
}

// AmountOfRecord returns the amount that a result counts for: one call, if it is one.
func AmountOfRecord(r journal.Record) Amount {
	a := spendAmount(r.Spend)
	if r.Kind == journal.Call {
		a.Calls = 1
	}
	return a
}

// TotalAmount returns the sum of the entries of a stage and role. What is not known counts with its
// bounds, also for attempts that may have been charged for.
func TotalAmount(t journal.Total) Amount {
	a := Amount{Calls: t.Calls, Tokens: t.Usage.Input + t.Usage.Output, Nano: t.CostNano}
	for _, s := range []journal.Spent{t.Bounded, t.Failed} {
		a.Tokens += s.Usage.Input + s.Usage.Output
		a.Nano += s.CostNano
	}
	return a
}

// account is what the ceilings of a run are held against.
type account struct {
	limit    Limits
	used     Amount
	kept     Amount  // for what comes at the end
	reserved Amount  // the most that the calls under way can take, tokens and money
	share    float64 // of each ceiling, instead of kept

	// largest is the most that a single call could take so far.
	largest Amount

	inFlight int64 // calls that are sent and will be counted if they are answered
}

// meter holds a run to the ceilings of its user.
type meter struct {
	mu sync.Mutex
	account
	free chan struct{} // closed when there may be more room than before
}

// newMeter continues from what the record holds; unpriced is what that may have
// cost beyond its known cost, by role.
func newMeter(limits Limits, before []journal.Total, unpriced map[string]int64) *meter {
	m := &meter{account: account{limit: limits}, free: make(chan struct{})}
	for _, t := range before {
		m.used = m.used.Plus(TotalAmount(t))
	}
	for _, nano := range unpriced {
		m.used.Nano += nano
	}
	return m
}

// reservation is what ceilings keep back for a call: the call itself from the moment at
// which it is about to be sent for the first time until its end, however often it is
// tried; the most that it can take, for each attempt. Calls that wait for a slot have
// none: a ceiling counts what is sent.
type reservation struct {
	usage journal.Usage // the most that an attempt can take
	cost  *int64        // of it; nil = not known
	most  Amount        // both as an amount

	taken bool // the call is reserved
	held  bool // the most is held back for an attempt
}

// begin reserves a call that is about to be sent. When what is held back for others
// leaves no room for the most that it can take, nothing is reserved, and room is
// closed as soon as there may be some; when nothing is held back, the ceiling is
// reached.
func (m *meter) begin(h *reservation) (room <-chan struct{}, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	check := m.next
	if h.taken {
		check = func() error { return m.room(Amount{}) }
	}
	if err := check(); err != nil {
		return nil, err
	}
	if !h.held {
		full, err := m.full(h.most)
		if err != nil {
			return nil, err
		}
		if full {
			return m.free, nil
		}
		m.reserve(h.most)
	}
	if !h.taken {
		m.inFlight++
	}
	h.taken, h.held = true, true
	return nil, nil
}

// full reports whether what is held back for other calls is in the way of one that
// can take most. A *BudgetError says that there is no room for it whatever they take.
// It needs the lock.
func (a *account) full(most Amount) (bool, error) {
	full := false
	for _, c := range []struct {
		what                       string
		of                         *float64
		used, kept, held, most, by float64
	}{
		{"tokens", float(a.limit.Tokens), float64(a.used.Tokens), float64(a.kept.Tokens), float64(a.reserved.Tokens), float64(most.Tokens), 1},
		{"usd", a.limit.USD, float64(a.used.Nano), float64(a.kept.Nano), float64(a.reserved.Nano), float64(most.Nano), 1e9},
	} {
		if c.of == nil {
			continue
		}
		kept := a.keptPart(c.kept/c.by, *c.of)
		left := *c.of - kept - c.used/c.by
		switch {
		case (c.held+c.most)/c.by <= left:
		case c.held > 0:
			full = true
		default:
			return false, &BudgetError{Limit: "limits." + c.what, Used: c.used / c.by, Of: *c.of, Kept: kept, Need: c.most / c.by, Call: true}
		}
	}
	return full, nil
}

func float(n *int64) *float64 {
	if n == nil {
		return nil
	}
	f := float64(*n)
	return &f
}

// reserve keeps an amount back, and remembers the largest.
func (a *account) reserve(most Amount) {
	a.reserved = a.reserved.Plus(most)
	a.expect(most)
}

// expect remembers the most that a single call can take.
func (a *account) expect(most Amount) {
	a.largest.Tokens, a.largest.Nano = max(a.largest.Tokens, most.Tokens), max(a.largest.Nano, most.Nano)
}

// giveBack ends what is held back for an attempt. It needs the lock.
func (m *meter) giveBack(h *reservation) {
	if !h.held {
		return
	}
	h.held = false
	m.reserved.Tokens -= h.most.Tokens
	m.reserved.Nano -= h.most.Nano
	m.wakeWaiters()
}

// wakeWaiters lets calls that wait for room try again. It needs the lock.
func (m *meter) wakeWaiters() {
	close(m.free)
	m.free = make(chan struct{})
}

// fail ends an attempt without an answer. What it may have cost counts.
func (m *meter) fail(s journal.Spend, h *reservation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used = m.used.Plus(spendAmount(journal.Spend{Usage: s.Usage, Cost: s.Cost}))
	m.giveBack(h)
}

// countable reports, as an *UncountedError, why a ceiling cannot be held: how much
// calls on record used is not known.
func (m *meter) countable(before []journal.Total) error {
	key := "limits.usd"
	switch {
	case m.limit.USD != nil:
	case m.limit.Tokens != nil:
		key = "limits.tokens"
	default:
		return nil
	}
	for _, t := range before {
		if t.Unbounded > 0 {
			return &UncountedError{Limit: key, Calls: t.Unbounded}
		}
	}
	return nil
}

// open reports why no further call may be sent now.
func (m *meter) open() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.next()
}

// check looks at the ceilings of what was spent.
func (m *meter) check() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.room(Amount{})
}

// end gives a reservation back. What was answered counts from now on.
func (m *meter) end(s journal.Spend, answered bool, h *reservation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.giveBack(h)
	if !h.taken {
		return // it was never sent, or has ended
	}
	h.taken = false
	m.inFlight--
	if answered {
		m.used.Calls++
		m.used = m.used.Plus(spendAmount(s))
	}
	m.wakeWaiters()
}

// add counts what was spent without a call of the caller, and most of a cost that
// is not known.
func (m *meter) add(s journal.Spend, most int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used = m.used.Plus(spendAmount(s))
	m.used.Nano += most
}

// next reports why no further call may be sent. It needs the lock.
func (a *account) next() error {
	if err := a.room(Amount{}); err != nil {
		return err
	}
	if of := a.limit.Calls; of != nil && a.used.Calls+a.inFlight >= *of-int64(a.keptPart(float64(a.kept.Calls), float64(*of))) {
		return &BudgetError{
			Limit: "limits.calls", Used: float64(a.used.Calls + a.inFlight), Of: float64(*of), Kept: a.keptPart(float64(a.kept.Calls), float64(*of)), InFlight: a.inFlight,
		}
	}
	return nil
}

// room reports why something of this size may not begin; zero represents
// anything at all, of calls only those that are counted. It needs the lock.
func (a *account) room(need Amount) error {
	if of := a.limit.Calls; of != nil && need.Calls > 0 {
		if err := a.fits("calls", float64(a.used.Calls), float64(*of), float64(a.kept.Calls), float64(need.Calls)); err != nil {
			return err
		}
	}
	if of := a.limit.Tokens; of != nil {
		if err := a.fits("tokens", float64(a.used.Tokens), float64(*of), float64(a.kept.Tokens), float64(need.Tokens)); err != nil {
			return err
		}
	}
	if of := a.limit.USD; of != nil {
		if err := a.fits("usd", float64(a.used.Nano)/1e9, *of, float64(a.kept.Nano)/1e9, float64(need.Nano)/1e9); err != nil {
			return err
		}
	}
	return nil
}

func (a *account) fits(what string, used, of, kept, need float64) error {
	kept = a.keptPart(kept, of)
	if left := of - kept - used; left <= 0 || need > left {
		e := &BudgetError{Limit: "limits." + what, Used: used, Of: of, Kept: kept}
		if left > 0 {
			e.Need = need
		}
		return e
	}
	return nil
}

// keptPart returns how much of a ceiling is kept back.
func (a *account) keptPart(kept, of float64) float64 {
	if a.share > 0 {
		return a.share * of
	}
	return min(kept, of)
}

// Reserve keeps an amount back from now on: calls are refused as if the ceilings were lower
// by it. Nothing gives all of it free.
func (c *Caller) Reserve(kept Amount) {
	m := c.meter
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept, m.share = kept, 0
	m.keepOne()
	m.wakeWaiters()
}

// keepOne adds to what is kept of tokens and money the most that one call can take:
// the last of those that it is kept for needs the room before it is sent.
func (a *account) keepOne() {
	if a.kept.Tokens > 0 {
		a.kept.Tokens += a.largest.Tokens
	}
	if a.kept.Nano > 0 {
		a.kept.Nano += a.largest.Nano
	}
}

// ReserveShare keeps a share of each ceiling back, instead of amounts.
func (c *Caller) ReserveShare(share float64) {
	c.Reserve(Amount{})
	c.meter.mu.Lock()
	defer c.meter.mu.Unlock()
	c.meter.share = share
}

// Affords reports, as a *BudgetError, which ceiling has no room for what is
// expected to be spent, next to what is kept back.
func (c *Caller) Affords(need Amount) error {
	c.meter.mu.Lock()
	defer c.meter.mu.Unlock()
	return c.meter.room(need)
}

// SpendByRole returns what each role has spent so far, earlier sessions included.
func (c *Caller) SpendByRole() map[string]Amount {
	out := map[string]Amount{}
	for _, t := range c.journal.Totals() {
		out[t.Role] = out[t.Role].Plus(TotalAmount(t))
	}
	return out
}
