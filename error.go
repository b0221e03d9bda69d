package skillopt

import (
	"errors"

	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/redact"
)

// ErrorKind says whose business an error is.
type ErrorKind string

const (
	BadInput     ErrorKind = "bad_input"    // configuration, tasks, skill, key, another identity
	OverBudget   ErrorKind = "budget"       // a ceiling of limits was reached; raise it and train again
	Unmeasurable ErrorKind = "unmeasurable" // endpoint or environment gave nothing but failures
	Waiting      ErrorKind = "waiting"      // questions are written; train again when their answers are there
	Locked       ErrorKind = "locked"       // another process has the run open
	Environment  ErrorKind = "environment"  // disk, permissions
	Stopped      ErrorKind = "stopped"      // the user stopped the run; train again to continue
	Internal     ErrorKind = "internal"     // everything else
)

// Error is an error of this package with its kind.
type Error struct {
	Kind   ErrorKind
	RunDir string // "" if no run was opened
	Err    error
}

// Error returns the text of what happened, without what looks like a secret: errors are passed on.
func (e *Error) Error() string { return redact.Text(e.Err.Error()) }

func (e *Error) Unwrap() error { return e.Err }

// classify gives err its kind; nil stays nil.
func classify(err error) error {
	if err == nil {
		return nil
	}
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	return &Error{Kind: ErrorKind(fault.Of(err)), RunDir: fault.RunDir(err), Err: err}
}
