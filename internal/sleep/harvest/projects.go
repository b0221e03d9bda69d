package harvest

import (
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// Projects are the folders whose sessions may be read, with all below them. It is for one
// harvest, and safe for concurrent use. NewProjects makes one.
type Projects struct {
	dirs []string
	seen *sync.Map // folder -> whether it is allowed, as it was found first
}

// NewProjects makes a list of absolute folders. A link is by itself and for what it leads
// to, since agents record either.
func NewProjects(dirs ...string) Projects {
	p := Projects{seen: &sync.Map{}}
	for _, dir := range dirs {
		for _, name := range []string{filepath.Clean(dir), resolveLinks(dir)} {
			if !slices.Contains(p.dirs, name) {
				p.dirs = append(p.dirs, name)
			}
		}
	}
	slices.Sort(p.dirs)
	return p
}

// resolveLinks returns a folder without links. For one that is not there any more, that holds for
// the part of it that is.
func resolveLinks(dir string) string {
	dir = filepath.Clean(dir)
	for at, rest := dir, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if filepath.Dir(at) == at {
			return dir
		}
	}
}

// Folders lists the folders.
func (p Projects) Folders() []string { return p.dirs }

// Allow reports whether sessions of a folder may be read. What a link leads to counts: a folder
// that is named below an allowed one and lies elsewhere is not allowed.
func (p Projects) Allow(dir string) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	if known, ok := p.seen.Load(dir); ok {
		return known == true
	}
	at := resolveLinks(dir)
	allowed := slices.ContainsFunc(p.dirs, func(base string) bool { return containsPath(base, at) })
	p.seen.Store(dir, allowed)
	return allowed
}

// containsPath reports whether dir is base or lies below it.
func containsPath(base, dir string) bool {
	rel, err := filepath.Rel(base, dir)
	return err == nil && filepath.IsLocal(rel)
}

// IsReplay reports whether a session in a folder was begun by this program: the folder, or one
// that it lies in, is a run directory, or was made for an agent that the program calls.
func IsReplay(dir string) bool {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if disk.IsOwnFolder(filepath.Base(at)) || isRun(at) {
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
