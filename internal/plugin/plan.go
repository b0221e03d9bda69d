package plugin

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Change is what is done to one file.
type Change struct {
	Action Action `json:"action"`
	Path   string `json:"path"`           // absolute
	Text   string `json:"text,omitempty"` // what is written or added
	Why    string `json:"why,omitempty"`  // it is kept

	name string // below the root
	data []byte // what the file holds afterwards
}

// Action is what is done to a file.
type Action string

// The actions. A file that is kept was changed since it was installed.
const (
	Write   Action = "write"
	Replace Action = "replace"
	Add     Action = "add to" // an entry to settings of the host
	TakeOut Action = "take out of"
	Delete  Action = "delete"
	Keep    Action = "keep"
)

// Plan is what an installation or a removal does.
type Plan struct {
	Root    string   `json:"root"` // all is below this folder
	Changes []Change `json:"changes"`

	needed, unneeded []string // folders to make, and to remove if they are empty: outer ones first
}

// Error is a file that is in the way.
type Error struct{ Path, Why string }

func (e *Error) Error() string { return e.Path + ": " + e.Why }

// note says what was installed. It is in the plugin's own folder.
type note struct {
	Version string            `json:"version"`
	Args    []string          `json:"args"`
	Files   map[string]string `json:"files"`   // SHA-256 by path below the root
	Folders []string          `json:"folders"` // that were made, outer ones first
	Entry   string            `json:"entry"`   // text that was added to the settings
	Created bool              `json:"created"` // the settings were made for it
}

const noteName = "installed.json"

// changed is why something stays, or is in the way.
const changed = "it was changed since it was installed"

// Install returns what an installation in a host writes. Nothing is written before Apply. The error
// is an *Error if something is in the way.
func (h Host) Install(ctx context.Context, o Options) (*Plan, error) {
	s, err := h.look(ctx, o)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if o.Args == nil {
		o.Args = s.had.Args
	}
	now := note{Version: o.Version, Args: o.Args, Files: map[string]string{}, Created: s.had.Created}
	want := h.build(s.at, o)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		now.Files[name] = digest(want[name])
		err = errors.Join(err, s.write(name, want[name]))
	}
	err = errors.Join(err, s.addEntry(newServer(o.Args), &now), s.drop(want))
	if err != nil {
		return nil, err
	}
	s.plan.needed = s.newFolders()
	now.Folders = slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.had.Folders, s.plan.needed))))
	if data := toJSON(now); !bytes.Equal(data, s.noted) {
		// First, so that an installation that is cut off can be removed.
		s.plan.Changes = slices.Insert(s.plan.Changes, 0, s.change(Write, path.Join(own(s.at), noteName), data, string(data)))
	}
	return s.plan, nil
}

// Remove returns what a removal does. The error is an *Error if nothing is installed.
func (h Host) Remove(ctx context.Context, o Options) (*Plan, error) {
	s, err := h.look(ctx, o)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if s.noted == nil {
		return nil, s.refuse(own(s.at), "no plugin is installed there; `skillopt plugin list` shows where one is")
	}
	s.plan.unneeded = s.had.Folders
	if err := errors.Join(s.drop(nil), s.takeOutEntry()); err != nil {
		return nil, err
	}
	for _, name := range []string{path.Join(own(s.at), endedName), path.Join(own(s.at), noteName)} {
		if _, there, err := s.read(name); err != nil {
			return nil, err
		} else if there {
			s.plan.Changes = append(s.plan.Changes, s.change(Delete, name, nil, ""))
		}
	}
	return s.plan, nil
}

// Version returns the version of the plugin that is installed, "" if none is.
func (h Host) Version(ctx context.Context, o Options) string {
	s, err := h.look(ctx, o)
	if err != nil {
		return ""
	}
	defer s.close()
	if s.noted == nil {
		return ""
	}
	return cmp.Or(s.had.Version, "unknown")
}

