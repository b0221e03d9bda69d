package bank

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// Subject is what is to be forgotten: a project with all below it, or one session.
type Subject struct {
	Folders []string                  // of a project, by all of its names
	Project func(project string) bool // reports whether a folder belongs to it; nil: a session
	Source  string                    // of a session
	Session string                    // id of a session
}

// Deleted is what a room has deleted.
type Deleted struct {
	Sessions int
	Files    int
	Backups  []string // copies of the user's own files, which stay unless they are asked for
}

// Room is a part of what is kept. It is called while the caller holds the lock of the bank.
type Room interface {
	// Entries are the names of its files and folders in the folder of sleep.
	Entries() []string
	// Forget deletes what the room has of a subject, so that a search finds nothing of it. With
	// backups the copies of the user's own files go too. Done twice, it does nothing more.
	Forget(ctx context.Context, s Subject, backups bool, at time.Time) (Deleted, error)
	// Reset deletes all that the room has. What is kept need not be readable.
	Reset(ctx context.Context) error
}

// ForgetAll deletes a subject in all rooms. The first room that fails ends it; done again it
// continues.
func ForgetAll(ctx context.Context, rooms []Room, s Subject, backups bool, at time.Time) (Deleted, error) {
	var all Deleted
	for _, r := range rooms {
		gone, err := r.Forget(ctx, s, backups, at)
		all.Sessions += gone.Sessions
		all.Files += gone.Files
		all.Backups = append(all.Backups, gone.Backups...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// ResetAll deletes what all rooms keep below dir, the bank last.
func ResetAll(ctx context.Context, dir string, rooms []Room) error {
	return Reset(dir, func() error {
		var err error
		for _, r := range rooms {
			err = errors.Join(err, r.Reset(ctx))
		}
		return err
	})
}

// Strange lists what lies in dir and is of no room: no one has looked at it.
func Strange(dir string, rooms []Room) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the folder of sleep: %w", err)
	}
	var out []string
	for _, e := range entries {
		if !slices.ContainsFunc(rooms, func(r Room) bool { return slices.Contains(r.Entries(), e.Name()) }) {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// Own is the room of the bank; B is nil where it only resets.
type Own struct{ B *Bank }

// Entries implements Room.
func (Own) Entries() []string { return Entries() }

// Forget implements Room.
func (r Own) Forget(ctx context.Context, s Subject, _ bool, at time.Time) (gone Deleted, err error) {
	if s.Project != nil {
		gone.Sessions, err = r.B.ForgetProject(ctx, s.Folders, s.Project, at)
		return gone, err
	}
	if strings.TrimSpace(s.Session) == "" {
		return gone, errors.New("forget a session: it has no id")
	}
	gone.Sessions, err = 1, r.B.ForgetSession(ctx, s.Source, s.Session, at)
	return gone, err
}

// Reset implements Room: the bank goes when all other rooms are empty, since its lock keeps
// others away until then.
func (Own) Reset(context.Context) error { return nil }
