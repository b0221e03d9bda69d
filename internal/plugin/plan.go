package plugin

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// Action is what is done to a file.
type Action string

// The actions. A file that is kept was changed since it was installed: removal leaves it.
const (
	Write   Action = "write"
	Replace Action = "replace"
	Add     Action = "add to" // an entry into settings of the host
	TakeOut Action = "take out of"
	Delete  Action = "delete"
	Keep    Action = "keep"
)

// Change is what is done to one file.
type Change struct {
	Action Action `json:"action"`
	Path   string `json:"path"`           // absolute
	Text   string `json:"text,omitempty"` // what is written, added or taken out
	Why    string `json:"why,omitempty"`  // of a file that is kept

	name string // below the root
	data []byte // what the file holds afterwards
}

// Plan is what an installation or a removal does.
type Plan struct {
	Root    string   `json:"root"` // all is below this folder
	Changes []Change `json:"changes"`

	folders []string // to make, or to remove if they are empty: outer ones first
	clear   bool     // it removes
}

// Error is a file that is in the way.
type Error struct{ Path, Why string }

func (e *Error) Error() string { return e.Path + ": " + e.Why }

// receipt is the note of what was installed.
type receipt struct {
	Version string            `json:"version"`
	Args    []string          `json:"args"`
	Files   map[string]string `json:"files"`    // SHA-256 by path below the root
	Folders []string          `json:"folders"`  // that were made, outer ones first
	Entry   string            `json:"entry"`    // text that was put into the settings
	Created bool              `json:"settings"` // the settings were made for it
}

// receiptName is the note, in the plugin's own folder.
const receiptName = "installed.json"

// maxFile bounds what is read of a file, in bytes.
const maxFile = 4 << 20

// state is what is there before anything is done.
type state struct {
	ctx  context.Context
	root *os.Root
	dir  string
	at   agent.Place
	had  receipt
	is   bool // there is a note
	plan *Plan
}

// Install returns what an installation in a host writes. Nothing is written before Apply. The error
// is an *Error if something is in the way.
func (h Host) Install(ctx context.Context, o Options) (p *Plan, err error) {
	s, done, err := h.look(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	if o.Args == nil {
		o.Args = s.had.Args
	}
	now := receipt{Version: o.Version, Args: o.Args, Files: map[string]string{}, Created: s.had.Created}
	want := h.build(s.at, o)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		now.Files[name] = digest(want[name])
		err = errors.Join(err, s.want(name, want[name]))
	}
	err = errors.Join(err, s.addEntry(newServer(o.Args), &now))
	if err != nil {
		return nil, err
	}
	if err := s.drop(func(name string) bool { return want[name] == nil }); err != nil {
		return nil, err
	}
	if now.Folders, err = s.missing(); err != nil {
		return nil, err
	}
	s.plan.folders = now.Folders
	now.Folders = slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.had.Folders, now.Folders))))
	return s.plan, s.note(now)
}

// Remove returns what a removal does. The error is an *Error if nothing is installed.
func (h Host) Remove(ctx context.Context, o Options) (p *Plan, err error) {
	s, done, err := h.look(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	if !s.is {
		return nil, &Error{Path: filepath.Join(s.dir, own(s.at)), Why: "no plugin is installed there; `skillopt plugin list` shows where one is"}
	}
	s.plan.clear, s.plan.folders = true, s.had.Folders
	if err := errors.Join(s.drop(func(string) bool { return true }), s.takeOutEntry()); err != nil {
		return nil, err
	}
	for _, name := range []string{newsName, receiptName} {
		if _, there, err := s.read(path.Join(own(s.at), name)); err != nil {
			return nil, err
		} else if there {
			s.change(Delete, path.Join(own(s.at), name), nil, "")
		}
	}
	return s.plan, nil
}

// Installed returns the version of the plugin that is installed, "" if none is.
func (h Host) Installed(ctx context.Context, o Options) string {
	s, done, err := h.look(ctx, o)
	if err != nil {
		return ""
	}
	defer func() { _ = done() }() // it was only read
	if s.is {
		return cmp.Or(s.had.Version, "unknown")
	}
	return ""
}

// look opens what is there. done closes it.
func (h Host) look(ctx context.Context, o Options) (s *state, done func() error, err error) {
	dir, at, err := h.place(o)
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("open the folder of %s: %w", h.Name, err)
	}
	s = &state{ctx: ctx, root: root, dir: dir, at: at, plan: &Plan{Root: dir, Changes: []Change{}}}
	data, there, err := s.read(path.Join(own(at), receiptName))
	if err == nil && there {
		if s.is = true; json.Unmarshal(data, &s.had) != nil {
			err = s.refuse(path.Join(own(at), receiptName), "it is not the note that an installation writes; delete it, and what it stands with, by hand")
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, root.Close())
	}
	return s, root.Close, nil
}

