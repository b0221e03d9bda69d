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

// Inside fails, with an *Error, for a path that leads out of the roots, wherever links lead, or to
// where programs keep keys. There need not be anything at the path yet. Between its answer and the
// use of the path a program of the user may change a link: it could read the file itself.
func (g *Guard) Inside(path string) error {
	if g == nil {
		return nil
	}
	real, err := realPath(path)
	parts := strings.Split(filepath.ToSlash(path), "/")
	odd := filepath.Separator == '/' && slices.ContainsFunc(parts, foreign.MatchString)
	for _, root := range g.Roots {
		rel, e := filepath.Rel(root, real)
		if err == nil && e == nil && !odd && filepath.IsLocal(rel) && !slices.ContainsFunc(strings.Split(filepath.ToSlash(rel), "/"), credentials.MatchString) {
			return nil
		}
	}
	found := fmt.Sprintf("%q, which leads out of the folders that this caller may use, or to a file of keys", path)
	return &Error{Problems: []Problem{{Found: found, Want: "a path in " + strings.Join(g.Roots, ", "), Hint: "take the link or the path out, or add the folder to those in the settings of the server (docs/trust.md)"}}}
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
	real, err := filepath.EvalSymlinks(dir)
	if inside := g.Inside(dir); inside != nil || errors.Is(err, fs.ErrNotExist) {
		return inside
	}
	return filepath.WalkDir(real, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("look for links: %w", err)
		case e.Type()&(fs.ModeSymlink|fs.ModeIrregular) != 0: // junctions of Windows are irregular
			return g.Inside(path)
		case e.IsDir() && path != real && !into(filepath.ToSlash(path[len(real)+1:])):
			return fs.SkipDir
		}
		return nil
	})
}

// Dir returns the files of disk.Dir without what links lead to outside of the roots.
func (g *Guard) Dir(ctx context.Context, dir string, limit int64) fs.FS {
	files := disk.Dir(ctx, dir, limit)
	if g == nil {
		return files
	}
	return opener(func(name string) (fs.File, error) {
		if err := g.Inside(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return nil, err
		}
		return files.Open(name)
	})
}

// opener is a file system in which all is read by opening it.
type opener func(name string) (fs.File, error)

// Open implements fs.FS.
func (o opener) Open(name string) (fs.File, error) { return o(name) }

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
