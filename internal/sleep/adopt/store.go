package adopt

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/seed-f4525e22/skillopt/internal/git"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
)

// Store is where intents, backups and receipts lie. Stores of one folder may be at work in several processes.
type Store struct {
	ledger

	find Finder
	env  git.Env
	at   func(point string) error // tests end a transaction at a point; nil: nothing
}

// Options are what a Store works with.
type Options struct {
	Dir     string // a folder of the user's; it need not be there
	Key     []byte // of the user's, for the HMAC of records
	Version string // of the program
	Find    Finder
	Env     func(name string) string // reads the environment for git, by which branches are committed to; nil: it is empty
	Now     func() time.Time         // nil: time.Now
}

// Open opens a store. Nothing is read or written.
func Open(o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Env == nil {
		o.Env = func(string) string { return "" }
	}
	return &Store{env: o.Env, ledger: ledger{dir: o.Dir, key: o.Key, version: o.Version, now: o.Now}, find: o.Find}
}

// point marks a place at which a transaction may end.
func (s *Store) point(name string) error {
	if s.at == nil {
		return nil
	}
	return s.at(name)
}

// Busy says that another process writes a document.
type Busy struct{ File string }

func (e *Busy) Error() string {
	return e.File + ": another process is at work on it; wait until it has ended"
}

// ErrorKind says whose business the error is.
func (*Busy) ErrorKind() string { return "locked" }

// How long a document that another process has is waited for, and how often it is looked at.
const (
	lockWait  = 10 * time.Second
	lockEvery = 20 * time.Millisecond
)

// locks are the documents that this process may write, by key.
type locks map[string]*flock.Flock

// take takes the locks of documents, in one order for all. Where wait is false it does not wait for another process.
func (s *Store) take(ctx context.Context, held locks, places []Place, wait bool) error {
	dir := filepath.Join(s.dir, "locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of locks: %w", err)
	}
	want := map[string]Place{}
	for _, p := range places {
		want[target.Digest(p.key())] = p
	}
	ctx, stop := context.WithTimeout(ctx, lockWait)
	defer stop()
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if held[key] != nil {
			continue
		}
		lock := flock.New(filepath.Join(dir, key), flock.SetPermissions(0o600))
		got, err := lock.TryLock()
		if !got && err == nil && wait {
			got, err = lock.TryLockContext(ctx, lockEvery)
		}
		switch {
		case got:
			held[key] = lock
		case err == nil, errors.Is(err, context.DeadlineExceeded):
			return &Busy{File: want[key].File()}
		default:
			return fmt.Errorf("lock %s: %w", want[key].File(), err)
		}
	}
	return nil
}

// release gives locks back. Their files stay: who waits for one has it open.
func (l locks) release() (err error) {
	for _, lock := range l {
		err = errors.Join(err, lock.Unlock())
	}
	return err
}
