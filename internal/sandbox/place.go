package sandbox

import (
	"path/filepath"
	"strings"
)

// seen returns the path at which the program finds what is at path.
func (c *Confine) seen(path string) string {
	for _, s := range c.Show {
		if rel, err := filepath.Rel(s.Dir, path); err == nil && filepath.IsLocal(rel) {
			return filepath.Join(s.As, rel)
		}
	}
	return path
}

// topLevel reports whether a path is one name below the root.
func topLevel(path string) bool {
	return len(path) > 1 && path[0] == '/' && path == filepath.Clean(path) && strings.Count(path, "/") == 1
}