func (s *state) refuse(name, why string) error {
	return &Error{Path: filepath.Join(s.dir, filepath.FromSlash(name)), Why: why}
}

// read returns what a file holds. A link on the way to it is refused.
func (s *state) read(name string) (data []byte, there bool, err error) {
	for at := "."; ; {
		rest := strings.TrimPrefix(strings.TrimPrefix(name, at), "/")
		if at == "." {
			rest = name
		}
		if rest == "" {
			break
		}
		first, _, _ := strings.Cut(rest, "/")
		at = path.Join(at, first)
		switch info, err := s.root.Lstat(at); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, false, nil
		case err != nil:
			return nil, false, fmt.Errorf("look for %s: %w", filepath.Join(s.dir, at), err)
		case info.Mode()&fs.ModeSymlink != 0:
			return nil, false, s.refuse(at, "it is a link, and nothing is written over links")
		case at != name && !info.IsDir():
			return nil, false, s.refuse(at, "it is a file, and a folder is needed there")
		}
	}
	data, err = disk.ReadIn(s.ctx, s.root, name, maxFile)
	var odd *disk.Error
	if errors.As(err, &odd) {
		return nil, false, s.refuse(name, odd.Reason())
	}
	return data, err == nil, err
}

func (s *state) change(a Action, name string, data []byte, text string) {
	c := Change{Action: a, Path: filepath.Join(s.dir, filepath.FromSlash(name)), Text: text, name: name, data: data}
	s.plan.Changes = append(s.plan.Changes, c)
}

// want plans a file of ours.
func (s *state) want(name string, data []byte) error {
	is, there, err := s.read(name)
	switch {
	case err != nil:
		return err
	case !there:
		s.change(Write, name, data, string(data))
	case digest(is) == digest(data):
	case digest(is) == s.had.Files[name]:
		s.change(Replace, name, data, string(data))
	case s.had.Files[name] != "":
		return s.refuse(name, "it was changed since it was installed; move it away, or take your change back")
	default:
		return s.refuse(name, "it is there already, and it is not of this plugin")
	}
	return nil
}

// drop plans that files of the last installation go, those that are still as they were written.
func (s *state) drop(goes func(name string) bool) error {
	for _, name := range slices.Sorted(maps.Keys(s.had.Files)) {
		if !goes(name) || !fs.ValidPath(name) || !strings.HasPrefix(path.Join("x", name), path.Join("x", s.at.Folder)+"/") {
			continue // a note that somebody else wrote reaches no other files
		}
		switch is, there, err := s.read(name); {
		case err != nil:
			return err
		case there && digest(is) == s.had.Files[name]:
			s.change(Delete, name, nil, "")
		case there:
			s.keep(name, "it was changed since it was installed")
		}
	}
	return nil
}

func (s *state) keep(name, why string) {
	s.change(Keep, name, nil, "")
	s.plan.Changes[len(s.plan.Changes)-1].Why = why
}

// settings returns the name and the bytes of the host's settings, and our entry in them.
func (s *state) settings() (name string, data []byte, there bool, e map[string]any, err error) {
	name = path.Join(s.at.Folder, s.at.Settings)
	if data, there, err = s.read(name); err != nil {
		return name, nil, there, nil, err
	}
	if e, err = entry(name, data); err != nil {
		err = s.refuse(name, fmt.Sprintf("it cannot be read, and is left as it is: %v", err))
	}
	return name, data, there, e, err
}

