package adopt

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
)

// Place is where a document lies.
type Place struct {
	ID   string // names the document within its project
	Root string // the folder that the caller vouches for, absolute, without links
	Path string // of the document below Root, with slashes
}

// File returns the document's path.
func (p Place) File() string { return filepath.Join(p.Root, filepath.FromSlash(p.Path)) }

// key returns the document's path as file systems that ignore case and Unicode forms take it.
func (p Place) key() string { return target.FoldName(p.File()) }

// Finder finds a document of a project by its id. It is asked again before anything is written.
type Finder func(project, id string) (Place, error)

// Refused says why nothing was written. It is whose business: the user's.
type Refused struct{ File, Reason string }

func (e *Refused) Error() string { return e.File + ": " + e.Reason }

// ErrorKind says whose business the error is.
func (*Refused) ErrorKind() string { return "bad_input" }

// content is what a document holds at a moment; there is a difference between no file and an empty one.
type content struct {
	there bool
	text  string
	mode  fs.FileMode // permission bits
	info  fs.FileInfo // nil: it is not there
	other bool        // it is there, and no text that this program could have written
}

// sum returns the SHA-256 of what there is, "" for no file.
func (c content) sum() string {
	switch {
	case !c.there:
		return ""
	case c.other:
		return "other"
	}
	return target.Digest(c.text)
}

// spot is a document in its open folder. The folder stays the one that was opened, whatever becomes of its path.
type spot struct {
	dir  *os.Root
	name string
	file string // for messages
}

func (s spot) close() error { return s.dir.Close() }

// at opens the folder of a document. Folders on the way may be neither links nor anything but folders. missing are those
// that are not there, from the outermost on, relative to the root; the spot is not open then.
func at(p Place) (s spot, missing []string, err error) {
	if err := plainRoot(p); err != nil {
		return spot{}, nil, err
	}
	dir, err := os.OpenRoot(p.Root)
	if err != nil {
		return spot{}, nil, &Refused{File: p.File(), Reason: "its folder cannot be opened: " + disk.Reason(err)}
	}
	done := ""
	parts := strings.Split(path.Clean(p.Path), "/")
	for i, part := range parts[:len(parts)-1] {
		inner, err := into(dir, part)
		if errors.Is(err, fs.ErrNotExist) {
			for _, rest := range parts[i : len(parts)-1] {
				done = path.Join(done, rest)
				missing = append(missing, done)
			}
			return spot{}, missing, dir.Close()
		}
		done = path.Join(done, part)
		if err = errors.Join(err, dir.Close()); err != nil {
			return spot{}, nil, &Refused{File: p.File(), Reason: filepath.Join(p.Root, filepath.FromSlash(done)) + " " + disk.Reason(err)}
		}
		dir = inner
	}
	return spot{dir: dir, name: parts[len(parts)-1], file: p.File()}, nil, nil
}

// plainRoot fails for a root that is reached over a link, and for a path that leads out of it.
func plainRoot(p Place) error {
	if !filepath.IsAbs(p.Root) || !filepath.IsLocal(filepath.FromSlash(p.Path)) || path.Clean(p.Path) != p.Path {
		return &Refused{File: p.File(), Reason: "it is no path of a document"}
	}
	real, err := filepath.EvalSymlinks(p.Root)
	if err != nil {
		return &Refused{File: p.File(), Reason: "its folder cannot be opened: " + disk.Reason(err)}
	}
	if real != filepath.Clean(p.Root) {
		return &Refused{File: p.File(), Reason: p.Root + " is reached over a link: it is " + real}
	}
	return nil
}

// errNotPlain says what a name in the way of a document is.
var errNotPlain = errors.New("is a link or no folder; only what lies where it is named is written to")

// into opens a folder of a folder that is no link.
func into(dir *os.Root, name string) (*os.Root, error) {
	info, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errNotPlain
	}
	inner, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	// Between looking and opening it may have been exchanged for a link.
	now, err := inner.Stat(".")
	if err == nil && !os.SameFile(info, now) {
		err = errNotPlain
	}
	if err != nil {
		return nil, errors.Join(err, inner.Close())
	}
	return inner, nil
}

// read reads a file of the folder, which need not be there. What is no regular file of the user's with one name is refused.
func (s spot) read(name string) (content, error) {
	full := filepath.Join(filepath.Dir(s.file), name)
	info, err := s.dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return content{}, nil
	}
	if err != nil {
		return content{}, fmt.Errorf("look at %s: %w", full, err)
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return content{}, &Refused{File: full, Reason: "it is a link; only what lies where it is named is written to"}
	case !info.Mode().IsRegular():
		return content{}, &Refused{File: full, Reason: "it is not a regular file"}
	case info.Size() > target.MaxDocument:
		return content{}, &Refused{File: full, Reason: fmt.Sprintf("it has %d bytes, and %d are allowed", info.Size(), target.MaxDocument)}
	}
	f, err := s.dir.OpenFile(name, os.O_RDONLY|openNow, 0)
	if err != nil {
		return content{}, fmt.Errorf("open %s: %w", full, err)
	}
	data, err := io.ReadAll(io.LimitReader(f, target.MaxDocument+1))
	now, statErr := f.Stat()
	if err = errors.Join(err, statErr, f.Close()); err != nil {
		return content{}, fmt.Errorf("read %s: %w", full, err)
	}
	switch {
	case !os.SameFile(info, now), int64(len(data)) != now.Size():
		return content{}, &Refused{File: full, Reason: "it was written to while it was read; try again"}
	case !utf8.Valid(data):
		return content{}, &Refused{File: full, Reason: "it is not UTF-8"}
	}
	return content{there: true, text: string(data), mode: now.Mode().Perm(), info: now}, nil
}

// peek reads a file as read does, in order to learn whose it is: a file that read refuses is somebody else's.
func (s spot) peek(name string) (content, error) {
	c, err := s.read(name)
	var refused *Refused
	if errors.As(err, &refused) {
		return content{there: true, other: true}, nil
	}
	return c, err
}

// document reads the document itself, by the rules of what may be exchanged.
func (s spot) document() (content, error) {
	if err := s.checkNames(); err != nil {
		return content{}, err
	}
	c, err := s.read(s.name)
	if err != nil || !c.there {
		return c, err
	}
	if links := countLinks(c.info); links > 1 {
		return c, &Refused{File: s.file, Reason: fmt.Sprintf("the file has %d names (hard links), and would be cut off from the others; make it a file of its own", links)}
	}
	if owner, foreign := foreignOwner(c.info); foreign {
		return c, &Refused{File: s.file, Reason: fmt.Sprintf("it belongs to another user (%d)", owner)}
	}
	return c, nil
}

// checkNames fails where the folder has names that differ from the document's by case or Unicode form alone.
func (s spot) checkNames() error {
	names, err := fs.ReadDir(s.dir.FS(), ".")
	if err != nil {
		return fmt.Errorf("list the folder of %s: %w", s.file, err)
	}
	i := slices.IndexFunc(names, func(e fs.DirEntry) bool {
		return e.Name() != s.name && target.FoldName(e.Name()) == target.FoldName(s.name)
	})
	if i >= 0 {
		return &Refused{File: s.file, Reason: fmt.Sprintf("%q next to it differs by case or Unicode form alone; rename one", names[i].Name())}
	}
	return nil
}

// Foreign reports whether a file belongs to another user, where the system reports it.
func Foreign(info fs.FileInfo) bool {
	_, foreign := foreignOwner(info)
	return foreign
}
