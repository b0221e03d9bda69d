package caller

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/journal"
)

// Ceilings are what may be spent, over the whole life of a run; nil = no ceiling.
type Ceilings struct {
	Calls  *int64
	Tokens *int64 // input and output
	USD    *float64
	Time   *time.Duration // of the requests, added up; only for roles
}

// Amount is what was or will be spent.
type Amount struct {
	Calls  int64
	Tokens int64         // input and output
	Nano   int64         // billionths of a US dollar
	Took   time.Duration // of the requests, added up
}

// Plus returns the sum of both.
func (a Amount) Plus(b Amount) Amount {
	return Amount{Calls: a.Calls + b.Calls, Tokens: a.Tokens + b.Tokens, Nano: a.Nano + b.Nano, Took: a.Took + b.Took}
}

// amountOf is what a ledger entry counts for, without the call itself.
func amountOf(s journal.Spend) Amount {
	a := Amount{Tokens: s.Usage.Input + s.Usage.Output, Took: s.Took}
	if s.Cost != nil {
		a.Nano = *s.Cost
	}
	return a
}

// Times returns a multiple.
func (a Amount) Times(f float64) Amount {
	return Amount{
		Calls: int64(f * float64(a.Calls)), Tokens: int64(f * float64(a.Tokens)), Nano: int64(f * float64(a.Nano)),
		Took: time.Duration(f * float64(a.Took)),
	}
}

// Scaled returns a, each part of it as much more as whole has more than part. What
// part has nothing of is taken from nowhere.
func (a Amount) Scaled(whole, part Amount) Amount {
	by := func(v, w, p int64) int64 {
		if p <= 0 {
			return v
		}
		return int64(float64(v) * float64(w) / float64(p))
	}
	return Amount{
		Calls: by(a.Calls, whole.Calls, part.Calls), Tokens: by(a.Tokens, whole.Tokens, part.Tokens), Nano: by(a.Nano, whole.Nano, part.Nano),
		Took: time.Duration(by(int64(a.Took), int64(whole.Took), int64(part.Took))),
	}
}

// AmountOfRecord is what a result counts for: one call, if it is one.
func AmountOfRecord(r journal.Record) Amount {
	a := amountOf(r.Spend)
	if r.Kind == journal.Call {
		a.Calls = 1
	}
	return a
}

// AmountOf is what the entries of a stage and role come to.
func AmountOf(t journal.Total) Amount {
	return Amount{Calls: t.Calls, Tokens: t.Usage.Input + t.Usage.Output, Nano: t.CostNano, Took: t.Took}
}

// account is what one set of ceilings is held against.
type account struct {
	name  string // config key: "limits" or "limits.roles.target"
	limit Ceilings
	used  Amount
	kept  Amount  // for what comes at the end
	share float64 // of each ceiling, instead of kept

	inFlight int64 // calls that are sent and will be counted if they are answered
}

// meter holds a run to the ceilings of its user.
type meter struct {
	mu    sync.Mutex
	run   *account
	roles map[string]*account
}

// newMeter continues from what the record holds; unpriced is what that may have
// cost beyond its known cost, by role.
func newMeter(limits Limits, before []journal.Total, unpriced map[string]int64) *meter {
	m := &meter{
		run:   &account{name: "limits", limit: Ceilings{Calls: limits.Calls, Tokens: limits.Tokens, USD: limits.USD}},
		roles: map[string]*account{},
	}
	for role, c := range limits.Roles {
		m.roles[role] = &account{name: "limits.roles." + role, limit: c}
	}
	for _, t := range before {
		for _, a := range m.of(t.Role) {
			a.used = a.used.Plus(AmountOf(t))
		}
	}
	for role, nano := range unpriced {
		for _, a := range m.of(role) {
			a.used.Nano += nano
		}
	}
	return m
}

// of returns the accounts that a call of a role counts for.
func (m *meter) of(role string) []*account {
	if a := m.roles[role]; a != nil {
		return []*account{m.run, a}
	}
	return []*account{m.run}
}

// hold is the reservation of a call: from the moment at which it is about to be
// sent for the first time until its end, however often it is tried. Calls that wait
// for a slot have none: a ceiling counts what is sent.
type hold struct{ taken bool }

