package harvest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Projects are the folders whose sessions may be read, with all below them. It is for one
// harvest, and safe for concurrent use. NewProjects makes one.
type Projects struct {
	dirs []string
	seen *sync.Map // folder -> whether it is allowed, as it was found first
}

// NewProjects makes a list of absolute folders. A link stands for itself and for what it leads
// to, since agents record either.
func NewProjects(dirs ...string) Projects {
	p := Projects{seen: &sync.Map{}}
	for _, dir := range dirs {
		for _, name := range []string{filepath.Clean(dir), resolved(dir)} {
			if !slices.Contains(p.dirs, name) {
				p.dirs = append(p.dirs, name)
			}
		}
	}
	slices.Sort(p.dirs)
	return p
}

// resolved is a folder without links, as far as it is there.
func resolved(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}

// Allowed lists the folders.
func (p Projects) Allowed() []string { return p.dirs }

// Allow reports whether sessions of a folder may be read. What a link leads to counts: a folder
// that is named below an allowed one and lies elsewhere is not allowed.
func (p Projects) Allow(dir string) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	if known, ok := p.seen.Load(dir); ok {
		return known == true
	}
	at := resolved(dir)
	allowed := slices.ContainsFunc(p.dirs, func(base string) bool { return below(base, at) })
	p.seen.Store(dir, allowed)
	return allowed
}

// below reports whether dir is base or lies below it.
func below(base, dir string) bool {
	rel, err := filepath.Rel(base, dir)
	return err == nil && filepath.IsLocal(rel)
}

// Marks of folders that this program makes for the agents that it calls.
const (
	seatFolder  = "skillopt-seat-"  // of a login
	agentFolder = "skillopt-agent-" // of an agent's home
	checkFolder = "skillopt-check-" // of commands that check
)

// IsReplay reports whether a session in a folder was begun by this program: the folder, or one
// that it lies in, is a run directory, or was made for an agent that the program calls.
func IsReplay(dir string) bool {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		name := filepath.Base(at)
		for _, mark := range []string{seatFolder, agentFolder, checkFolder} {
			if strings.HasPrefix(name, mark) {
				return true
			}
		}
		if isRun(at) {
			return true
		}
		if filepath.Dir(at) == at {
			return false
		}
	}
}

// isRun reports whether a folder is a run directory.
func isRun(dir string) bool {
	for _, name := range []string{"manifest.json", "run.db"} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || !info.Mode().IsRegular() {
			return false
		}
	}
	return true
}
