package transcript

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// Source reads the stores of one agent. Its methods are safe for concurrent use.
type Source interface {
	// Name is the source's name, such as claude: lower case, fixed for ever.
	Name() string
	// Stores finds the stores. A folder that is not there has none; one that cannot be
	// listed is an error, returned together with what was found elsewhere.
	Stores(ctx context.Context, places Places) ([]Store, error)
	// Read hands the sessions of a store to r. What is wrong with a part of it is reported to r
	// and left out; the error is about the store as a whole.
	Read(ctx context.Context, s Store, r *Reading) error
}

// Store is a file in which a source keeps sessions: one session, or a database of many.
type Store struct {
	Source string
	Root   string   // folder that no link leads out of
	Name   string   // the file, relative to Root, with slashes
	Beside []string // files that belong to it, relative to Root: the log of a database
	Note   string   // what the source knows of it from elsewhere, such as the project; the mark has it
}

// Path returns the path of the store's file.
func (s Store) Path() string { return filepath.Join(s.Root, filepath.FromSlash(s.Name)) }

// Places says where agents keep their stores.
type Places struct {
	Home string // of the user
	OS   string // as runtime.GOOS
	// Env reads a variable of the environment; "" where it is not set.
	Env func(name string) string
	// Given are the places that the user named, by source: folders like the agent's own, and for
	// jsonl also a single file.
	Given map[string]string
	// Projects are folders whose sessions are asked for: an agent may name one in a way that only
	// one who knows the folder can read.
	Projects []string
}

// data returns the folder for data of programs, by the rules of the system.
func (p Places) data() string {
	switch p.OS {
	case "windows":
		return first(p.Env("LOCALAPPDATA"), filepath.Join(p.Home, "AppData", "Local"))
	case "darwin", "linux":
	}
	return first(p.Env("XDG_DATA_HOME"), filepath.Join(p.Home, ".local", "share"))
}

// config returns the folder for settings of programs, by the rules of the system.
func (p Places) config() string {
	switch p.OS {
	case "windows":
		return first(p.Env("APPDATA"), filepath.Join(p.Home, "AppData", "Roaming"))
	case "darwin":
		return filepath.Join(p.Home, "Library", "Application Support")
	}
	return first(p.Env("XDG_CONFIG_HOME"), filepath.Join(p.Home, ".config"))
}

// root returns the folder of a source: the one that the user named, that of a variable, or the
// usual one below the home folder.
func (p Places) root(source, variable string, usual ...string) string {
	env := ""
	if variable != "" {
		env = p.Env(variable)
	}
	return first(p.Given[source], env, filepath.Join(append([]string{p.Home}, usual...)...))
}

// files finds the regular files below dir, relative to root, that keep takes, in the order of
// their names. Links below dir are not followed; dir itself may be one, as where a user keeps
// sessions on another disk. A folder that is not there has none.
func files(ctx context.Context, source, root, dir string, keep func(name string) bool) ([]Store, error) {
	root, dir, err := led(root, dir)
	if err != nil {
		return nil, fmt.Errorf("list sessions of %s: %w", source, err)
	}
	r, err := os.OpenRoot(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list sessions of %s: %w", source, err)
	}
	defer func() { _ = r.Close() }() // it was only read
	var out []Store
	var bad error
	err = fs.WalkDir(r.FS(), filepath.ToSlash(dir), func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			bad = errors.Join(bad, fmt.Errorf("list sessions of %s: %s: %w", source, filepath.Join(root, name), err))
			return nil
		case d.Type().IsRegular() && keep(name):
			out = append(out, Store{Source: source, Root: root, Name: name})
		}
		return nil
	})
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, errors.Join(err, bad)
}

// led returns the place that dir below root leads to, where it is a link. It also returns the place
// of a single file that the user named as the root.
func led(root, dir string) (string, string, error) {
	at := filepath.Join(root, filepath.FromSlash(dir))
	info, err := os.Lstat(at)
	if err == nil && dir == "." && info.Mode().IsRegular() {
		return filepath.Dir(at), filepath.Base(at), nil
	}
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return root, dir, nil // what is wrong with it is found when it is listed
	}
	to, err := filepath.EvalSymlinks(at)
	if err != nil {
		return root, dir, fmt.Errorf("%s is a link that leads nowhere: %w", at, err)
	}
	return filepath.Dir(to), filepath.Base(to), nil
}

