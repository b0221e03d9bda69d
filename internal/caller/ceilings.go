package caller

import (
	"errors"
)

// Holds reports why a run cannot be held to other ceilings than those it has, as an
// *UnboundedError or *UncountedError: what a call takes at most must be known for those of
// money and tokens, and what the recorded ones have taken.
func Holds(c *Caller, limits Limits) error {
	o := c.opts
	o.Limits = limits
	if err := o.checkCeilings(); err != nil {
		return err
	}
	return newMeter(limits, nil, nil).countable(c.journal.Totals())
}

// checkCeilings reports the ceilings that cannot be held, since what a call takes is not known.
func (o Options) checkCeilings() error {
	var errs []error
	for name, r := range o.Roles {
		if !r.Patient {
			errs = append(errs, r.holds(name, o.Limits))
		}
	}
	return errors.Join(errs...)
}

// SetLimits changes the ceilings of the run while it makes calls. Calls that wait for room try again. What is in flight is finished and counts: below
// what is spent the next call fails with a *BudgetError. Holds says whether they can be held.
func SetLimits(c *Caller, limits Limits) {
	m := c.meter
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limit = limits
	m.wakeWaiters()
}

// Used returns what the run has spent, as its ceilings count it: what is not known with the
// most that it can be.
func Used(c *Caller) Amount {
	c.meter.mu.Lock()
	defer c.meter.mu.Unlock()
	return c.meter.used
}
