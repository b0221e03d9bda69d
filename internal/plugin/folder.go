package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// maxFile bounds what is read of a file, in bytes.
const maxFile = 4 << 20

// state is what is there before anything is done.
type state struct {
	ctx   context.Context
	root  *os.Root
	at    agent.Place
	noted []byte // the note as it is, nil: there is none
	had   note
	plan  *Plan
}

// look opens what is there, which the caller closes.
func (h Host) look(ctx context.Context, o Options) (*state, error) {
	dir, at, err := h.place(o)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder of %s: %w", h.Name, err)
	}
	s := &state{ctx: ctx, root: root, at: at, plan: &Plan{Root: dir, Changes: []Change{}}}
	name := path.Join(own(at), noteName)
	if s.noted, _, err = s.read(name); err == nil && s.noted != nil && json.Unmarshal(s.noted, &s.had) != nil {
		err = s.refuse(name, "it is not the note that an installation writes; delete the plugin by hand")
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *state) close() { _ = s.root.Close() } // it was only read

func (s *state) refuse(name, why string) error {
	return &Error{Path: s.change(Keep, name, nil, "").Path, Why: why}
}

// read returns what a file holds. A link on the way to it is refused.
func (s *state) read(name string) (data []byte, there bool, err error) {
	parts := strings.Split(name, "/")
	for i := range parts {
		at := path.Join(parts[:i+1]...)
		switch info, err := s.root.Lstat(at); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, false, nil
		case err != nil:
			return nil, false, fmt.Errorf("look for %s: %w", at, err)
		case info.Mode()&fs.ModeSymlink != 0:
			return nil, false, s.refuse(at, "it is a link, and nothing is written over links")
		case i < len(parts)-1 && !info.IsDir():
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

// LastEnd returns when a session last ended in a host that has the plugin for the user; zero: none is known.
func LastEnd(o Options) (last time.Time) {
	o.Project = ""
	for _, h := range Hosts() {
		root, at, err := h.place(o)
		if err != nil {
			continue
		}
		info, err := os.Stat(filepath.Join(root, filepath.FromSlash(own(at)), endedName))
		if err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
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

// Apply carries the plan out. Each file is written whole or not at all.
func (p *Plan) Apply() (err error) {
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for _, dir := range p.needed {
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
			mode := fs.FileMode(0o644)
			if info, err := root.Lstat(c.name); err == nil {
				mode = info.Mode().Perm()
			}
			err = disk.WriteIn(root, c.name, c.data, mode)
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", c.Action, c.Path, err)
		}
	}
	for _, dir := range slices.Backward(p.unneeded) {
		if info, err := root.Lstat(filepath.FromSlash(dir)); err == nil && info.IsDir() {
			_ = root.Remove(filepath.FromSlash(dir)) // it stays where others are in it
		}
	}
	return nil
}
