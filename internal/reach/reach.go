// Package reach decides what a confined program may read apart from the system: the
// single file of the program, the package that it is part of, the toolchains in the
// search path, and the folders that a config names. All of it is named: no folder is
// opened because something that is needed happens to lie in it.
//
// What is kept from programs (gold answers, keys, records of runs, the config) wins.
// A folder that holds a kept path, or lies in one, is never allowed: it is narrowed to
// the parts that are known by name, to the single file of the program, or refused with
// both paths.
//
// It looks at a file system through Files and changes nothing. It knows nothing about
// sandboxes, configs or runs.
package reach

import (
	"fmt"
	"path/filepath"
)

// Path is a place with what it is to the user, such as "tasks.path".
type Path struct {
	Path string // absolute
	Name string
}

// Guard says what no confined program may read. The zero value keeps nothing.
type Guard struct {
	// Home is the user's home folder, "" = not known. What is allowed may lie in it,
	// but neither is nor contains it.
	Home string
	// Config is the folder of the config, "" = none. A program in it is read as a
	// single file.
	Config string
	// Open is a folder in that of the config, "" = none: what is allowed may be or lie in it.
	Open string
	// Kept are files and folders: what is allowed neither contains nor lies in one.
	Kept []Path
	// Bases are folders in which others make folders of their own, such as that of
	// temporary files: what is allowed does not contain one.
	Bases []Path
	// System are the folders that every confined program can read anyway.
	System []string
}

// Request says what a program asks for. All fields may be empty.
type Request struct {
	Search  string   // folders with programs, as in the variable PATH
	Program string   // its file, absolute
	Beside  []string // further files that are the program's own, absolute, such as the script of an interpreter
	Tools   []string // names of programs in Search that it may need
	Entries []string // folders and files that the user allows, absolute
	Login   []string // what the program keeps of its user's login, absolute, which it reads and writes
}

// Plan is what a program may read.
type Plan struct {
	Read     []string   // sorted, each once
	Env      []string   // variables by which shims find what they represent, "NAME=value", sorted
	Narrowed []Narrowed // what was left out
}

// Narrowed is a folder that a program probably needs and may not read.
type Narrowed struct {
	Program string // its file
	Own     bool   // it is Request.Program or its interpreter, not a tool
	Vital   bool   // what it needs is known to lie there
	Path    string
	Why     string
}

func (n Narrowed) String() string {
	return fmt.Sprintf("%s may not read %s: %s", n.Program, n.Path, n.Why)
}

// A ConflictError says that a folder cannot be allowed.
type ConflictError struct {
	Reader string // who asks: "agent.read", "the agent's program", "the system's programs"
	Path   string
	Detail string // how it relates to what is kept, with the other path
	Help   string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s: %s %s; %s", e.Reader, e.Path, e.Detail, e.Help)
}

// Plan decides what a program may read. The error is a *ConflictError.
func (g Guard) Plan(files Files, r Request) (Plan, error) {
	c := newChecker(g, files)
	if err := c.system(); err != nil {
		return Plan{}, err
	}
	if err := c.login(r.Login); err != nil {
		return Plan{}, err
	}
	own := c.ownFiles(r)
	p := planner{checker: c, search: r.Search, read: map[string]bool{}, env: map[string]bool{}}
	for _, path := range r.Entries {
		if err := c.entry(path, own); err != nil {
			return Plan{}, err
		}
		p.read[filepath.Clean(path)] = true
	}
	if r.Program != "" {
		if err := p.add(r.Program, true); err != nil {
			return Plan{}, err
		}
	}
	for _, name := range r.Tools {
		if path, ok := p.find(name); ok {
			_ = p.add(path, false) // what a tool lacks is in Narrowed
		}
	}
	return p.plan(), nil
}

// ownFiles returns the files of the program itself, with all links on the way.
func (c *checker) ownFiles(r Request) []spot {
	var own []spot
	for _, path := range append([]string{r.Program}, r.Beside...) {
		if path != "" {
			own = append(own, c.spot(path))
		}
	}
	return own
}
