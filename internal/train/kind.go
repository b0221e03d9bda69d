package train

import "github.com/seed-f4525e22/skillopt/internal/fault"

// ErrorKind says whose business the error is.
func (*NothingMeasuredError) ErrorKind() string { return string(fault.Unmeasurable) }

// ErrorKind says whose business the error is.
func (*FruitlessError) ErrorKind() string { return string(fault.Unmeasurable) }
