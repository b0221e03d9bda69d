package config

import "github.com/seed-f4525e22/skillopt/internal/fault"

// ErrorKind says whose business the error is.
func (*Error) ErrorKind() string { return string(fault.BadInput) }
