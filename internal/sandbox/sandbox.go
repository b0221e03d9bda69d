// Package sandbox runs programs that nobody vouches for: coding agents, the
// commands that check what they leave, scripts that a model wrote. A program
// gets a short list of variables, a deadline, a bound on what it writes, and a
// process group that is ended as a whole. Where the system can do it, it is
// confined to the folders and ports that it was given.
//
// It knows nothing about agents, tasks or scores.
package sandbox

import (
	"io"
	"time"
)

// Spec says what to run and within which bounds.
type Spec struct {
	Argv  []string // program and arguments; the program is looked up in the PATH of Env
	Dir   string   // working directory, absolute
	Env   []string // all that the program sees of the environment, "NAME=value"
	Stdin io.Reader

	// Stdout gets what the program prints, as it comes. Nil discards it. Standard
	// error is kept in Result.
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
	Exited    Reason = "exited"   // by itself; see Result.Code
	Deadline  Reason = "deadline" // Timeout passed
	Cancelled Reason = "cancelled"
	Flooded   Reason = "flooded" // more than MaxOutput
)

// Result is how a program ended. Nothing of its group is left running.
type Result struct {
	Reason Reason
	Code   int    // exit code; -1 when a signal ended it
	Signal string // that signal, "" if none
	Stderr string // the last 64 KB of standard error, valid UTF-8
	Output int64  // bytes of both outputs
	Took   time.Duration
}

// Support says what this system can do.
type Support struct {
	Kind    string // "landlock", "bubblewrap", or "" if programs cannot be confined
	Network bool   // connections can be confined as well
	Why     string // for messages: the version, or what is missing and how to get it
}
