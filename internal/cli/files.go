package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/run"
)

// This file writes files of the user without ever overwriting one.

// newFolder is a folder that files are written to of which none may be there yet.
type newFolder struct {
	dir     string // absolute
	name    string // as the user has written it
	refusal string // what a message says when a file is there already
}

// check returns an error if one of the files is there.
func (f newFolder) check(names ...string) error {
	for _, name := range names {
		switch there, err := isThere(filepath.Join(f.dir, name)); {
		case err != nil:
			return fmt.Errorf("look for files to keep: %w", err)
		case there:
			return usagef("%s is there already; %s", filepath.Join(f.name, name), f.refusal)
		}
	}
	return nil
}

// write writes files, if none of them is there, and returns their names in order.
func (f newFolder) write(files map[string][]byte) ([]string, error) {
	names := slices.Sorted(maps.Keys(files))
	if err := f.check(names...); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	for _, name := range names {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(f.dir, name)), 0o755); err != nil {
			return nil, fmt.Errorf("make folder: %w", err)
		}
		if err := run.WriteExport(filepath.Join(f.dir, name), files[name]); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// checkOut returns an error if the file is there that --out names; "" names none.
func checkOut(a *app, out string) error {
	if out == "" {
		return nil
	}
	switch there, err := isThere(a.absolute(out)); {
	case err != nil:
		return fmt.Errorf("look for a file to keep: %w", err)
	case there:
		return usagef("%s is there already; choose another file with --out", out)
	}
	return nil
}

// isThere reports whether there is something at path; a link to nothing is something.
func isThere(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// exists reports whether path can be reached.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// isFolder reports whether path is a folder.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
