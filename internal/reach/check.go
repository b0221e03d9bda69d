package reach

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// spot is a path as it is written and as it is after all links, with what is
// above it.
type spot struct {
	path, real string
	id         string
	above      []string // identities of real and of all folders above
}

func (s spot) String() string {
	if s.path == s.real {
		return s.path
	}
	return s.path + " (which is " + s.real + ")"
}

// contains reports whether o is s or lies in it, by one of their names or by the identities of
// the folders above o: one that is mounted twice has two names.
func (s spot) contains(o spot) bool {
	for _, outer := range []string{s.path, s.real} {
		for _, inner := range []string{o.path, o.real} {
			if isInside(inner, outer) {
				return true
			}
		}
	}
	return s.id != "" && slices.Contains(o.above, s.id)
}

// isInside reports whether path is dir or lies in it, by name.
func isInside(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, separator)+separator)
}

type kept struct {
	spot
	name string
}

const (
	homeName   = "the home folder"
	configName = "the folder of the config"
)

// checker is a Guard whose paths have been looked at.
type checker struct {
	files       Files
	home        *kept
	config      *kept
	open        *spot // in config
	kept, bases []kept
	folders     []spot // of the system
}

func newChecker(g Guard, files Files) *checker {
	c := &checker{files: files}
	if filepath.IsAbs(g.Home) {
		c.home = &kept{c.spot(g.Home), homeName}
	}
	if g.Config != "" {
		c.config = &kept{c.spot(g.Config), configName}
	}
	if g.Open != "" {
		open := c.spot(g.Open)
		c.open = &open
	}
	for _, p := range g.Kept {
		c.kept = append(c.kept, kept{c.spot(p.Path), p.Name})
	}
	for _, p := range g.Bases {
		c.bases = append(c.bases, kept{c.spot(p.Path), p.Name})
	}
	for _, path := range g.System {
		if kind(files, path) != Nothing {
			c.folders = append(c.folders, c.spot(path))
		}
	}
	return c
}

func (c *checker) spot(path string) spot {
	s := spot{path: filepath.Clean(path)}
	s.real = resolve(c.files, s.path)
	s.id = c.files.Look(s.real).ID
	for dir := s.real; ; dir = filepath.Dir(dir) {
		if id := c.files.Look(dir).ID; id != "" {
			s.above = append(s.above, id)
		}
		if dir == filepath.Dir(dir) {
			return s
		}
	}
}

// conflict says how a path relates to one that is kept.
type conflict struct {
	detail string // "contains tasks.path (/p/tasks.jsonl)"
	with   kept
	above  bool // it contains that path, otherwise it lies in it
}

func newConflictAbove(k kept) *conflict {
	return &conflict{fmt.Sprintf("contains %s (%s)", k.name, k.spot), k, true}
}

func newConflictInside(k kept) *conflict {
	return &conflict{fmt.Sprintf("lies in %s (%s)", k.name, k.spot), k, false}
}

// holds finds something that s contains and that is not to be read.
func (c *checker) holds(s spot) *conflict {
	var all []kept
	for _, k := range []*kept{c.home, c.config} {
		if k != nil {
			all = append(all, *k)
		}
	}
	for _, k := range slices.Concat(all, c.kept, c.bases) {
		if s.contains(k.spot) {
			return newConflictAbove(k)
		}
	}
	return nil
}

// file says why a single file may not be read: a program in the folder of the config
// may.
func (c *checker) file(s spot) *conflict {
	if found := c.holds(s); found != nil {
		return found
	}
	for _, k := range c.kept {
		if k.contains(s) {
			return newConflictInside(k)
		}
	}
	return nil
}

// folder says why a folder may not be read, nil if it may.
func (c *checker) folder(s spot) *conflict {
	if found := c.file(s); found != nil {
		return found
	}
	if c.config != nil && c.config.contains(s) {
		return newConflictInside(*c.config)
	}
	return nil
}

// entry checks what the user allows. In the folder of the config that can only be
// what holds a file of the program itself.
func (c *checker) entry(path string, own []spot) error {
	s := c.spot(path)
	found := c.folder(s)
	if found == nil {
		return nil
	}
	mine := slices.ContainsFunc(own, func(o spot) bool { return isInside(o.real, s.real) })
	if (mine || c.open != nil && c.open.contains(s)) && c.inConfig(found) {
		return nil
	}
	return &ConflictError{Reader: "agent.read", Path: s.String(), Detail: found.detail, Help: c.help(found)}
}

// login checks what an agent keeps of its user, which is open to it as a whole.
func (c *checker) login(paths []string) error {
	for _, path := range paths {
		s := c.spot(path)
		if found := c.folder(s); found != nil {
			return &ConflictError{
				Reader: "the agent's login", Path: s.String(), Detail: found.detail,
				Help: "an agent with a login of its own reads all of that: move " + found.with.name + " elsewhere, or let it reach its model by the gateway",
			}
		}
	}
	return nil
}

func (c *checker) help(found *conflict) string {
	switch {
	case c.inConfig(found):
		return "of the folder of the config a program reads nothing but what holds the agent's own program: move what it needs elsewhere"
	case found.with.name == homeName:
		return "name the folder of the tool that is needed, not one with all that is yours"
	case found.above:
		return "a confined program could read it there: name a folder that holds the tool alone, or move one of the two"
	}
	return "a confined program may not read what lies there: move one of the two"
}

// inConfig reports that a path lies in the folder of the config and conflicts with
// nothing else: that is what is looked at last.
func (c *checker) inConfig(found *conflict) bool {
	return found.with.name == configName && !found.above
}

// system checks the folders that every program reads.
func (c *checker) system() error {
	for _, s := range c.folders {
		if found := c.holds(s); found != nil {
			return &ConflictError{
				Reader: "the sandbox", Path: s.String(), Detail: found.detail,
				Help: "every confined program reads that folder of the system: move " + found.with.name + " elsewhere, such as below your home folder or /srv",
			}
		}
	}
	return nil
}

// ofSystem reports whether every program can read a file anyway.
func (c *checker) ofSystem(path string) bool {
	return slices.ContainsFunc(c.folders, func(s spot) bool { return isInside(path, s.path) || isInside(path, s.real) })
}
