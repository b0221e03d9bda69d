package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// This file goes through folders that somebody else has filled, an agent for
// example, and deletes them. What it takes does not depend on how deep folders nest:
// each is opened from the one above it, and none below MaxDepth.

// MaxDepth is how deep folders may nest, that of the root not counted. Two files are
// open for each.
const MaxDepth = 200

// ErrDeep says that a folder lies deeper than that.
var ErrDeep = fmt.Errorf("folders nest deeper than %d levels", MaxDepth)

// Visit gets an entry, the folder that it is in, and its path from the root, with
// slashes. For a folder, fs.SkipDir leaves out what is in it; any other error ends the
// walk. err says that a folder cannot be read, ErrDeep that it is not; without an
// entry it is the root.
type Visit func(dir *os.Root, path string, e fs.DirEntry, err error) error

// Walk visits all entries below root, those of a folder by their names, a thousand at a
// time however many there are. Links are not followed.
func Walk(root *os.Root, visit Visit) error {
	if err := walk(root, "", 0, visit); err != nil {
		var unreadable *readError
		if errors.As(err, &unreadable) {
			return visit(root, ".", nil, unreadable.err)
		}
		return err
	}
	return nil
}

// readError says that the names in a folder cannot be read.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }

func walk(dir *os.Root, at string, depth int, visit Visit) error {
	f, err := dir.Open(".")
	if err != nil {
		return &readError{err}
	}
	defer func() { _ = f.Close() }() // it was only read
	for {
		entries, err := f.ReadDir(1000)
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
		for _, e := range entries {
			if err := step(dir, path.Join(at, e.Name()), e, depth, visit); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &readError{err}
		}
	}
}

// step visits an entry, and what is in it.
func step(dir *os.Root, at string, e fs.DirEntry, depth int, visit Visit) error {
	err := visit(dir, at, e, nil)
	if !e.IsDir() || err != nil {
		if e.IsDir() && errors.Is(err, fs.SkipDir) {
			return nil
		}
		return err
	}
	if depth == MaxDepth {
		return visit(dir, at, e, ErrDeep)
	}
	sub, err := dir.OpenRoot(e.Name())
	if err != nil {
		return visit(dir, at, e, err)
	}
	defer func() { _ = sub.Close() }() // it was only read
	err = walk(sub, at, depth+1, visit)
	var unreadable *readError
	if errors.As(err, &unreadable) {
		return visit(dir, at, e, unreadable.err)
	}
	return err
}

// RemoveAll removes a folder as os.RemoveAll does, but of any depth: os.RemoveAll keeps a file open
// for each level, and the number of open files is limited.
func RemoveAll(dir string) error {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return os.RemoveAll(dir)
	}
	_, err := flatten(dir)
	return errors.Join(err, os.RemoveAll(dir))
}

// Prune deletes what nests deeper below dir than Walk goes, and reports whether there
// was any.
func Prune(dir string) (pruned bool, err error) {
	moved, err := flatten(dir)
	for _, name := range moved {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, name)))
	}
	return len(moved) > 0, err
}

// flatten moves folders that lie too deep to the top, again and again, and returns
// their names there.
func flatten(dir string) (moved []string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // nothing is written through it at its end
	for tops := []string{"."}; len(tops) > 0; tops = tops[1:] {
		for _, at := range tooDeep(root, tops[0]) {
			name := fmt.Sprintf(".%d-%d", os.Getpid(), len(moved))
			if err := root.Rename(path.Join(tops[0], at), name); err != nil {
				return moved, fmt.Errorf("move folders up that nest too deep: %w", err)
			}
			moved, tops = append(moved, name), append(tops, name)
		}
	}
	return moved, nil
}

// tooDeep lists the folders below one that Walk does not go into. What cannot be opened
// is reported by the one that deletes it.
func tooDeep(root *os.Root, top string) (paths []string) {
	from, err := root.OpenRoot(top)
	if err != nil {
		return nil
	}
	defer func() { _ = from.Close() }() // it was only read
	_ = Walk(from, func(_ *os.Root, at string, _ fs.DirEntry, err error) error {
		if errors.Is(err, ErrDeep) {
			paths = append(paths, at)
		}
		return nil
	})
	return paths
}
