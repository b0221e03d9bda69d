package dataset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// Files returns the paths of the regular files below root that a pattern covers, sorted
// byte by byte. In a pattern * represents any part of a name and ** for any number of
// folders. Names that begin with a dot are covered by patterns that name them alone. At
// least one file is there, or the error wraps ErrNoFile.
func Files(ctx context.Context, root *os.Root, pattern string, b Bounds) ([]string, error) {
	b = b.withDefaults()
	if err := disk.ValidPattern(pattern); err != nil {
		return nil, &Error{File: pattern, Msg: fmt.Sprintf("the pattern is none: %v; write it like data/**/*.json", err), Err: ErrNoFile}
	}
	dir, plain := disk.FixedPart(pattern)
	if plain {
		if _, err := root.Stat(pattern); err != nil {
			return nil, newPatternError(pattern, err)
		}
		return []string{pattern}, nil
	}
	names, err := walk(ctx, root, dir, func(name string) bool { return disk.Match(pattern, name) && !hides(pattern, name) }, b.Files)
	if err != nil {
		return nil, newPatternError(pattern, err)
	}
	if len(names) == 0 {
		return nil, newPatternError(pattern, fs.ErrNotExist)
	}
	slices.Sort(names)
	return names, nil
}

// newPatternError returns the error of a pattern or name by which nothing is found.
func newPatternError(pattern string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Error{File: pattern, Msg: "no such file", Err: errors.Join(ErrNoFile, fs.ErrNotExist)}
	case errors.Is(err, ErrBound):
		return &Error{File: pattern, Msg: err.Error(), Err: ErrBound}
	}
	return &Error{File: pattern, Msg: err.Error(), Err: err}
}

// walk collects regular files below dir, at most limit.
func walk(ctx context.Context, root *os.Root, dir string, want func(string) bool, limit int) (names []string, err error) {
	at := root
	prefix := ""
	if dir != "" {
		if at, err = root.OpenRoot(dir); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, at.Close()) }()
		prefix = dir + "/"
	}
	err = disk.Walk(at, func(_ *os.Root, name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if e.Type().IsRegular() && want(prefix+name) {
			if len(names) == limit {
				return fmt.Errorf("%w: more than %d files", ErrBound, limit)
			}
			names = append(names, prefix+name)
		}
		return nil
	})
	return names, err
}

// hides reports whether a name in a path begins with a dot where the pattern has none that
// does.
func hides(pattern, name string) bool {
	if strings.HasPrefix(pattern, ".") || strings.Contains(pattern, "/.") {
		return false
	}
	return strings.HasPrefix(name, ".") || strings.Contains(name, "/.")
}
