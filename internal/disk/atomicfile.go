package disk

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// This file replaces files so that a reader, or a machine that lost
// power, sees the old content or the new, never a part of it.

// WriteFile replaces the file at path with data. The data goes to a temporary
// file next to it, which is flushed to the disk before it takes the name, and
// the directory is flushed after. On any error, a full disk for one, the old
// file is untouched and the temporary one removed. perm is not cut by the
// umask.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	if err := replace(path, data, perm, (*os.File).Sync); err != nil {
		return err
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("write %s: flush directory: %w", path, err)
	}
	return nil
}

// WriteIn writes a file as WriteFile does, but below root, through no link that leads out of it, and without a flush of the directory.
func WriteIn(root *os.Root, name string, data []byte, perm fs.FileMode) error {
	temp := path.Join(path.Dir(name), "."+path.Base(name)+".tmp-"+rand.Text()[:8])
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err = fill(f, data, perm, (*os.File).Sync); err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, errors.Join(err, root.Remove(temp)))
	}
	return nil
}

// Replace writes a file as WriteFile does, but without the flushes: a reader sees the old content
// or the new, but after a loss of power the file may be empty. It is for what can be made again.
func Replace(path string, data []byte, perm fs.FileMode) error {
	return replace(path, data, perm, func(*os.File) error { return nil })
}

func replace(path string, data []byte, perm fs.FileMode, flush func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := fill(f, data, perm, flush); err != nil {
		return fmt.Errorf("write %s: %w", path, errors.Join(err, os.Remove(f.Name())))
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("write %s: %w", path, errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// fill writes, flushes and closes f. It closes f in any case: some systems
// refuse to remove a file that is open.
func fill(f *os.File, data []byte, perm fs.FileMode, flush func(*os.File) error) error {
	_, err := f.Write(data)
	if err == nil {
		err = f.Chmod(perm)
	}
	if err == nil {
		err = flush(f)
	}
	return errors.Join(err, f.Close())
}
