package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// TrashFolder is the folder next to runs that holds those that were removed.
const TrashFolder = ".trash"

// A NoDirError says that a path is no run directory that could be removed.
type NoDirError struct{ Dir, Reason string }

func (e *NoDirError) Error() string {
	return fmt.Sprintf("%s is not removed: %s; `skillopt runs list` shows runs", e.Dir, e.Reason)
}

// Removable reads the manifest of the run directory dir. The error of a path that is none,
// or a link, is a *NoDirError, of a run that a process works on a *LockedError.
func Removable(dir string) (Manifest, error) {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Manifest{}, &NoDirError{dir, "there is no such folder"}
	case err != nil:
		return Manifest{}, fmt.Errorf("look at run %s: %w", dir, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return Manifest{}, &NoDirError{dir, "it is a link: name the folder that it leads to"}
	case !info.IsDir():
		return Manifest{}, &NoDirError{dir, "it is no folder"}
	}
	m, found, err := ReadManifest(dir)
	var manifest *manifestError
	switch {
	case errors.As(err, &manifest) && manifest.err != nil: // damaged: a folder with a record of ours is a run all the same
		if _, err := os.Lstat(filepath.Join(dir, DBFile)); err != nil {
			return m, &NoDirError{dir, fmt.Sprintf("its %s is damaged, and it has no %s", ManifestFile, DBFile)}
		}
	case err != nil:
		return m, Unreadable(dir, err)
	case !found:
		return m, &NoDirError{dir, "it has no " + ManifestFile + ", so it is no run directory"}
	}
	alive, err := InUse(dir)
	switch {
	case err != nil:
		return m, err
	case alive:
		return m, &LockedError{Dir: dir}
	}
	return m, nil
}

// InTrash reports whether a run directory lies in the trash.
func InTrash(dir string) bool { return filepath.Base(filepath.Dir(dir)) == TrashFolder }

// Trash moves the run in dir to the trash next to it with its notes, under its name and the time,
// and returns where it is then. No one has it open meanwhile. The errors are those of Removable
// and of the file system; with one the run is where it was.
func Trash(dir string, now time.Time) (to string, err error) {
	if _, err := Removable(dir); err != nil {
		return "", err
	}
	lock, err := lockDir(dir)
	if err != nil {
		return "", err
	}
	if runtime.GOOS == "windows" { // where a folder with an open file cannot be moved
		err = lock.Unlock()
	} else {
		defer func() { err = errors.Join(err, lock.Unlock()) }()
	}
	if err != nil {
		return "", fmt.Errorf("remove run %s: %w", dir, err)
	}
	// Through the root no link leads out of the folder, the trash itself included.
	root, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return "", fmt.Errorf("remove run %s: %w", dir, err)
	}
	defer func() { _ = root.Close() }() // it was only moved in
	if err := root.Mkdir(TrashFolder, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("make the trash: %w", err)
	}
	if info, err := root.Lstat(TrashFolder); err != nil || !info.IsDir() {
		return "", &NoDirError{dir, fmt.Sprintf("%s is no folder: move it out of the way", filepath.Join(filepath.Dir(dir), TrashFolder))}
	}
	name, err := freeName(root, filepath.Base(dir)+"-"+now.UTC().Format("20060102T150405Z"))
	if err != nil {
		return "", fmt.Errorf("remove run %s: %w", dir, err)
	}
	back, err := takeNotes(root, filepath.Base(dir))
	if err != nil {
		return "", fmt.Errorf("remove the notes of run %s: %w", dir, err)
	}
	if err := root.Rename(filepath.Base(dir), filepath.Join(TrashFolder, name)); err != nil {
		return "", fmt.Errorf("remove run %s: %w", dir, errors.Join(err, back()))
	}
	return filepath.Join(filepath.Dir(dir), TrashFolder, name), nil
}

// freeName returns a name in the trash that nothing has yet.
func freeName(root *os.Root, name string) (string, error) {
	for i := 1; ; i++ {
		next := name
		if i > 1 {
			next = fmt.Sprintf("%s-%d", name, i)
		}
		if _, err := root.Lstat(filepath.Join(TrashFolder, next)); errors.Is(err, fs.ErrNotExist) {
			return next, nil
		} else if err != nil {
			return "", err
		}
	}
}

// Purge deletes a run that lies in the trash, but for the files named by keep and its
// manifest if there are any. The errors are those of Removable and of the file system.
func Purge(dir string, keep ...string) error {
	if _, err := Removable(dir); err != nil {
		return err
	}
	if !InTrash(dir) {
		return &NoDirError{dir, "it is not in the trash"}
	}
	if len(keep) == 0 {
		if err := disk.RemoveAll(dir); err != nil {
			return fmt.Errorf("delete run %s: %w", dir, err)
		}
		return nil
	}
	kept := map[string]bool{ManifestFile: true}
	for _, name := range keep {
		kept[name] = true
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !kept[e.Name()] {
			err = errors.Join(err, disk.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		return fmt.Errorf("delete run %s: %w", dir, err)
	}
	return nil
}

// Size returns how many bytes the files of a run directory have. It does not follow links.
func Size(dir string) (n int64, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, fmt.Errorf("size up run %s: %w", dir, err)
	}
	defer func() { _ = root.Close() }() // it was only read
	err = disk.Walk(root, func(_ *os.Root, _ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
		return err
	})
	if err != nil {
		return n, fmt.Errorf("size up run %s: %w", dir, err)
	}
	return n, nil
}
