// Package runner knows the test runners of repositories: which of them a tree has, what it reads, how its tests run confined
// and without network, and what it reports of each test by name.
//
// A test has passed when the report names it as passed, and never for another reason. It knows nothing of tasks, agents, or git.
package runner

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sandbox"
)

// Kind is a kind of test runner.
type Kind string

// The kinds.
const (
	Go      Kind = "go"
	Pytest  Kind = "pytest"
	Node    Kind = "node"
	Vitest  Kind = "vitest"
	Jest    Kind = "jest"
	Mocha   Kind = "mocha"
	Cargo   Kind = "cargo"
	Command Kind = "command"
)

// Cache is a folder that a build begins with. Each episode and each grading has a copy of its own.
type Cache struct {
	From string `json:"from"` // relative to the folder of the suite's file
	To   string `json:"to"`   // "home:" or "work:", and a path below it
}

// Suite is the test runner of a repository, with what it reads.
type Suite struct {
	Kind    Kind              `json:"kind"`
	Folder  string            `json:"folder,omitempty"`  // in which tests run, relative to the workspace; targets and names are relative to it
	Command []string          `json:"command,omitempty"` // of kind command: it writes JUnit XML to $REPORT
	Read    []string          `json:"read"`              // toolchain and dependencies, absolute: agents and tests read the same
	Env     []string          `json:"env"`               // NAME=value, for agents and tests, see Environ; PATH is what goes before theirs
	Caches  []Cache           `json:"caches,omitempty"`
	Links   map[string]string `json:"links,omitempty"` // path in the workspace, or "home:" and one below it -> absolute folder that is shown there
	Project []string          `json:"project"`         // names of the project: module path, names of packages
	Deps    string            `json:"deps,omitempty"`  // digest of the lock files that it was found for
}

// Machine is what Detect finds on the machine.
type Machine struct {
	Lookup func(name string) (string, bool) // a variable
	Home   string                           // the user's
	Clone  string                           // the folder in which tests run, in the user's clone: its virtual environment and node_modules lie there
}

// Options choose what Detect would otherwise find.
type Options struct {
	Command []string // tests are run by it: it writes JUnit XML to $REPORT
	Folder  string   // of the tree, in which tests run; "" is all of it
	Deps    string   // a folder that Setup has filled
}

// Finding is a line for the user about what was found.
type Finding string

// Unfit says why the tests of a repository cannot be run. Path is what is in the way, "" for nothing in particular.
type Unfit struct {
	Why  string
	Path string
}

func (e *Unfit) Error() string {
	if e.Path == "" {
		return e.Why
	}
	return e.Why + ": " + e.Path
}

// Job is one run of tests.
type Job struct {
	Dir     string        // the workspace, which the run may change
	Home    string        // the home folder of the run, which must be there
	Targets []string      // packages or files, see Suite.Targets; none: the whole suite
	Timeout time.Duration // of the run; 0 = 10 minutes
	Base    string        // the folder of the suite's file: caches and links are laid as Lay does; "": they are there

	// Warm runs no test: it builds what tests need without anything of the project itself, and moves it to the caches in Base.
	Warm bool
}

const defaultTimeout = 10 * time.Minute // of a run of tests

// Status is what a report says of a test.
type Status string

// The statuses.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped"
)

// Test is what a report says of one test.
type Test struct {
	Status  Status        `json:"status"`
	Message string        `json:"message,omitempty"` // as the runner gives it, bounded
	Took    time.Duration `json:"took,omitempty"`
}

// Report is what a run of tests has shown.
type Report struct {
	Tests   map[string]Test `json:"tests"`
	Unbuilt string          `json:"unbuilt,omitempty"` // what the compiler or the collector says, "" if all was built
	Output  string          `json:"output,omitempty"`  // the end of what was printed
	CPU     time.Duration   `json:"cpu"`
	Peak    int64           `json:"peak"` // of memory, in bytes
	Ended   sandbox.Reason  `json:"ended"`
	Lacking bool            `json:"lacking,omitempty"` // by its messages, a dependency is not there
}

// HasPassed reports whether the report names a test as passed.
func (r Report) HasPassed(name string) bool { return r.Tests[name].Status == Passed }

// Environ returns an environment with that of the suite, whose PATH goes before the one that is there.
func (s Suite) Environ(base []string) []string {
	out := slices.Clone(base)
	for _, v := range s.Env {
		i := slices.IndexFunc(out, func(v string) bool { return strings.HasPrefix(v, "PATH=") })
		if first, is := strings.CutPrefix(v, "PATH="); is && i >= 0 {
			out[i] = "PATH=" + first + string(filepath.ListSeparator) + strings.TrimPrefix(out[i], "PATH=")
			continue
		}
		out = append(out, v)
	}
	return out
}

// Fit fails where tests cannot be confined: on this system there is no sandbox that says what it promises.
func Fit() error {
	if can := sandbox.Supports(); can.Kind != "landlock" {
		return &Unfit{Why: "tests of a repository run in a sandbox alone, and here is none: " + can.Why}
	}
	return nil
}
