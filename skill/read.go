package skill

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
)

// Why a skill cannot be read, besides the errors of the file system.
var (
	ErrTooLarge = errors.New("larger than a skill may be")
	ErrNotUTF8  = errors.New("not UTF-8 text")
	ErrNotFile  = errors.New("no regular file")
	ErrNoSkill  = errors.New("the directory has no " + Main)
)

// ReadError says which file of a skill could not be read and why. Err is, or
// wraps, one of the errors above or of io/fs.
type ReadError struct {
	Path  string // slash-separated, as in the file system given to Read
	Size  int64  // bytes, with ErrTooLarge
	Limit int    // bytes, with ErrTooLarge
	Line  int    // 1-based, with ErrNotUTF8
	Err   error
}

func (e *ReadError) Error() string {
	switch {
	case errors.Is(e.Err, ErrTooLarge):
		return fmt.Sprintf("read skill %s: %v: it has %d bytes, at most %d bytes are allowed", e.Path, e.Err, e.Size, e.Limit)
	case errors.Is(e.Err, ErrNotUTF8):
		return fmt.Sprintf("read skill %s, line %d: %v", e.Path, e.Line, e.Err)
	}
	return fmt.Sprintf("read skill %s: %v", e.Path, e.Err)
}

func (e *ReadError) Unwrap() error { return e.Err }

// Read reads the skill at name: a Markdown file, or a directory with a
// SKILL.md. Of a directory only SKILL.md is read for now. The document is at
// most MaxBytes of UTF-8. The error is a *ReadError.
func Read(fsys fs.FS, name string) (Skill, error) {
	file, err := mainFile(fsys, name)
	if err != nil {
		return Skill{}, err
	}
	text, err := readText(fsys, file)
	if err != nil {
		return Skill{}, err
	}
	return New(text), nil
}

// mainFile returns the path of the document of the skill at name.
func mainFile(fsys fs.FS, name string) (string, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return "", readError(name, err)
	}
	if info.Mode().IsRegular() {
		return name, nil
	}
	if !info.IsDir() { // opening a pipe would wait for its other end
		return "", &ReadError{Path: name, Err: ErrNotFile}
	}
	file := path.Join(name, Main)
	info, err = fs.Stat(fsys, file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", &ReadError{Path: name, Err: ErrNoSkill}
	}
	if err != nil {
		return "", readError(file, err)
	}
	if !info.Mode().IsRegular() {
		return "", &ReadError{Path: file, Err: ErrNotFile}
	}
	return file, nil
}

func readText(fsys fs.FS, name string) (string, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return "", readError(name, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return "", readError(name, err)
	}
	if len(b) > MaxBytes {
		size := int64(len(b)) // at least
		if info, err := f.Stat(); err == nil {
			size = max(size, info.Size())
		}
		return "", &ReadError{Path: name, Size: size, Limit: MaxBytes, Err: ErrTooLarge}
	}
	text := string(b)
	if at := invalidUTF8(text); at >= 0 {
		return "", &ReadError{Path: name, Line: lineOf(text, at), Err: ErrNotUTF8}
	}
	return text, nil
}

// readError names the file once: errors of io/fs carry the path themselves.
func readError(name string, err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return &ReadError{Path: name, Err: err}
}