// write plans a file of ours.
func (s *state) write(name string, data []byte) error {
	is, there, err := s.read(name)
	action := Write
	switch had := s.had.Files[name]; {
	case err != nil:
		return err
	case bytes.Equal(is, data) && there:
		return nil
	case there && digest(is) == had:
		action = Replace
	case there && had != "":
		return s.refuse(name, changed+"; move it away, or take the change back")
	case there:
		return s.refuse(name, "it is there already, and it is not of this plugin")
	}
	s.plan.Changes = append(s.plan.Changes, s.change(action, name, data, string(data)))
	return nil
}

// drop plans that files of the last installation go that are still as they were written, but for those
// that are wanted.
func (s *state) drop(wanted map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(s.had.Files)) {
		inside := fs.ValidPath(name) && (s.at.Folder == "." || strings.HasPrefix(name, s.at.Folder+"/"))
		if wanted[name] != nil || !inside { // a note that somebody else wrote reaches no other files
			continue
		}
		switch is, there, err := s.read(name); {
		case err != nil:
			return err
		case there && digest(is) == s.had.Files[name]:
			s.plan.Changes = append(s.plan.Changes, s.change(Delete, name, nil, ""))
		case there:
			s.keep(name, changed)
		}
	}
	return nil
}

// addEntry plans the entry in the host's settings. One that the user has changed since stays.
func (s *state) addEntry(server server, now *note) error {
	if s.at.Settings == "" {
		return nil
	}
	name, data, there, e, err := s.settings()
	if err != nil {
		return err
	}
	now.Entry = s.had.Entry
	if e != nil {
		rest, ours := newServer(s.had.Args).cut(name, data, s.had.Entry)
		switch {
		case server.starts(name, e): // of the last installation, or of the user
			return nil
		case s.had.Entry == "":
			return s.refuse(name, "it has a server skillopt already, which is not of this plugin")
		case !ours:
			s.keep(name, "its entry skillopt was changed since it was installed")
			return nil
		}
		data = rest
	}
	out, text, err := server.insert(name, data)
	if err != nil {
		return s.refuse(name, fmt.Sprintf("%v; add this by hand:\n%s", err, strings.TrimSpace(text)))
	}
	now.Entry, now.Created = text, now.Created || !there
	s.plan.Changes = append(s.plan.Changes, s.change(Add, name, out, text))
	return nil
}

// takeOutEntry plans that the entry goes, and the settings too if they were made for it and have nothing
// else.
func (s *state) takeOutEntry() error {
	if s.at.Settings == "" || s.had.Entry == "" {
		return nil
	}
	name, data, _, e, err := s.settings()
	if err != nil || e == nil {
		return err
	}
	switch out, ok := newServer(s.had.Args).cut(name, data, s.had.Entry); {
	case !ok:
		s.keep(name, "its entry skillopt was changed since it was installed")
	case s.had.Created && isEmpty(name, out):
		s.plan.Changes = append(s.plan.Changes, s.change(Delete, name, nil, ""))
	default:
		s.plan.Changes = append(s.plan.Changes, s.change(TakeOut, name, out, ""))
	}
	return nil
}

// newFolders returns the folders that the plan needs and that are not there, outer ones first.
func (s *state) newFolders() []string {
	need := map[string]bool{}
	for _, c := range s.plan.Changes {
		for dir := path.Dir(c.name); c.data != nil && dir != "."; dir = path.Dir(dir) {
			if _, err := s.root.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
				need[dir] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(need))
}

func (s *state) change(a Action, name string, data []byte, text string) Change {
	return Change{Action: a, Path: filepath.Join(s.plan.Root, filepath.FromSlash(name)), Text: text, name: name, data: data}
}

func (s *state) keep(name, why string) {
	c := s.change(Keep, name, nil, "")
	c.Why = why
	s.plan.Changes = append(s.plan.Changes, c)
}

// Empty reports whether there is nothing to do.
func (p *Plan) Empty() bool {
	return !slices.ContainsFunc(p.Changes, func(c Change) bool { return c.Action != Keep })
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
