package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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
		err := copyFolder(ctx, filepath.Join(base, filepath.FromSlash(c.From)), place(c.To, work, home))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
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
			err = skipExisting(os.Symlink(target, from))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyFolder copies files and folders, and links as they are.
func copyFolder(ctx context.Context, from, to string) (err error) {
	root, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it was only read
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	into, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer func() { _ = into.Close() }() // files are closed by themselves
	return fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || name == "." || ctx.Err() != nil:
			return errors.Join(err, ctx.Err())
		case e.IsDir():
			return skipExisting(into.Mkdir(name, 0o700))
		case e.Type()&fs.ModeSymlink != 0:
			target, err := root.Readlink(name)
			if err != nil {
				return err
			}
			return skipExisting(into.Symlink(target, name))
		case e.Type().IsRegular():
			return copyFile(root, into, name)
		}
		return nil
	})
}

func copyFile(from, to *os.Root, name string) error {
	info, err := from.Stat(name)
	if err != nil {
		return err
	}
	source, err := from.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // it was only read
	f, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return skipExisting(err)
	}
	_, err = io.Copy(f, source)
	return errors.Join(err, f.Close(), to.Chtimes(name, info.ModTime(), info.ModTime())) // builds go by the times
}

func skipExisting(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}
