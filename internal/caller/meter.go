package caller

import (
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/journal"
)

// meter holds a run to the ceilings of its user.
type meter struct {
	limits Limits

	mu       sync.Mutex
	calls    int64
	inFlight int64 // calls that will be counted if they are answered
	tokens   int64
	nano     int64 // billionths of a dollar
}

// newMeter continues from what the record holds; unpriced is what that may have
// cost beyond its known cost.
func newMeter(limits Limits, before journal.Total, unpriced int64) *meter {
	return &meter{
		limits: limits, calls: before.Calls,
		tokens: before.Usage.Input + before.Usage.Output, nano: before.CostNano + unpriced,
	}
}

// begin reserves a call. The reservation lasts until end, however often the
// request is tried.
func (m *meter) begin() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.spent(); err != nil {
		return err
	}
	if of := m.limits.Calls; of != nil && m.calls+m.inFlight >= *of {
		return &BudgetError{Limit: "limits.calls", Used: float64(m.calls + m.inFlight), Of: float64(*of)}
	}
	m.inFlight++
	return nil
}

// check looks at the ceilings that other calls may have reached meanwhile.
func (m *meter) check() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spent()
}

// spent needs the lock.
func (m *meter) spent() error {
	if of := m.limits.Tokens; of != nil && m.tokens >= *of {
		return &BudgetError{Limit: "limits.tokens", Used: float64(m.tokens), Of: float64(*of)}
	}
	if of := m.limits.USD; of != nil && float64(m.nano) >= *of*1e9 {
		return &BudgetError{Limit: "limits.usd", Used: float64(m.nano) / 1e9, Of: *of}
	}
	return nil
}

func (m *meter) end(s journal.Spend, answered bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inFlight--
	if !answered {
		return
	}
	m.calls++
	m.count(s)
}

// add counts what was spent without a call of the caller, and most of a cost that
// is not known.
func (m *meter) add(s journal.Spend, most int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.nano += most
	m.count(s)
}

// count needs the lock.
func (m *meter) count(s journal.Spend) {
	m.tokens += s.Usage.Input + s.Usage.Output
	if s.Cost != nil {
		m.nano += *s.Cost
	}
}
