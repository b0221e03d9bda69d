package run

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/userfile"
)

// NotesPath is the file beside the run in dir with what people have written to it.
func NotesPath(dir string) string { return filepath.Clean(dir) + ".notes.json" }

// ReadFile reads a regular file below a folder, at most so many bytes; found is false if there
// is none. No link leads out of the folder. The errors are those of userfile.
func ReadFile(dir, name string, most int64) (data []byte, found bool, err error) {
	root, err := os.OpenRoot(dir)
	if err == nil {
		defer func() { _ = root.Close() }() // it was only read
		data, err = userfile.ReadIn(context.Background(), root, name, most)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return data, err == nil, err
}
