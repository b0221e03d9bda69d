package reach

import (
	"maps"
	"path/filepath"
	"slices"
)

// planner adds up what may be read.
type planner struct {
	*checker
	search string
	read   map[string]bool
	env    map[string]bool
	narrow []Narrowed
}

func (p *planner) plan() Plan {
	out := Plan{Read: slices.Sorted(maps.Keys(p.read)), Env: slices.Sorted(maps.Keys(p.env))}
	for _, n := range p.narrow {
		if !p.canRead(n.Path) && !slices.Contains(out.Narrowed, n) {
			out.Narrowed = append(out.Narrowed, n)
		}
	}
	return out
}

// canRead reports whether a path lies in what may be read.
func (p *planner) canRead(path string) bool {
	real := resolve(p.files, path)
	for granted := range p.read {
		if isInside(real, resolve(p.files, granted)) {
			return true
		}
	}
	return false
}

// find looks a program up in the search path.
func (p *planner) find(name string) (string, bool) {
	for _, dir := range filepath.SplitList(p.search) {
		path := filepath.Join(dir, name)
		if !filepath.IsAbs(path) {
			continue // it would depend on where the program happens to be
		}
		if n := p.files.Look(resolve(p.files, path)); n.Kind == File && n.Runs {
			return path, true
		}
	}
	return "", false
}

// add lets a program be read, with its package. It fails when something of the
// program that is asked for cannot be read at all.
func (p *planner) add(program string, own bool) error {
	f := finding{planner: p}
	f.program(program)
	for _, path := range f.singles {
		if err := p.single(program, path, own); err != nil {
			return err
		}
	}
	for _, w := range f.wants {
		if err := p.want(program, w, own); err != nil {
			return err
		}
	}
	for _, v := range f.env {
		p.env[v] = true
	}
	return nil
}

// single lets one file be read.
func (p *planner) single(program, path string, own bool) error {
	s := p.spot(path)
	found := p.file(s)
	if found == nil {
		p.read[s.path] = true
		return nil
	}
	return p.refuse(program, s, found, own)
}

// want lets a folder be read, or what of it is known by name.
func (p *planner) want(program string, w want, own bool) error {
	s := p.spot(w.path)
	found := p.folder(s)
	if found == nil {
		p.read[s.path] = true
		return nil
	}
	switch {
	case !p.inConfig(found) && p.parts(program, w, own):
		return nil
	case w.vital && !p.inConfig(found):
		return p.refuse(program, s, found, own)
	}
	p.note(program, s, found, own)
	p.narrow[len(p.narrow)-1].Vital = w.vital
	return nil
}

// parts lets be read what of a folder is known by name, and reports whether there is
// any.
func (p *planner) parts(program string, w want, own bool) bool {
	before, granted := len(p.narrow), false
	for _, path := range w.parts {
		if kind(p.files, path) == Nothing {
			continue
		}
		part := p.spot(path)
		if found := p.folder(part); found != nil {
			p.note(program, part, found, own)
			continue
		}
		p.read[part.path] = true
		granted = true
	}
	if !granted {
		p.narrow = p.narrow[:before] // the folder that they are parts of says it all
	}
	return granted
}

func (p *planner) note(program string, s spot, found *conflict, own bool) {
	p.narrow = append(p.narrow, Narrowed{Program: program, Own: own, Path: s.path, Why: "it " + found.detail})
}

// refuse ends the plan for a program that was asked for. A tool is left out.
func (p *planner) refuse(program string, s spot, found *conflict, own bool) error {
	p.note(program, s, found, own)
	reader := "the agent's program " + program + " needs a path that it may not read"
	if s.path == filepath.Clean(program) {
		reader = "the agent's program"
	}
	return &ConflictError{Reader: reader, Path: s.String(), Detail: found.detail, Help: "install the program elsewhere, or move " + found.with.name}
}
