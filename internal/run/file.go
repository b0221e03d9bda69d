package run

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// Files with what people have written to a run: next to it, so that nothing of it is changed. In
// the trash it lies within the run, so that it is there again when the run is moved back,
// whatever its name is then.
const (
	notesSuffix = ".notes.json"
	InnerNotes  = "notes.json"
)

// NotesPath returns the file next to the run in dir with what people have written to it.
func NotesPath(dir string) string { return filepath.Clean(dir) + notesSuffix }

// takeNotes moves the notes that lie next to a run into the run's folder; back moves them out again. What
// is no regular file stays where it is.
func takeNotes(root *os.Root, name string) (back func() error, err error) {
	beside, within := name+notesSuffix, filepath.Join(name, InnerNotes)
	info, err := root.Lstat(beside)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return func() error { return nil }, nil
	}
	if err == nil {
		err = root.Rename(beside, within)
	}
	return func() error { return root.Rename(within, beside) }, err
}

// ReadFile reads a regular file below a folder, up to most bytes; found is false if there
// is none. No link leads out of the folder. The errors are those of userfile, and of one that is
// too large a *SizeError.
func ReadFile(dir, name string, most int64) (data []byte, found bool, err error) {
	root, err := os.OpenRoot(dir)
	if err == nil {
		defer func() { _ = root.Close() }() // it was only read
		data, err = ReadIn(root, name, most)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return data, err == nil, err
}

// ReadIn reads a file in an open folder as ReadFile does. The error is fs.ErrNotExist if there is no such file.
func ReadIn(root *os.Root, name string, most int64) ([]byte, error) {
	data, err := disk.ReadIn(context.Background(), root, name, most)
	if !errors.Is(err, disk.ErrTooLarge) {
		return data, err
	}
	size := most + 1 // it has grown meanwhile
	if info, serr := root.Stat(name); serr == nil {
		size = max(size, info.Size())
	}
	return nil, &SizeError{File: filepath.ToSlash(name), Size: size, Limit: most}
}
