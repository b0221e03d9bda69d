package run

import "github.com/seed-f4525e22/skillopt/internal/fault"

// ErrorKind says whose business the error is.
func (*IdentityError) ErrorKind() string { return string(fault.BadInput) }

// ErrorKind says whose business the error is.
func (*DamagedError) ErrorKind() string { return string(fault.BadInput) }

// ErrorKind says whose business the error is.
func (*MissingError) ErrorKind() string { return string(fault.BadInput) }

// ErrorKind says whose business the error is.
func (*ForkError) ErrorKind() string { return string(fault.BadInput) }

// ErrorKind says whose business the error is.
func (*LockedError) ErrorKind() string { return string(fault.Locked) }

// ErrorKind says whose business the error is.
func (*NoDirError) ErrorKind() string { return string(fault.BadInput) }
