package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

// Seen returns the path at which the program finds what is at path.
func (p Places) Seen(path string) string {
	for _, s := range p {
		if rel, err := filepath.Rel(s.Dir, path); err == nil && filepath.IsLocal(rel) {
			return filepath.Join(s.As, rel)
		}
	}
	return path
}

// Vacant returns the first of the paths at which nothing is on this machine, so that
// a folder can be shown there; "" if there is none.
func Vacant(paths ...string) string {
	for _, path := range paths {
		if _, err := os.Lstat(path); os.IsNotExist(err) && topLevel(path) {
			return path
		}
	}
	return ""
}

// topLevel reports whether a path is one name below the root.
func topLevel(path string) bool {
	return len(path) > 1 && path[0] == '/' && path == filepath.Clean(path) && strings.Count(path, "/") == 1
}
