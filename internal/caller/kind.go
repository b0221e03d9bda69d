package caller

import "github.com/seed-f4525e22/skillopt/internal/fault"

// ErrStopping is returned for calls that were not sent because of Stop.
var ErrStopping error = stoppingError{}

type stoppingError struct{}

func (stoppingError) Error() string { return "the run is stopping" }

// ErrorKind says whose business the error is.
func (stoppingError) ErrorKind() string { return string(fault.Stopped) }

// ErrorKind says whose business the error is.
func (*DivergedError) ErrorKind() string { return string(fault.BadInput) }

// ErrorKind says whose business the error is.
func (*ReplayError) ErrorKind() string { return string(fault.BadInput) }

// ErrorKind says whose business the error is.
func (*StoppedError) ErrorKind() string { return string(fault.Unmeasurable) }

// ErrorKind says whose business the error is.
func (*UnmeasuredError) ErrorKind() string { return string(fault.Unmeasurable) }

// ErrorKind says whose business the error is.
func (*BudgetError) ErrorKind() string { return string(fault.OverBudget) }

// ErrorKind says whose business the error is.
func (*WaitingError) ErrorKind() string { return string(fault.Waiting) }

// ErrorKind says whose business the error is.
func (*UnboundedError) ErrorKind() string { return string(fault.BadInput) }

// ErrorKind says whose business the error is.
func (*UncountedError) ErrorKind() string { return string(fault.BadInput) }
