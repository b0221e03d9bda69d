// Package sandbox runs programs that nobody vouches for: coding agents, the
// commands that check what they leave, scripts that a model wrote. A program
// gets a short list of variables, a deadline, a bound on what it writes, and a
// process group that is ended as a whole. Where the system can do it, it is
// confined to the folders and ports that it was given.
//
// It knows nothing about agents, tasks or scores.
package sandbox

import (
	"fmt"
	"io"
	"time"
)

// Marker is the variable that Run adds to the environment of a program. Its
// value is new for each run: on Linux it is how descendants are found that have
// left the process group.
const Marker = "SKILLOPT_SANDBOX"

// Spec says what to run and within which bounds.
type Spec struct {
	Argv []string // program and arguments; the program is looked up in the PATH of Env, a relative path in Dir
	Dir  string   // working directory, absolute
	Env  []string // all that the program sees of the environment besides Marker, "NAME=value"

	// Stdin is read until its end or that of the program, whichever is first; nil
	// is an empty input. Its Read must not wait for anything but data that is
	// there: Run returns only after the last Read has.
	Stdin io.Reader

	// Stdout gets what the program prints, as it comes. Nil discards it. An error
	// of Write ends the program. Standard error is kept in Result.
	Stdout io.Writer

	MaxOutput int64         // bytes of both outputs together, beyond which the group is ended; 0 = 64 MB
	Timeout   time.Duration // 0 = as long as the context
	Grace     time.Duration // between asking the group to end and ending it; 0 = 2 s

	Confine *Confine // nil: not confined
}

// Confine bounds what a program can reach. System folders (programs, libraries,
// certificates, devices) can always be read.
type Confine struct {
	Write   []string // folders that it may read and write, absolute
	Read    []string // folders or files that it may read besides
	Network bool     // it may connect to anything; false: only to Ports
	Ports   []int    // TCP ports that it may connect to; only loopback is promised
}

// Reason says why a program ended.
type Reason string

// The reasons.
const (
	Exited    Reason = "exited"    // by itself, or by a signal that was not ours; see Result.Code
	Deadline  Reason = "deadline"  // Timeout passed
	Cancelled Reason = "cancelled" // the context ended, by its deadline too
	Flooded   Reason = "flooded"   // more than MaxOutput
)

// Result is how a program ended. Nothing of its group is left running.
type Result struct {
	Reason Reason
	Code   int    // exit code; -1 when a signal ended it
	Signal string // that signal, such as "SIGKILL", "" if none
	Stderr string // the last 64 KB of standard error, valid UTF-8
	Output int64  // bytes of both outputs that were taken, at most MaxOutput
	Took   time.Duration
}

// StartError says that a program could not be started: it does not exist, its
// folder does not, its confinement could not be set up. It has not run.
type StartError struct {
	Program string // Argv[0], "" if there is none
	Err     error
}

func (e *StartError) Error() string { return fmt.Sprintf("start %s: %v", e.Program, e.Err) }

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// UnsupportedError says that this system cannot confine a program as asked. The
// program has not run.
type UnsupportedError struct {
	What string // what was asked for
	Why  string // what is missing, and what helps
}

func (e *UnsupportedError) Error() string { return fmt.Sprintf("cannot confine %s: %s", e.What, e.Why) }

// Support says what this system can do.
type Support struct {
	Kind    string // "landlock", "bubblewrap", or "" if programs cannot be confined
	Network bool   // connections can be confined as well
	Why     string // for messages: the version, or what is missing and how to get it
}
