package skill

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// StandardFolders returns the folders of a skill by the Agent Skills standard,
// agentskills.io/specification.
func StandardFolders() []string { return []string{"assets", "references", "scripts"} }

// reader reads the files next to SKILL.md.
type reader struct {
	fsys  fs.FS
	dir   string
	files map[string]file
	total int64 // bytes, of SKILL.md too
}

// all reads the whole directory, or the standard's folders of it.
func (r *reader) all(standard bool) error {
	if !standard {
		return r.walk(r.dir)
	}
	entries, err := fs.ReadDir(r.fsys, r.dir)
	if err != nil {
		return readError(r.dir, err)
	}
	for _, d := range entries {
		name := path.Join(r.dir, d.Name())
		switch {
		case !slices.Contains(StandardFolders(), d.Name()):
		case d.Type()&fs.ModeSymlink != 0:
			return &ReadError{Path: name, Err: ErrLink}
		case d.IsDir():
			if err := r.walk(name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *reader) walk(from string) error {
	return fs.WalkDir(r.fsys, from, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return readError(name, err)
		case name == r.dir, name == path.Join(r.dir, Main):
			return nil
		case r.foreign(name):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			return &ReadError{Path: name, Err: ErrLink}
		case strings.ContainsFunc(name, unicode.IsControl) || !utf8.ValidString(name):
			return &ReadError{Path: name, Err: ErrName}
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			return &ReadError{Path: name, Err: ErrNotFile}
		}
		return r.add(name)
	})
}

// foreign reports whether something lies in the directory that is no part of the skill.
func (r *reader) foreign(name string) bool {
	return foreignName(path.Base(name)) || name == path.Join(r.dir, evals)
}

// evals is the folder in which authors keep what a skill is tried with.
const evals = "evals"

// foreignName reports whether a file or folder of that name is no part of a skill.
func foreignName(name string) bool { return strings.HasPrefix(name, ".") || name == "__pycache__" }

func (r *reader) add(name string) error {
	if len(r.files)+2 > MaxFiles {
		return &ReadError{Path: r.dir, Err: ErrTooMany}
	}
	f, err := r.fsys.Open(name)
	if err != nil {
		return readError(name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return readError(name, err)
	}
	b, err := io.ReadAll(io.LimitReader(f, MaxTotal-r.total+1))
	if err != nil {
		return readError(name, err)
	}
	if r.total += int64(len(b)); r.total > MaxTotal {
		return &ReadError{Path: name, Size: r.total - int64(len(b)) + max(info.Size(), int64(len(b))), Limit: MaxTotal, Err: errTotal}
	}
	relative := name
	if r.dir != "." {
		relative = strings.TrimPrefix(name, r.dir+"/")
	}
	r.files[relative] = file{content: string(b), executable: info.Mode()&0o100 != 0}
	return nil
}

// errTotal is an ErrTooLarge of all files.
var errTotal = fmt.Errorf("with it the files of the skill are %w", ErrTooLarge)

// Content is a file next to SKILL.md, as a model without tools or a program learns of it.
type Content struct {
	Path       string  `json:"path"`
	Bytes      int     `json:"bytes"`
	Executable bool    `json:"executable,omitempty"`
	Text       *string `json:"text,omitempty"` // nil: no text, or there was no room for it
}

// Contents returns the files next to SKILL.md, sorted by path: those that are text with
// their texts, as long as these amount to no more than room bytes in all. One that does
// not fit is left without its text, and a shorter one behind it may fit.
func (s Skill) Contents(room int) []Content {
	var out []Content
	for _, p := range s.Others() {
		text := s.files[p].content
		c := Content{Path: p, Bytes: len(text), Executable: s.Executable(p)}
		if len(text) <= room && isText(text) {
			c.Text = &text
			room -= len(text)
		}
		out = append(out, c)
	}
	return slices.Clip(out)
}

// isText reports whether a content is text to read: UTF-8 without control characters
// that no text has.
func isText(content string) bool {
	return utf8.ValidString(content) && !strings.ContainsFunc(content, func(r rune) bool {
		return unicode.IsControl(r) && !strings.ContainsRune("\t\n\r\f", r)
	})
}
