package timer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// systemd are timers of the manager of the user.
type systemd struct{ h Host }

func (s systemd) timer(id string) string { return prefix + id + ".timer" }

func (s systemd) Install(ctx context.Context, e Entry) error {
	files, err := Text(Systemd, e, s.h.Folders)
	if err != nil {
		return err
	}
	undo, err := write(files, e.ID)
	if err != nil {
		return err
	}
	if err := s.take(ctx, e.ID, files); err != nil {
		// What could not be taken up is not left lying about.
		err = errors.Join(err, undo())
		_, _ = s.h.run(ctx, nil, "systemctl", "--user", "daemon-reload") // what failed before is returned
		return err
	}
	return nil
}

// take has the units verified, if systemd can do so, and the manager take them up.
func (s systemd) take(ctx context.Context, id string, files []File) error {
	if err := works(ctx, Systemd, s.h); err != nil {
		return err
	}
	argv := []string{"systemd-analyze", "--user", "verify"}
	for _, f := range files {
		argv = append(argv, f.Path)
	}
	var program *ProgramError
	// It may find fault with other units too, which is not ours to say.
	if _, err := s.h.run(ctx, nil, argv...); err != nil && (!errors.As(err, &program) || strings.Contains(program.Said, prefix+id+".")) {
		return err
	}
	for _, argv := range [][]string{{"daemon-reload"}, {"enable", s.timer(id)}, {"restart", s.timer(id)}, {"is-active", "--quiet", s.timer(id)}} {
		if _, err := s.h.run(ctx, nil, append([]string{"systemctl", "--user"}, argv...)...); err != nil {
			return err
		}
	}
	return nil
}

func (s systemd) Remove(ctx context.Context, id string) (bool, error) {
	f := s.h.Folders
	names := []string{f.unit(id, "timer"), f.unit(id, "service")}
	for _, name := range names {
		if _, err := own(name, id); err != nil {
			return false, err
		}
	}
	names = append(names, f.wants(id), f.stamp(id))
	there := slices.ContainsFunc(names, func(name string) bool { _, err := os.Lstat(name); return err == nil })
	if !there {
		return false, nil
	}
	// Without a manager the files go all the same: that is all that there is then.
	_, asked := s.h.run(ctx, nil, "systemctl", "--user", "disable", "--now", s.timer(id))
	var err error
	for _, name := range names {
		err = errors.Join(err, remove(name))
	}
	if asked == nil {
		_, asked = s.h.run(ctx, nil, "systemctl", "--user", "daemon-reload")
	}
	// An empty folder of links was made by enable.
	_ = os.Remove(filepath.Dir(f.wants(id))) // it is not empty, or not there
	if err == nil && asked != nil {
		if _, works := s.h.run(ctx, nil, "systemctl", "--user", "show-environment"); works == nil {
			err = fmt.Errorf("the files of the timer are gone, and systemd still knows it: %w", asked)
		}
	}
	return true, err
}

func (s systemd) List(context.Context) ([]Found, error) {
	return findEntries(Systemd, filepath.Join(escapeGlob(s.h.Folders.units()), prefix+"*.timer"))
}
