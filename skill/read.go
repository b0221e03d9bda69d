package skill

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
)

// Why a skill cannot be read, apart from the errors of the file system.
var (
	ErrTooLarge = errors.New("larger than a skill may be")
	ErrNotUTF8  = errors.New("not UTF-8 text")
	ErrNotFile  = errors.New("no regular file")
	ErrNoSkill  = errors.New("the directory has no " + Main)
	ErrLink     = errors.New("a link, which a skill may not hold: put the file itself there")
	ErrTooMany  = errors.New("more files than a skill may have")
	ErrName     = errors.New("a name with control characters")
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
	case errors.Is(e.Err, ErrTooMany):
		return fmt.Sprintf("read skill %s: %v: at most %d are allowed", e.Path, e.Err, MaxFiles)
	case errors.Is(e.Err, ErrNotUTF8):
		return fmt.Sprintf("read skill %s, line %d: %v", e.Path, e.Line, e.Err)
	}
	return fmt.Sprintf("read skill %s: %v", e.Path, e.Err)
}

func (e *ReadError) Unwrap() error { return e.Err }

// Read reads the skill at name. A directory with a SKILL.md is the skill with all that
// lies in it, without names that begin with a dot, __pycache__, and the evals of the
// author, which hold what is asked. The SKILL.md of a directory, named itself, is the
// skill with its scripts, references and assets, and without anything else that lies
// next to it, such as tasks. Any other file is a skill of one document.
//
// The document is at most MaxBytes of UTF-8, and may be a link. Other files are regular
// ones, of any bytes: at most MaxFiles and MaxTotal bytes in all. Of their modes it is
// kept whether the owner may execute them. The error is a *ReadError.
func Read(fsys fs.FS, name string) (Skill, error) {
	document, err := mainFile(fsys, name)
	if err != nil {
		return Skill{}, err
	}
	text, err := readText(fsys, document)
	if err != nil {
		return Skill{}, err
	}
	s := New(text)
	if path.Base(document) != Main {
		return s, nil
	}
	r := reader{fsys: fsys, dir: path.Dir(document), files: map[string]file{}, total: int64(len(text))}
	if err := r.all(document == name); err != nil {
		return Skill{}, err
	}
	s.files = r.files
	return s, nil
}

// ReadDocument reads SKILL.md, or the Markdown file, at name as Read does, and no other
// file.
func ReadDocument(fsys fs.FS, name string) (Skill, error) {
	document, err := mainFile(fsys, name)
	if err != nil {
		return Skill{}, err
	}
	text, err := readText(fsys, document)
	return New(text), err
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
		return "", &ReadError{Path: name, Line: lineNumber(text, at), Err: ErrNotUTF8}
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
