package folder

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// own is a folder of the user's own, as a file system that no link leads out of. It is opened again
// for each look, so that nothing has to be closed.
type own struct {
	ctx  context.Context // of the reading that the caller has begun
	path string
}

func (o own) root() (*os.Root, error) { return os.OpenRoot(o.path) }

// Open implements fs.FS, for folders and files that are listed.
func (o own) Open(name string) (_ fs.File, err error) {
	root, err := o.root()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return root.FS().Open(name)
}

// ReadFile implements fs.ReadFileFS: regular files alone, of at most MaxFile bytes.
func (o own) ReadFile(name string) (_ []byte, err error) {
	root, err := o.root()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return disk.ReadIn(o.ctx, root, name, MaxFile)
}

// Stat implements fs.StatFS: looking opens no file.
func (o own) Stat(name string) (_ fs.FileInfo, err error) {
	root, err := o.root()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return root.Stat(name)
}
