package disk

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Dir returns the folder dir as a file system with the promises of Read: of a
// regular file at most limit bytes are read, a folder can be listed, and anything
// else cannot be opened. Links are followed, also out of the folder.
func Dir(ctx context.Context, dir string, limit int64) fs.FS {
	return folder{FS: os.DirFS(dir), ctx: ctx, dir: dir, limit: limit}
}

type folder struct {
	fs.FS // for what is listed

	ctx   context.Context // of the reading that the caller has begun
	dir   string
	limit int64
}

// Open implements fs.FS.
func (d folder) Open(name string) (fs.File, error) {
	info, err := fs.Stat(d.FS, name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return d.FS.Open(name)
	}
	f, err := Open(d.ctx, filepath.Join(d.dir, filepath.FromSlash(name)), d.limit)
	if err != nil {
		return nil, fault(name, err)
	}
	return opened{f, info}, nil
}

// Stat implements fs.StatFS: looking opens nothing.
func (d folder) Stat(name string) (fs.FileInfo, error) { return fs.Stat(d.FS, name) }

// ReadFile implements fs.ReadFileFS.
func (d folder) ReadFile(name string) ([]byte, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	data, err := Read(d.ctx, filepath.Join(d.dir, filepath.FromSlash(name)), d.limit)
	return data, fault(name, err)
}

// fault names a file as the one who asked for it does.
func fault(name string, err error) error {
	var own *Error
	if errors.As(err, &own) {
		named := *own
		named.Path = name
		return &named
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return &fs.PathError{Op: path.Op, Path: name, Err: path.Err}
	}
	return err
}

// opened is a File as fs has it.
type opened struct {
	*File

	info fs.FileInfo
}

// Stat implements fs.File.
func (o opened) Stat() (fs.FileInfo, error) { return o.info, nil }
