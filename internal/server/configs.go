package server

import (
	"os"
	"path/filepath"
	"slices"
)

// findConfig returns the folder of the config that an address names: that of all configs (.), or one right below it.
// It is looked up in the listing: no part of the address becomes a part of a path.
func (s *Server) findConfig(name string) (dir string, err error) {
	if err := s.canStart(); err != nil {
		return "", err
	}
	dir = s.options.Configs
	if name != "." {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return "", err
		}
		i := slices.IndexFunc(entries, func(e os.DirEntry) bool { return e.IsDir() && e.Name() == name })
		if i < 0 {
			return "", noConfig(name)
		}
		dir = filepath.Join(dir, entries[i].Name())
	}
	if info, err := os.Lstat(filepath.Join(dir, "config.yaml")); err != nil || !info.Mode().IsRegular() {
		return "", noConfig(name)
	}
	return dir, nil
}

func noConfig(name string) error { return missing("there is no config " + quoted(name) + " here") }
