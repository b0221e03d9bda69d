package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// This file reads files that somebody else names: on the command line, in
// a config, in a task.
//
// Such a name may lead to anything. So only regular files are opened, and looking
// never waits: neither for the other end of a pipe nor for a device. No more is
// read than the caller allows, whatever the file says of its size, and a context
// ends the reading.

// What is wrong with a file, apart from the errors of the file system.
var (
	ErrNotFile  = errors.New("not a regular file")
	ErrTooLarge = errors.New("too large")
)

// Error is a file that is not read. It wraps ErrNotFile or ErrTooLarge.
type Error struct {
	Path  string
	What  string // "a named pipe"; with ErrTooLarge ""
	Limit int64  // bytes, with ErrTooLarge
	Err   error
}

// Error names the file.
func (e *Error) Error() string { return e.Path + ": " + e.Reason() }

// Reason returns the text of Error without the name of the file.
func (e *Error) Reason() string {
	if errors.Is(e.Err, ErrTooLarge) {
		return fmt.Sprintf("larger than %s, which is the most that is read of it", Size(e.Limit))
	}
	return fmt.Sprintf("it is %s, not a regular file", e.What)
}

func (e *Error) Unwrap() error { return e.Err }

// Size writes a number of bytes for readers: 256 KB, 1 MB.
func Size(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// Reason says what is wrong with a file that the reader knows the name of: the
// error without the path.
func Reason(err error) string {
	var own *Error
	if errors.As(err, &own) {
		return own.Reason()
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// Read returns what the regular file at path holds, at most limit bytes. The
// error is an *Error, an *fs.PathError or the context's.
func Read(ctx context.Context, path string, limit int64) ([]byte, error) {
	f, err := Open(ctx, path, limit)
	if err != nil {
		return nil, err
	}
	return f.all()
}

// ReadIn reads a file as Read does, but within root: no link leads out of it.
func ReadIn(ctx context.Context, root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := OpenIn(ctx, root, name, limit)
	if err != nil {
		return nil, err
	}
	return f.all()
}

// ReadOwn reads a regular file of a folder that the program keeps for itself: a link in its place is no such file. fs.ErrNotExist:
// there is none of the name.
func ReadOwn(ctx context.Context, dir, name string, limit int64) (data []byte, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if err := regular(filepath.Join(dir, name), info); err != nil {
		return nil, err
	}
	return ReadIn(ctx, root, name, limit)
}

// File is a regular file that is read once, from its beginning. It is for one
// goroutine; the one who opened it closes it.
type File struct {
	ctx   context.Context // of the reading, which the caller has begun
	file  *os.File
	path  string
	size  int64 // when it was opened
	limit int64
	left  int64
}

// Open opens the regular file at path, of which at most limit bytes can be read.
func Open(ctx context.Context, path string, limit int64) (*File, error) {
	return open(ctx, path, limit, func() (fs.FileInfo, error) { return os.Stat(path) },
		func() (*os.File, error) { return os.OpenFile(path, os.O_RDONLY|noWait, 0) })
}

// OpenIn opens a file as Open does, but within root: no link leads out of it.
func OpenIn(ctx context.Context, root *os.Root, name string, limit int64) (*File, error) {
	return open(ctx, filepath.Join(root.Name(), name), limit, func() (fs.FileInfo, error) { return root.Stat(name) },
		func() (*os.File, error) { return root.OpenFile(name, os.O_RDONLY|noWait, 0) })
}

// open looks before it opens, since to open a device may already do something, and
// again at what was opened, since the name may lead elsewhere by then.
func open(ctx context.Context, path string, limit int64, look func() (fs.FileInfo, error), get func() (*os.File, error)) (*File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	info, err := look()
	if err != nil {
		return nil, err
	}
	if err := regular(path, info); err != nil {
		return nil, err
	}
	file, err := get()
	if err != nil {
		return nil, err
	}
	if info, err = file.Stat(); err == nil {
		err = regular(path, info)
	}
	// What can be waited for is a stream, whatever its mode says: /proc has some.
	if err == nil && canWait(file) {
		err = &Error{Path: path, What: "a file that waits for data", Err: ErrNotFile}
	}
	if err == nil && info.Size() > limit {
		err = &Error{Path: path, Limit: limit, Err: ErrTooLarge}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &File{ctx: ctx, file: file, path: path, size: info.Size(), limit: limit, left: limit}, nil
}

// regular fails for everything that is no regular file.
func regular(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return &Error{Path: path, What: kind(info.Mode()), Err: ErrNotFile}
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	case m&fs.ModeSymlink != 0:
		return "a link"
	}
	return "no plain file"
}

// Size returns the size at the time of opening, in bytes. A file may grow, and some
// say 0.
func (f *File) Size() int64 { return f.size }

// Read implements io.Reader. It fails with an *Error where more than the limit
// would have to be read.
func (f *File) Read(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	if f.left == 0 {
		return 0, f.checkEnd()
	}
	n, err := f.file.Read(p[:min(int64(len(p)), f.left, chunk)])
	f.left -= int64(n)
	return n, err
}

// chunk is how much is read at once, in bytes, so that an end of the context is
// noticed.
const chunk = 1 << 20

// checkEnd distinguishes the end of a file that has just the size of the limit from a file that
// continues.
func (f *File) checkEnd() error {
	n, err := f.file.Read(make([]byte, 1))
	if n > 0 {
		return &Error{Path: f.path, Limit: f.limit, Err: ErrTooLarge}
	}
	return err
}

// ReadAt implements io.ReaderAt, within the limit and the size at the time of opening. What
// is read is not moved on.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	if off < 0 || off >= f.size {
		return 0, io.EOF
	}
	room := min(f.size, f.limit) - off
	n, err := f.file.ReadAt(p[:min(int64(len(p)), room)], off)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// Tail returns the last n bytes that the file had when it was opened, fewer where it is
// shorter. What is read is not moved on.
func (f *File) Tail(n int64) ([]byte, error) {
	if err := f.ctx.Err(); err != nil {
		return nil, err
	}
	n = min(n, f.size)
	data := make([]byte, n)
	read, err := f.file.ReadAt(data, f.size-n)
	if errors.Is(err, io.EOF) { // it was cut since
		err = nil
	}
	return data[:read], err
}

// Close implements io.Closer.
func (f *File) Close() error { return f.file.Close() }

// all reads and closes.
func (f *File) all() (data []byte, err error) {
	defer func() { err = errors.Join(err, f.Close()) }()
	data = make([]byte, 0, f.size+1) // one more, so that the end is seen without growing
	for {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
