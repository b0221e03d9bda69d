package env

import (
	"errors"
	"fmt"
	"strings"
)

// Kind classifies the faults of a process.
type Kind string

// Kinds of faults. In every case the task is unmeasured.
const (
	Start    Kind = "start"    // it could not be started
	Died     Kind = "died"     // it ended before it answered
	Deadline Kind = "deadline" // it did not answer in time
	Rubbish  Kind = "rubbish"  // its line is not an answer
	TooLong  Kind = "too_long" // its line is longer than MaxLine
	Refused  Kind = "refused"  // it answered that it could not measure
)

// FaultClass returns the class under which the record counts a fault.
func (e *Error) FaultClass() string { return "environment_" + string(e.Kind) }

// IsProgramFault reports whether a fault is of the program itself: it ended, or does not speak
// the protocol. The others are of its time, or of what it depends on.
func (k Kind) IsProgramFault() bool { return k != Deadline && k != Refused }

// Error is a fault of an environment's process.
type Error struct {
	Kind   Kind
	Task   string // id of the task, "" before there is one
	Detail string // what happened
	Stderr string // the end of what the process wrote to its standard error
	Err    error  // cause, may be nil
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("environment")
	if e.Task != "" {
		fmt.Fprintf(&b, ": task %q", e.Task)
	}
	b.WriteString(": " + e.Detail)
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	if e.Stderr != "" {
		b.WriteString("; the end of its standard error:\n" + e.Stderr)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

var (
	errDeadline = errors.New("env.timeout is over")
	// errLeft says that a process ended cleanly and without a word: a program
	// that does one task and exits.
	errLeft = errors.New("exit status 0")
)
