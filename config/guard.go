package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// Guard bounds what a configuration may say that a tool call or a browser has named. A nil Guard
// bounds nothing: the caller is trusted. Its methods may be called concurrently.
type Guard struct {
	Roots   []string // folders, absolute and without links: what is read or written is in one of them
	Trusted []string // SHA-256 of files, in hex, that may say anything
	Limits  Limits   // ceilings that hold whatever a configuration says
}

// Trust returns nil for the SHA-256 of a file that may say anything. The error says how such a file
// is trusted.
func (g *Guard) Trust(sum string) error {
	if g == nil || sum != "" && slices.ContainsFunc(g.Trusted, func(t string) bool { return strings.EqualFold(t, sum) }) {
		return nil
	}
	return fmt.Errorf("after you have read the file, add `--trust %s` to the settings of the server in your host (docs/trust.md)", sum)
}

var (
	// foreign are parts of paths that mean another folder to a shell or on another system.
	foreign = pattern.New(`^~|^[A-Za-z]:|\\`)
	// credentials are names under which programs keep keys next to the work of their user.
	credentials = pattern.New(`(?i)^\.(env|env\..*|git|git-credentials|netrc|npmrc|pypirc|ssh|aws|gnupg)$`)
)

// Inside fails for a path that leads out of the roots, wherever links lead, or to where programs
// keep keys. There need not be anything at the path yet. Between its answer and the use of the path
// a program of the user may change a link: such a program could read the file itself.
func (g *Guard) Inside(path string) error {
	if g == nil {
		return nil
	}
	rel, ok := g.below(path)
	parts := strings.Split(filepath.ToSlash(filepath.Clean(path)), "/")
	if !ok || slices.ContainsFunc(strings.Split(rel, "/"), credentials.MatchString) || filepath.Separator == '/' && slices.ContainsFunc(parts, foreign.MatchString) {
		return &OutsideError{Path: path, Roots: g.Roots}
	}
	return nil
}

// below returns where a path leads within one of the roots, with slashes.
func (g *Guard) below(path string) (rel string, ok bool) {
	real, err := realPath(path)
	for _, root := range g.Roots {
		if rel, e := filepath.Rel(root, real); err == nil && e == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), true
		}
	}
	return "", false
}

// OutsideError is a path that leads out of the roots of a guard, or to where programs keep keys.
type OutsideError struct {
	Path  string
	Roots []string
}

func (e *OutsideError) Error() string {
	return fmt.Sprintf("found %q, which leads out of the folders that this caller may use, or to a file of keys, allowed: a path in %s", e.Path, strings.Join(e.Roots, ", "))
}

// realPath returns a path without links. What is not there yet is where its parent is. It fails for
// a link to nothing, and for what is written with "..": it may lead elsewhere than it says.
func realPath(path string) (string, error) {
	if !filepath.IsAbs(path) || slices.Contains(strings.Split(filepath.ToSlash(path), "/"), "..") {
		return "", fs.ErrInvalid
	}
	real, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	if _, err := os.Lstat(path); err == nil || filepath.Dir(path) == path {
		return "", fs.ErrInvalid
	}
	parent, err := realPath(filepath.Dir(path))
	return filepath.Join(parent, filepath.Base(path)), err
}

// Links fails where a link below dir leads out of the roots. Of a folder in it what is inside is
// looked at if into says so. There need not be a dir.
func (g *Guard) Links(dir string, into func(name string) bool) error {
	if g == nil {
		return nil
	}
	if err := g.Inside(dir); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for links: %w", err)
	}
	defer func() { _ = root.Close() }() // it was only read
	return disk.Walk(root, func(_ *os.Root, path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("look for links in %s: %w", dir, err)
		case e.IsDir() && !into(path):
			return fs.SkipDir
		case e.Type()&(fs.ModeSymlink|fs.ModeIrregular) != 0: // junctions of Windows are irregular
			return g.Inside(filepath.Join(dir, filepath.FromSlash(path)))
		}
		return nil
	})
}

// Dir is disk.Dir without what links lead to outside of the roots.
func (g *Guard) Dir(ctx context.Context, dir string, limit int64) fs.FS {
	if g == nil {
		return disk.Dir(ctx, dir, limit)
	}
	return guarded{disk.Dir(ctx, dir, limit), g, dir}
}

// guarded has no method of fs.FS but Open, through which all files and folders are read then.
type guarded struct {
	files fs.FS
	guard *Guard
	dir   string
}

// Open implements fs.FS.
func (f guarded) Open(name string) (fs.File, error) {
	if err := f.guard.Inside(filepath.Join(f.dir, filepath.FromSlash(name))); err != nil {
		return nil, err
	}
	return f.files.Open(name)
}

// Cap returns ceilings none of which is above that of the guard.
func (g *Guard) Cap(l Limits) Limits {
	if g == nil {
		return l
	}
	c := g.Limits
	if c.Concurrency > 0 {
		l.Concurrency = min(l.Concurrency, c.Concurrency)
	}
	if c.Patience > 0 {
		l.Patience = min(l.Patience, c.Patience)
	}
	l.USD, l.Tokens, l.Calls, l.Time = lower(l.USD, c.USD), lower(l.Tokens, c.Tokens), lower(l.Calls, c.Calls), lower(l.Time, c.Time)
	return l
}

// lower returns the lower one of two ceilings; nil is none.
func lower[T cmp.Ordered](a, b *T) *T {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}
