// Package timer has the system start a program once a day: by a timer of the systemd user
// manager, by launchd, by cron or by the Task Scheduler. It writes, verifies, lists and removes
// one entry for each ID, and keeps what an entry is started with (Profile) and when it was last
// (State).
//
// What an entry consists of is made by Text, a pure function: the same entry is the same bytes.
// Each entry carries a tag, a line with its ID and its profile, by which it is known to be ours.
// A file or a task of an entry's name without that tag, and a crontab whose markers are not as
// they were written, are left as they are, with a *ForeignError. Other lines of a crontab stay
// byte for byte.
//
// It knows nothing about configurations, models or nights: what is started is a list of
// arguments.
package timer

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// Kind is a scheduler.
type Kind string

// The schedulers.
const (
	Systemd Kind = "systemd"
	Cron    Kind = "cron"
	Launchd Kind = "launchd"
	Tasks   Kind = "taskscheduler"
)

// Kinds returns all kinds of schedulers.
func Kinds() []Kind { return []Kind{Systemd, Cron, Launchd, Tasks} }

// prefix begins the names of all entries.
const prefix = "skillopt-sleep-"

// Entry is what a scheduler is given.
type Entry struct {
	ID      string   // 16 hexadecimal digits
	At      At       // when, each day, by the clock of the machine
	Program string   // absolute
	Args    []string // of the program
	Profile string   // absolute: the file of what it is started with
	Log     string   // absolute: what is printed is added to it where the scheduler keeps nothing
}

// Found is an entry that a scheduler has.
type Found struct {
	Kind    Kind   `json:"kind"`
	ID      string `json:"id"`
	Profile string `json:"profile"`
}

// File is a part of an entry: a file, or lines of a crontab.
type File struct {
	Path string // absolute; "": the crontab, or a task of the Task Scheduler
	Text string
}

// InputError says what of an entry cannot be scheduled.
type InputError struct{ What, Why string }

func (e *InputError) Error() string { return e.What + ": " + e.Why }

// ErrorKind says whose business the error is.
func (*InputError) ErrorKind() string { return string(fault.BadInput) }

// ForeignError says that the place of an entry holds something that was not written here, or
// was changed since. It was left as it is.
type ForeignError struct{ Where, What, Help string }

func (e *ForeignError) Error() string {
	return e.Where + ": " + e.What + "; it was left as it is\n" + e.Help
}

// ErrorKind says whose business the error is.
func (*ForeignError) ErrorKind() string { return string(fault.BadInput) }

var digits = pattern.New(`^[0-9a-f]{16}$`)

// check refuses what no scheduler could be given without changing it.
func (e Entry) check(system string) error {
	if !digits.MatchString(e.ID) {
		return fmt.Errorf("timer: the ID %q is not of 16 hexadecimal digits", e.ID)
	}
	if err := e.At.check(); err != nil {
		return err
	}
	if e.Program == "" {
		return errors.New("timer: no program")
	}
	for what, path := range map[string]string{"the program": e.Program, "the profile": e.Profile, "the log": e.Log} {
		if err := plain(what, path); err != nil {
			return err
		}
		if !isAbs(system, path) {
			return &InputError{What: fmt.Sprintf("%s %q", what, path), Why: "its path is not absolute"}
		}
	}
	for _, arg := range e.Args {
		if err := plain("the argument", arg); err != nil {
			return err
		}
	}
	return nil
}

// plain refuses what a line cannot hold: line breaks, NUL and other characters that steer, and
// what is not UTF-8.
func plain(what, text string) error {
	why := ""
	switch {
	case !utf8.ValidString(text):
		why = "it is not UTF-8, and no scheduler knows that"
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == '\ufeff' }):
		why = "it has a line break, NUL or another character that steers, and no scheduler knows that; choose another path"
	default:
		return nil
	}
	return &InputError{What: fmt.Sprintf("%s %q", what, text), Why: why}
}

// isAbs reports whether a path of a system is absolute, on whichever this runs.
func isAbs(system, path string) bool {
	if system == "windows" {
		return len(path) > 3 && path[1] == ':' && (path[2] == '\\' || path[2] == '/') || strings.HasPrefix(path, `\\`)
	}
	return strings.HasPrefix(path, "/") || system == "" && filepath.IsAbs(path)
}
