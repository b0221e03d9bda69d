package sandbox

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
)

// helper is the binary that is started as the helper: our own once Main was called, or that of
// Through. It is process-wide because what it is about is the process: to start
// a binary again whose main does not know of the helper would run all of it.
var helper atomic.Pointer[string]

// Through has Run start another binary as the helper, whose main calls Main. One that does
// nothing else starts sooner than a large program, three times for each program that is confined.
func Through(binary string) { helper.Store(&binary) }

// Support says what this system can do.
type Support struct {
	Kind     string // "landlock", "bubblewrap", or "" if programs cannot be confined
	Network  bool   // connections can be confined to single ports; without it only to none at all
	Isolated bool   // programs have namespaces of their own, see Probe
	Why      string // for messages: the version, or what is missing and how to get it

	// Lacks says what Probe found not to be prevented here that is prevented with
	// Landlock and namespaces, in words for messages.
	Lacks []string

	signals bool // those of confined programs stay among themselves, also without namespaces
}

// Supports says what Run can do with a Confine here. It is safe for concurrent
// use.
func Supports() Support { return support(helper.Load() != nil) }

// Probe returns what Supports does, and tries whether a program can have namespaces of its own: its
// processes and its IPC, a network in which single ports are those of this machine, and mounts, so
// that Confine.Show can be had and nothing else be written. Run uses them wherever it can. Probe
// starts a process.
func Probe() Support {
	s := Supports()
	s.Isolated = s.Kind == kindLandlock && canIsolate() == nil
	s.Lacks = s.lacks()
	return s
}

func (s *Support) lacks() []string {
	switch {
	case s.Kind == kindBubblewrap:
		return []string{"not prevented: use of memory, processors and disks without end", "execution of what a trusted check looks at"}
	case s.Kind == "" || s.Isolated:
		return nil
	}
	found := []string{
		"not prevented, for want of namespaces: changes of mode, owner and times of your files", "a look at command lines of other processes",
	}
	if s.Network {
		found = append(found, "connections to an allowed port of another host")
	}
	if !s.signals {
		found = append(found, "signals to your processes")
	}
	return found
}

const (
	kindLandlock   = "landlock"
	kindBubblewrap = "bubblewrap"
)

const defaultMaxFile = 1 << 30

// check reports paths and ports that make no sense.
func (c *Confine) check() error {
	for _, list := range [][]string{c.Write, c.Read, c.Inert} {
		for _, path := range list {
			if !filepath.IsAbs(path) {
				return fmt.Errorf("confine to %q: the path is not absolute", path)
			}
		}
	}
	for _, show := range c.Show {
		if !filepath.IsAbs(show.Dir) || !topLevel(show.As) {
			return fmt.Errorf("show %q at %q: want an absolute path, and one name below the root", show.Dir, show.As)
		}
	}
	for _, port := range c.Ports {
		if port < 1 || port > 65535 {
			return fmt.Errorf("confine to port %d: a port is 1 to 65535", port)
		}
	}
	if c.Plain && len(c.Show) > 0 {
		return errors.New("show folders at other places without namespaces: they need some")
	}
	if c.MaxFile < 0 {
		return fmt.Errorf("confine files to %d bytes: 0 or more is allowed", c.MaxFile)
	}
	return nil
}

func (c *Confine) maxFile() uint64 {
	if c.MaxFile == 0 {
		return defaultMaxFile
	}
	return uint64(c.MaxFile)
}