// begin reserves a call that is about to be sent, and looks at the ceilings that
// others may have reached meanwhile if it is reserved already.
func (m *meter) begin(role string, h *hold) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	accounts := m.of(role)
	for _, a := range accounts {
		check := a.next
		if h.taken {
			check = func() error { return a.room(Amount{}) }
		}
		if err := check(); err != nil {
			return err
		}
	}
	if h.taken {
		return nil
	}
	h.taken = true
	for _, a := range accounts {
		a.inFlight++
	}
	return nil
}

// open reports why no further call may be sent now.
func (m *meter) open(role string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.of(role) {
		if err := a.next(); err != nil {
			return err
		}
	}
	return nil
}

// check looks at the ceilings of what was spent.
func (m *meter) check(role string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.of(role) {
		if err := a.room(Amount{}); err != nil {
			return err
		}
	}
	return nil
}

// end gives a reservation back. What was answered counts from now on.
func (m *meter) end(s journal.Spend, answered bool, h *hold) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !h.taken {
		return // it was never sent, or has ended
	}
	h.taken = false
	for _, a := range m.of(s.Role) {
		a.inFlight--
		if answered {
			a.used.Calls++
			a.used = a.used.Plus(amountOf(s))
		}
	}
}

// add counts what was spent without a call of the caller, and most of a cost that
// is not known.
func (m *meter) add(s journal.Spend, most int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.of(s.Role) {
		a.used = a.used.Plus(amountOf(s))
		a.used.Nano += most
	}
}

// next reports why no further call may be sent. It needs the lock.
func (a *account) next() error {
	if err := a.room(Amount{}); err != nil {
		return err
	}
	if of := a.limit.Calls; of != nil && a.used.Calls+a.inFlight >= *of-int64(a.keptOf(float64(a.kept.Calls), float64(*of))) {
		return &BudgetError{
			Limit: a.name + ".calls", Used: float64(a.used.Calls + a.inFlight), Of: float64(*of), Kept: a.keptOf(float64(a.kept.Calls), float64(*of)), InFlight: a.inFlight,
		}
	}
	return nil
}

// room reports why something of this size may not begin; zero stands for
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
	if of := a.limit.Time; of != nil {
		if err := a.fits("time", a.used.Took.Seconds(), of.Seconds(), a.kept.Took.Seconds(), need.Took.Seconds()); err != nil {
			return err
		}
	}
	return nil
}

func (a *account) fits(what string, used, of, kept, need float64) error {
	kept = a.keptOf(kept, of)
	if left := of - kept - used; left <= 0 || need > left {
		e := &BudgetError{Limit: a.name + "." + what, Used: used, Of: of, Kept: kept}
		if left > 0 {
			e.Need = need
		}
		return e
	}
	return nil
}

// keptOf is how much of a ceiling is kept back.
func (a *account) keptOf(kept, of float64) float64 {
	if a.share > 0 {
		return a.share * of
	}
	return min(kept, of)
}

// Reserve keeps an amount of each role back from now on: calls are refused as if
// the ceilings were lower by it. Nil gives all of it free.
func (c *Caller) Reserve(byRole map[string]Amount) {
	m := c.meter
	m.mu.Lock()
	defer m.mu.Unlock()
	m.run.kept, m.run.share = Amount{}, 0
	for _, a := range m.roles {
		a.kept, a.share = Amount{}, 0
	}
	for role, kept := range byRole {
		for _, a := range m.of(role) {
			a.kept = a.kept.Plus(kept)
		}
	}
}

// ReserveShare keeps a share of each ceiling back, instead of amounts.
func (c *Caller) ReserveShare(share float64) {
	c.Reserve(nil)
	c.meter.mu.Lock()
	defer c.meter.mu.Unlock()
	c.meter.run.share = share
	for _, a := range c.meter.roles {
		a.share = share
	}
}

// Affords reports, as a *BudgetError, which ceiling has no room for what is
// expected to be spent by each role, beside what is kept back.
func (c *Caller) Affords(byRole map[string]Amount) error {
	m := c.meter
	m.mu.Lock()
	defer m.mu.Unlock()
	var whole Amount
	for _, a := range byRole {
		whole = whole.Plus(a)
	}
	if err := m.run.room(whole); err != nil {
		return err
	}
	for _, role := range slices.Sorted(maps.Keys(m.roles)) {
		if err := m.roles[role].room(byRole[role]); err != nil {
			return err
		}
	}
	return nil
}

// Spent returns what each role has spent so far, earlier sessions included.
func (c *Caller) Spent() map[string]Amount {
	out := map[string]Amount{}
	for _, t := range c.journal.Totals() {
		out[t.Role] = out[t.Role].Plus(AmountOf(t))
	}
	return out
}
