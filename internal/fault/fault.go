// Package fault says whose business an error is.
//
// An error names its kind itself, by a method ErrorKind() string that returns one of
// the kinds here; Of finds it through all wrappers. The package knows the kinds and
// the errors of the operating system. It knows nothing of what went wrong.
package fault

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
)

// Kind says whose business an error is.
type Kind string

const (
	BadInput     Kind = "bad_input"    // configuration, tasks, skill, key, another identity
	OverBudget   Kind = "budget"       // a ceiling of limits was reached; raise it and train again
	Unmeasurable Kind = "unmeasurable" // endpoint or environment gave nothing but failures
	Waiting      Kind = "waiting"      // questions are written; train again when their answers are there
	Locked       Kind = "locked"       // another process has the run open
	Environment  Kind = "environment"  // disk, permissions
	Stopped      Kind = "stopped"      // the user stopped the run; train again to continue
	Internal     Kind = "internal"     // everything else
)

// precedence of kinds, where an error has several: what the user can do something
// about goes before what followed from it.
var precedence = [...]Kind{Waiting, OverBudget, Locked, BadInput, Unmeasurable, Stopped, Environment}

// Of returns the kind of an error: of all that it wraps or joins, the one that goes
// first. An error without any is Internal.
func Of(err error) Kind {
	told := map[Kind]bool{}
	walk(err, told)
	// A disk that is full or read-only is reported as such, whatever it kept from being
	// written; but not where it is an input of the user that may not be read.
	first := Internal
	for _, kind := range precedence {
		if told[kind] {
			first = kind
			break
		}
	}
	switch first {
	case Waiting, OverBudget, Locked:
		return first
	}
	var input *InputError
	if !errors.As(err, &input) && isDisk(err) {
		return Environment
	}
	return first
}

// walk collects the kinds of err and of all that it wraps.
func walk(err error, told map[Kind]bool) {
	if err == nil {
		return
	}
	if k, ok := err.(interface{ ErrorKind() string }); ok {
		told[Kind(k.ErrorKind())] = true
	}
	switch {
	case err == context.Canceled:
		told[Stopped] = true
	case isPathError(err):
		told[Environment] = true // files that are input were named as such before
	}
	switch u := err.(type) {
	case interface{ Unwrap() error }:
		walk(u.Unwrap(), told)
	case interface{ Unwrap() []error }:
		for _, e := range u.Unwrap() {
			walk(e, told)
		}
	}
}

func isPathError(err error) bool {
	_, ok := err.(*fs.PathError)
	return ok
}

func isDisk(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EDQUOT)
}

// InputError is input that cannot be used.
type InputError struct{ Err error }

// Input makes err one that the user has to correct; nil stays nil.
func Input(err error) error {
	if err == nil {
		return nil
	}
	return &InputError{Err: err}
}

func (e *InputError) Error() string { return e.Err.Error() }

func (e *InputError) Unwrap() error { return e.Err }

// ErrorKind implements the interface that Of looks for.
func (*InputError) ErrorKind() string { return string(BadInput) }

// RunError is an error that happened with a run open.
type RunError struct {
	Dir string // of the run
	Err error
}

// InRun names the run in which err happened; nil stays nil.
func InRun(dir string, err error) error {
	if err == nil {
		return nil
	}
	return &RunError{Dir: dir, Err: err}
}

func (e *RunError) Error() string { return e.Err.Error() }

func (e *RunError) Unwrap() error { return e.Err }

// RunDir returns the directory of the run in which err happened, "" if none was open.
func RunDir(err error) string {
	var r *RunError
	if errors.As(err, &r) {
		return r.Dir
	}
	return ""
}
