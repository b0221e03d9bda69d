package wiring

import "github.com/seed-f4525e22/skillopt/internal/fault"

// ErrorKind says whose business the error is.
func (*MissingKeyError) ErrorKind() string { return string(fault.BadInput) }
