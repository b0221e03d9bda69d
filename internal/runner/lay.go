package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
)

// The places of caches and links.
const (
	inHome = "home:"
	inWork = "work:"
)

// Lay puts folders of links and caches of a suite into a workspace and a home folder. Base is the folder of the suite's file; a cache that is
// not in it yet is left out. What the workspace has itself is not replaced.
func (s Suite) Lay(ctx context.Context, base, work, home string) error {
	for at, to := range s.Links {
		if err := link(place(at, work, home), to); err != nil {
			return fmt.Errorf("link %s to dependencies: %w", at, err)
		}
	}
	for _, c := range s.Caches {
		from := filepath.Join(base, filepath.FromSlash(c.From))
		if !isFolder(from) {
			continue
		}
		if err := copyFolder(ctx, from, place(c.To, work, home)); err != nil {
			return fmt.Errorf("copy a cache to %s: %w", c.To, err)
		}
	}
	return nil
}

// place returns where a cache or a link goes.
func place(at, work, home string) string {
	if rest, is := strings.CutPrefix(at, inHome); is {
		return filepath.Join(home, filepath.FromSlash(rest))
	}
	return filepath.Join(work, filepath.FromSlash(strings.TrimPrefix(at, inWork)))
}

// link makes a folder whose entries lead to those of another, so that programs can keep files of their own between them. An entry
// that is a link out of the folder, such as to another package of the repository, leads there in the workspace.
func link(at, to string) error {
	if err := os.MkdirAll(at, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(to)
	if err != nil {
		return err
	}
	for _, e := range entries {
		from, target := filepath.Join(at, e.Name()), filepath.Join(to, e.Name())
		if e.IsDir() && e.Name()[0] == '@' { // packages of a scope
			err = link(from, target)
		} else {
			if lead, e := os.Readlink(target); e == nil && strings.HasPrefix(lead, "..") {
				target = lead
			}
			err = os.Symlink(target, from)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// copyFolder copies a folder as it is, with times, which builds go by.
func copyFolder(ctx context.Context, from, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	r, err := sandbox.Run(ctx, sandbox.Spec{Argv: []string{"/bin/cp", "-a", from + "/.", to}, Dir: to})
	if err == nil && (r.Code != 0 || r.Reason != sandbox.Exited) {
		err = cmp.Or(context.Cause(ctx), fmt.Errorf("cp ended with %s, code %d: %s", r.Reason, r.Code, strings.TrimSpace(r.Stderr)))
	}
	return err
}

// warm fills the caches in the folder of the suite's file.
func (c *cell) warm(ctx context.Context, j Job) (err error) {
	switch c.suite.Kind {
	case Go:
		err = c.warmGo(ctx, j.Timeout)
	case Cargo:
		err = c.warmCargo(ctx, j.Timeout)
	}
	for _, cache := range c.suite.Caches {
		to := filepath.Join(j.Base, filepath.FromSlash(cache.From))
		if from := place(cache.To, j.Dir, j.Home); err == nil && isFolder(from) {
			if err = disk.RemoveAll(to); err == nil {
				err = copyFolder(ctx, from, to)
			}
		}
	}
	return err
}