// Mark shows whether a store is as it was when it was read.
type Mark struct {
	Size  int64  `json:"size"` // bytes, of the file and of those next to it
	Inode uint64 `json:"inode"`
	Time  int64  `json:"time"` // of the last change, in nanoseconds
	Tail  string `json:"tail"` // digest of the last tailBytes of each, of their names, and of the store's note
}

// tailBytes is how much of the end of a file its mark looks at.
const tailBytes = 4 << 10

// Peek makes the mark of a store as it is now: it reads the ends of its files alone.
func Peek(ctx context.Context, s Store) (Mark, error) {
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return Mark{}, err
	}
	defer func() { _ = root.Close() }() // it was only read
	return peek(ctx, root, s)
}

func peek(ctx context.Context, root *os.Root, s Store) (Mark, error) {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%q %q\n", s.Beside, s.Note) // a hash takes all
	var m Mark
	for i, name := range append([]string{s.Name}, s.Beside...) {
		info, err := root.Lstat(name)
		if i > 0 && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Mark{}, err
		}
		m.Size += info.Size()
		m.Time = max(m.Time, info.ModTime().UnixNano())
		if i == 0 {
			m.Inode = inode(info)
		}
		tail, err := readTail(ctx, root, name)
		if err != nil {
			return Mark{}, err
		}
		h.Write(tail)
	}
	m.Tail = hex.EncodeToString(h.Sum(nil)[:12])
	return m, nil
}

func readTail(ctx context.Context, root *os.Root, name string) ([]byte, error) {
	f, err := disk.OpenIn(ctx, root, name, maxStore)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return f.Tail(tailBytes)
}

// maxStore is the size above which a store is not read.
const maxStore = 64 << 30

// Problem is something in a store that was left out.
type Problem struct {
	Path string `json:"file"`
	Line int    `json:"line,omitempty"` // from 1; 0: not of a line
	What string `json:"message"`
}

// String names the place.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.Path + ": " + p.What
	}
	return fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.What)
}

// maxProblems is how many problems of one store are reported one by one.
const maxProblems = 20

// Reading is one reading of one store: what to read and who gets it. Make one for each store.
type Reading struct {
	Clean Cleaner
	// Wanted says whether sessions of a project are to be read; nil: all are. Of others
	// nothing but their place and origin is looked at where the store allows it.
	Wanted func(project string) bool
	// Each is handed each session. An error ends the reading.
	Each func(Transcript) error
	// Temp is a private folder for copies of databases.
	Temp string
	// Lines asks for [Turn.Lines]. It makes a reading slower by half and more: what tools printed
	// of files, most of what a store holds, is read then, and passed over otherwise. All else that
	// is reported of a turn is the same.
	Lines bool

	// The results.
	Mark     Mark
	Bytes    int64 // that were read
	Problems []Problem
	More     int // problems beyond those listed
	Unwanted int // sessions of projects that no one wants
	Nowhere  int // sessions whose store does not say where they were
}

// Builder begins a transcript.
func (r *Reading) Builder(source string) *Builder {
	return &Builder{clean: r.Clean, t: Transcript{Source: source, Origin: Interactive, Turns: []Turn{}}, ids: map[string]int{}, lines: r.Lines, files: ledger{held: map[string]*held{}}, names: map[string]string{}}
}

// wantsSession reports whether the session that b has begun is one of a project that is to be read.
// Without a project it is not known yet.
func (r *Reading) wantsSession(b *Builder) bool {
	return r.Wanted == nil || b.t.Project == "" || r.Wanted(b.t.Project)
}

// Done ends a transcript and passes it on, unless no one wants it or the user said nothing.
func (r *Reading) Done(b *Builder) error {
	t := b.transcript()
	switch {
	case t.ID == "" || t.Project == "" && len(t.Turns) == 0:
		return nil
	case t.Project == "" && r.Wanted != nil:
		r.Nowhere++
		return nil
	case r.Wanted != nil && !r.Wanted(t.Project):
		r.Unwanted++
		return nil
	}
	if b.lost > 0 {
		r.problem(Problem{What: fmt.Sprintf("session %s has more than %d turns: its first %d are left out", t.ID, MaxTurns, b.lost)})
	}
	return r.Each(t)
}

// problem notes what was left out, without quoting it.
func (r *Reading) problem(p Problem) {
	if len(r.Problems) >= maxProblems {
		r.More++
		return
	}
	r.Problems = append(r.Problems, p)
}
