package journal

import "github.com/seed-f4525e22/skillopt/internal/fault"

// ErrorKind says whose business the error is.
func (*WriteError) ErrorKind() string { return string(fault.Environment) }
