package skillopt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/internal/wire"
	"github.com/seed-f4525e22/skillopt/task"
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
	Stopped      ErrorKind = "stopped"      // the user stopped the run; train again to go on
	Internal     ErrorKind = "internal"     // everything else
)

// Error is an error of Train or Evaluate with its kind.
type Error struct {
	Kind   ErrorKind
	RunDir string // "" if no run was opened
	Err    error
}

// Error is the text of what happened, without what looks like a secret: errors are
// passed on.
func (e *Error) Error() string { return redact.New().Text(e.Err.Error()) }

func (e *Error) Unwrap() error { return e.Err }

// classify wraps err with its kind.
func classify(err error, runDir string) error {
	if err == nil {
		return nil
	}
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	return &Error{Kind: kindOf(err), RunDir: runDir, Err: err}
}

// closed closes a run after what was done in it, and classifies how that ended.
func closed(r *run.Run, err error) error {
	if cerr := r.Close(); cerr != nil && err == nil {
		err = fmt.Errorf("close run: %w", cerr)
	}
	return classify(err, r.Dir)
}

func kindOf(err error) ErrorKind {
	var (
		tasks    *task.Error
		identity *run.IdentityError
		diverged *caller.DivergedError
		damaged  *run.DamagedError
		locked   *run.LockedError
		missing  *run.MissingError
		fork     *run.ForkError
		stopped  *caller.StoppedError
		nothing  *train.NothingMeasuredError
		lost     *caller.UnmeasuredError
		budget   *caller.BudgetError
		key      *wire.MissingKeyError
		input    *inputError
		length   *lengthError
		barren   *train.FruitlessError
		probe    *probeError
		late     *timeError
		file     *fs.PathError
		write    *journal.WriteError
		ended    *stopError
		waiting  *caller.WaitingError
		replay   *caller.ReplayError
		tools    *rollout.ToolError
	)
	switch {
	case errors.As(err, &waiting):
		return Waiting
	case errors.As(err, &budget), errors.As(err, &late):
		return OverBudget
	case errors.As(err, &locked):
		return Locked
	case errors.As(err, &input):
		return BadInput // also when a file of it may not be read
	case isDisk(err):
		return Environment
	case errors.As(err, &tasks), errors.As(err, &identity), errors.As(err, &diverged), errors.As(err, &damaged),
		errors.As(err, &missing), errors.As(err, &fork), errors.As(err, &replay), errors.As(err, &key), errors.As(err, &tools), config.IsInput(err):
		return BadInput
	case errors.As(err, &stopped), errors.As(err, &nothing), errors.As(err, &lost), errors.As(err, &length), errors.As(err, &barren), errors.As(err, &probe):
		return Unmeasurable
	case errors.As(err, &ended), errors.Is(err, caller.ErrStopping), errors.Is(err, context.Canceled):
		return Stopped
	case errors.As(err, &file), errors.As(err, &write):
		// Files that are input were named as such before: what is left is the run.
		return Environment
	}
	return Internal
}

func isDisk(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EDQUOT)
}

// inputError is input that cannot be used, other than configuration and tasks.
type inputError struct{ err error }

func (e *inputError) Error() string { return e.err.Error() }

func (e *inputError) Unwrap() error { return e.err }