// addEntry plans the entry in the host's settings. One that the user has changed since stays.
func (s *state) addEntry(own server, now *receipt) error {
	if s.at.Settings == "" {
		return nil
	}
	name, data, there, e, err := s.settings()
	if err != nil {
		return err
	}
	base, ours := data, false
	if s.had.Entry != "" && e != nil {
		base, ours = newServer(s.had.Args).cut(name, data, s.had.Entry)
	}
	switch {
	case e != nil && own.starts(e):
		now.Entry = s.had.Entry
		return nil
	case e != nil && s.had.Entry != "" && !ours:
		now.Entry = s.had.Entry
		s.keep(name, "its entry skillopt was changed since it was installed")
		return nil
	case e != nil && !ours:
		return s.refuse(name, "it has a server skillopt already, which is not of this plugin")
	}
	out, text, err := own.insert(name, base)
	if err != nil {
		return s.refuse(name, fmt.Sprintf("%v; add this by hand:\n%s", err, strings.TrimSpace(text)))
	}
	now.Entry, now.Created = text, now.Created || !there
	s.change(Add, name, out, text)
	return nil
}

// takeOutEntry plans that the entry goes, and the settings if there is nothing else in them and they
// were made for it.
func (s *state) takeOutEntry() error {
	if s.had.Entry == "" || s.at.Settings == "" {
		return nil
	}
	name, data, there, e, err := s.settings()
	if err != nil || !there || e == nil {
		return err
	}
	switch out, ok := newServer(s.had.Args).cut(name, data, s.had.Entry); {
	case !ok:
		s.keep(name, "its entry skillopt was changed since it was installed")
	case s.had.Created && isEmpty(name, out):
		s.change(Delete, name, nil, "")
	default:
		s.change(TakeOut, name, out, s.had.Entry)
	}
	return nil
}

// missing returns the folders that the plan needs and that are not there, outer ones first.
func (s *state) missing() ([]string, error) {
	need := map[string]bool{}
	for _, c := range s.plan.Changes {
		for dir := path.Dir(c.name); c.data != nil && dir != "."; dir = path.Dir(dir) {
			if _, err := s.root.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
				need[dir] = true
			} else if err != nil {
				return nil, fmt.Errorf("look for %s: %w", dir, err)
			}
		}
	}
	return slices.Sorted(maps.Keys(need)), nil
}

// note plans the note. It is written first, so that an installation that was cut off can be removed.
func (s *state) note(now receipt) error {
	name, data := path.Join(own(s.at), receiptName), indented(now)
	is, there, err := s.read(name)
	if err != nil || there && digest(is) == digest(data) {
		return err
	}
	s.change(Write, name, data, string(data))
	last := len(s.plan.Changes) - 1
	if there {
		s.plan.Changes[last].Action = Replace
	}
	s.plan.Changes = slices.Concat(s.plan.Changes[last:], s.plan.Changes[:last])
	return nil
}

// Empty reports whether there is nothing to do.
func (p *Plan) Empty() bool {
	return !slices.ContainsFunc(p.Changes, func(c Change) bool { return c.Action != Keep })
}

// Apply carries the plan out. Each file is written whole or not at all.
func (p *Plan) Apply() (err error) {
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for _, dir := range p.folders {
		if p.clear {
			break
		}
		if err := root.Mkdir(filepath.FromSlash(dir), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make folder: %w", err)
		}
	}
	for _, c := range p.Changes {
		switch c.Action {
		case Keep:
		case Delete:
			err = root.Remove(c.name)
		default:
			err = replace(root, c.name, c.data)
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", c.Action, c.Path, err)
		}
	}
	if p.clear {
		for _, dir := range slices.Backward(p.folders) {
			_ = root.Remove(filepath.FromSlash(dir)) // it stays where others are in it
		}
	}
	return nil
}

// replace writes a file next to its place and moves it there, with the permissions of what was there.
func replace(root *os.Root, name string, data []byte) error {
	mode := fs.FileMode(0o644)
	if info, err := root.Lstat(name); err == nil {
		mode = info.Mode().Perm()
	}
	next := name + ".skillopt-new"
	_ = root.Remove(next) // of an installation that was cut off
	f, err := root.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = root.Rename(next, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(next))
	}
	return nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
