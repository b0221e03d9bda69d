package benchmark

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/benchmark/folder"
	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// work is the folder in which a result is made, next to the place where it will be.
type work struct {
	out, dir string
	root     *os.Root
	done     bool
	extra    []string // folders to remove
}

// ThereError says that something is where the result would be.
type ThereError struct{ Path string }

func (e *ThereError) Error() string {
	return fmt.Sprintf("%s: something is there; name a folder that does not exist, or is empty", e.Path)
}

// begin makes the folder to work in.
func begin(out string) (*work, error) {
	entries, err := os.ReadDir(out)
	if err == nil && len(entries) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &ThereError{Path: out}
	}
	parent := filepath.Dir(out)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, fmt.Errorf("make %s: %w", parent, err)
	}
	dir, err := os.MkdirTemp(parent, "."+filepath.Base(out)+".tmp-*")
	if err != nil {
		return nil, fmt.Errorf("make a folder in %s: %w", parent, err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // it holds what anybody may read
		return nil, errors.Join(fmt.Errorf("make a folder in %s: %w", parent, err), os.Remove(dir))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", dir, err), os.Remove(dir))
	}
	return &work{out: out, dir: dir, root: root}, nil
}

// unfold writes the fixture of a benchmark into a folder of its own, and returns that.
func (w *work) unfold(f *folder.Folder) (dir string, err error) {
	names, err := f.FixtureFiles()
	if err != nil {
		return "", err
	}
	if len(names) == 0 {
		return "", fmt.Errorf("%s: it has no rows of our own: it needs its data", f.Where)
	}
	if dir, err = os.MkdirTemp("", "skillopt-bench-"); err != nil {
		return "", fmt.Errorf("make a folder for the fixture: %w", err)
	}
	w.extra = append(w.extra, dir)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", fmt.Errorf("open %s: %w", dir, err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for _, name := range names {
		data, err := f.Read(name)
		if err != nil {
			return "", err
		}
		if err := writeNew(root, strings.TrimPrefix(path.Clean(name), folder.DirFixture+"/"), data); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// finish puts the result where it belongs, all at once.
func (w *work) finish() error {
	if err := os.Remove(w.out); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &ThereError{Path: w.out}
	}
	if err := os.Rename(w.dir, w.out); err != nil {
		return fmt.Errorf("make %s: %w", w.out, err)
	}
	w.done = true
	return nil
}

// end removes what was not finished.
func (w *work) end() error {
	errs := []error{w.root.Close()}
	if !w.done {
		errs = append(errs, disk.RemoveAll(w.dir))
	}
	for _, dir := range w.extra {
		errs = append(errs, disk.RemoveAll(dir))
	}
	return errors.Join(errs...)
}
