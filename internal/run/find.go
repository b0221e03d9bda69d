package run

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/result"
)

// Entry is a run directory found in a folder.
type Entry struct {
	Dir      string
	Manifest Manifest
	Err      error // the manifest cannot be read
}

// List returns the run directories in dir, oldest first. A folder that does not
// exist holds no runs.
func List(dir string) ([]Entry, error) {
	names, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	var out []Entry
	for _, n := range names {
		if !n.IsDir() {
			continue
		}
		path := filepath.Join(dir, n.Name())
		m, found, err := ReadManifest(path)
		if found || err != nil {
			out = append(out, Entry{Dir: path, Manifest: m, Err: err})
		}
	}
	slices.SortStableFunc(out, func(a, b Entry) int {
		// The time has seconds; the id of a run rises within one, which its name does
		// not: x-10 sorts before x-9.
		return cmp.Or(a.Manifest.CreatedAt.Compare(b.Manifest.CreatedAt), cmp.Compare(a.Manifest.RunID, b.Manifest.RunID))
	})
	return out, nil
}

// IsUnfinished reports whether a run with this status has work left.
func IsUnfinished(status result.Status) bool { return status != result.Completed }

// Choose returns the directory for a run without a given one: the newest
// unfinished run of the same configuration, else the next free dir/name-N. same
// compares identities.
func Choose(dir, name string, same func(identity map[string]string) bool) (path string, resumes bool, err error) {
	entries, err := List(dir)
	if err != nil {
		return "", false, err
	}
	for _, e := range slices.Backward(entries) {
		if e.Err == nil && IsUnfinished(e.Manifest.Status) && same(e.Manifest.Identity) {
			return e.Dir, true, nil
		}
	}
	next, err := nextNumber(dir, name)
	if err != nil {
		return "", false, err
	}
	return filepath.Join(dir, fmt.Sprintf("%s-%d", name, next)), false, nil
}

// Newest returns the newest run in dir with a status whose identity same accepts.
func Newest(dir string, status result.Status, same func(identity map[string]string) bool) (path string, found bool, err error) {
	entries, err := List(dir)
	if err != nil {
		return "", false, err
	}
	for _, e := range slices.Backward(entries) {
		if e.Err == nil && e.Manifest.Status == status && same(e.Manifest.Identity) {
			return e.Dir, true, nil
		}
	}
	return "", false, nil
}

func nextNumber(dir, name string) (int, error) {
	names, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("list runs: %w", err)
	}
	removed, err := os.ReadDir(filepath.Join(dir, TrashFolder)) // what is moved back finds its name free
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("list runs: %w", err)
	}
	next := 1
	for i, n := range append(names, removed...) {
		rest, ok := strings.CutPrefix(n.Name(), name+"-")
		if !ok {
			continue
		}
		if i >= len(names) { // the time is behind it
			rest, _, _ = strings.Cut(rest, "-")
		}
		if i, err := strconv.Atoi(rest); err == nil && i >= next {
			next = i + 1
		}
	}
	return next, nil
}

// SkillPath returns path, except where path is the best_skill.md of a run whose skill has more
// files: then it returns the folder that has all of them.
func SkillPath(path string) string {
	if filepath.Base(path) != BestFile {
		return path
	}
	folder := filepath.Join(filepath.Dir(path), BestFolder)
	if _, err := os.Stat(filepath.Join(folder, "SKILL.md")); err != nil {
		return path
	}
	return folder
}
