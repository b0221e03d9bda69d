package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

// Bounds of notes.
const (
	MaxNote    = 64 << 10 // bytes of the text
	MaxTags    = 32
	MaxTag     = 64 // characters
	notesFile  = 1  // version of the file
	maxNotes   = 1 << 20
	notesPerms = 0o644
)

// A NotesError says that notes cannot be read or kept as they are.
type NotesError struct {
	Path   string // of the file; "": they are not in one yet
	Reason string
}

func (e *NotesError) Error() string {
	if e.Path == "" {
		return "notes: " + e.Reason
	}
	return fmt.Sprintf("notes %s: %s", e.Path, e.Reason)
}

// ErrorKind says whose business the error is.
func (*NotesError) ErrorKind() string { return string(fault.BadInput) }

// keptNotes is the file.
type keptNotes struct {
	Version int    `json:"version"`
	RunID   string `json:"run_id,omitempty"` // of the run that they are on
	result.Notes
}

// NotesPath returns the file with the notes on the run in dir: next to the run, so that writing
// them changes nothing of it.
func NotesPath(dir string) string { return run.NotesPath(dir) }

// ReadNotes reads the notes on the run in dir; none are there until somebody writes some. Those
// of a run that had the directory's name before are not its own. Of a run that was removed and
// moved back they lie within it. A file that is damaged, too large, of another version or a link
// is a *NotesError.
func ReadNotes(dir string) (result.Notes, error) {
	for _, path := range []string{NotesPath(dir), filepath.Join(dir, run.InnerNotes)} {
		data, found, err := regular(path, maxNotes)
		if err != nil {
			return result.Notes{}, err
		}
		if !found {
			continue
		}
		var kept keptNotes
		if err := run.Decode(filepath.Base(path), data, &kept); err != nil {
			return result.Notes{}, &NotesError{path, fmt.Sprintf("damaged: %v; remove the file, or put back a copy of it", err)}
		}
		if kept.Version != notesFile {
			return result.Notes{}, &NotesError{path, fmt.Sprintf("it has version %d, and this program reads version %d: use the program that wrote it", kept.Version, notesFile)}
		}
		if m, _, err := run.ReadManifest(dir); err == nil && kept.RunID != "" && m.RunID != "" && m.RunID != kept.RunID {
			continue
		}
		return kept.Notes, nil
	}
	return result.Notes{}, nil
}

// regular reads a file that may be missing, and is no link.
func regular(path string, most int64) (data []byte, found bool, err error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("read notes: %w", err)
	case !info.Mode().IsRegular():
		return nil, false, &NotesError{path, "it is a link, or no regular file: remove it"}
	case info.Size() > most:
		return nil, false, &NotesError{path, fmt.Sprintf("larger than %d KiB", most>>10)}
	}
	data, found, err = run.ReadFile(filepath.Dir(path), filepath.Base(path), most)
	if err != nil {
		return nil, false, fmt.Errorf("read notes: %w", err)
	}
	return data, found, nil
}

// WriteNotes replaces the notes on the run in dir by n, atomically; empty
// ones remove the file. It returns what is kept: tags without spaces around them, each once.
// What is too long, or holds what is no text, is a *NotesError, as is a link instead of the
// file, and then nothing is changed. A directory that is no run is a *run.MissingError.
func WriteNotes(dir string, n result.Notes) (result.Notes, error) {
	if info, err := os.Stat(filepath.Join(dir, run.ManifestFile)); err != nil || !info.Mode().IsRegular() {
		return n, &run.MissingError{Dir: dir}
	}
	n, err := checkedNotes(n)
	if err != nil {
		return n, err
	}
	path, within := NotesPath(dir), filepath.Join(dir, run.InnerNotes)
	for _, p := range []string{path, within} {
		if info, err := os.Lstat(p); err == nil && !info.Mode().IsRegular() {
			return n, &NotesError{p, "it is a link, or no regular file: remove it"}
		}
	}
	if n.Text == "" && len(n.Tags) == 0 {
		return n, removeFiles(path, within)
	}
	m, _, err := run.ReadManifest(dir)
	if err != nil {
		m.RunID = "" // it cannot be read: notes may be written to it all the same
	}
	data, err := json.MarshalIndent(keptNotes{notesFile, m.RunID, n}, "", "  ")
	if err != nil {
		return n, fmt.Errorf("encode notes: %w", err)
	}
	if err := disk.WriteFile(path, append(data, '\n'), notesPerms); err != nil {
		return n, err
	}
	return n, removeFiles(within)
}

// removeFiles removes files that may not be there.
func removeFiles(paths ...string) error {
	for _, p := range paths {
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove notes: %w", err)
		}
	}
	return nil
}

// checkedNotes returns notes as they are kept.
func checkedNotes(n result.Notes) (result.Notes, error) {
	fail := func(format string, a ...any) (result.Notes, error) {
		return n, &NotesError{"", fmt.Sprintf(format, a...)}
	}
	if len(n.Text) > MaxNote {
		return fail("the text has %d bytes, at most %d are kept", len(n.Text), MaxNote)
	}
	if !utf8.ValidString(n.Text) {
		return fail("the text is not UTF-8")
	}
	var tags []string
	for _, t := range n.Tags {
		t = strings.TrimSpace(t)
		switch {
		case t == "":
			return fail("a tag is empty")
		case !utf8.ValidString(t) || strings.ContainsFunc(t, func(r rune) bool { return r == ',' || !unicode.IsPrint(r) }):
			return fail("tag %q: commas, line breaks and characters that cannot be seen are not allowed", t)
		case utf8.RuneCountInString(t) > MaxTag:
			return fail("tag %q has %s, at most %d are allowed", t, wording.Plural(utf8.RuneCountInString(t), "character", "characters"), MaxTag)
		}
		if !slices.Contains(tags, t) {
			tags = append(tags, t)
		}
	}
	if len(tags) > MaxTags {
		return fail("%d tags, at most %d are kept", len(tags), MaxTags)
	}
	n.Tags = tags
	return n, nil
}
