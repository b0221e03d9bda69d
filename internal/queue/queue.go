// Package queue keeps commands that wait for each other as files of a folder. Who adds one may end before it is
// begun, and who begins one may end before it has: nothing is lost, and nothing is begun twice.
//
// An entry is a file ID.waiting.json, whose name changes when the entry is begun, and when it has ended. The process
// that carries an entry out renames it and holds the lock of the folder as long as it lives: of several that try,
// one begins the entry. An entry that was begun while no one holds the lock is one whose process was killed.
//
// It knows nothing of commands and runs, and starts no process itself.
package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/uuid"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/fault"
)

// States of an entry, in their order.
const (
	Waiting = "waiting"
	Begun   = "begun"
	Ended   = "ended"
)

// Entry is a command that waits, was begun or has ended.
type Entry struct {
	ID      string     `json:"id"`
	State   string     `json:"state"`
	Words   []string   `json:"words"`            // of the command line, such as train my-skill --run runs/my-skill-2 --yes
	Run     string     `json:"run"`              // the folder of its run, absolute
	Title   string     `json:"title"`            // what a person reads
	Config  string     `json:"config,omitempty"` // the file with its configuration, absolute
	SHA256  string     `json:"sha256,omitempty"` // of that file when the entry was added, in hex
	AddedAt time.Time  `json:"added_at"`
	BegunAt *time.Time `json:"begun_at,omitempty"`
	EndedAt *time.Time `json:"ended_at,omitempty"`
	Exit    *int       `json:"exit,omitempty"`  // code of a command that has ended; nil: not known
	Error   string     `json:"error,omitempty"` // what it said when it failed
}

// Bounds of a queue.
const (
	MaxWaiting = 100
	mostEnded  = 20 // that are kept
	maxFile    = 64 << 10
	patience   = time.Second // for a lock that somebody may only look at
	suffix     = ".json"
	lockFile   = ".lock"
)

// Killed is the error of an entry whose process ended without a word.
const Killed = "its process was killed, or the machine went down"

// A StateError says that an entry is in another state than is needed, or in none.
type StateError struct{ ID, State string }

func (e *StateError) Error() string {
	if e.State == "" {
		return fmt.Sprintf("there is no entry %q in the queue: it may have been removed", e.ID)
	}
	return fmt.Sprintf("entry %s of the queue is no longer waiting: it is %s", e.ID, e.State)
}

// A TakenError says that a run is in the queue already.
type TakenError struct{ Entry Entry }

func (e *TakenError) Error() string {
	return fmt.Sprintf("%s is in the queue already (%s): wait for it, or remove it", filepath.Base(e.Entry.Run), e.Entry.State)
}

// ErrAtWork is that of an entry that cannot be begun while another one is carried out.
var ErrAtWork = errors.New("another command of the queue is at work")

// Queue is a folder of entries. It may be used concurrently, by several processes too.
type Queue struct {
	dir string
	now func() time.Time
}

// New returns the queue in a folder, which is made when an entry is added.
func New(dir string, now func() time.Time) *Queue { return &Queue{dir: dir, now: now} }

// Log returns the path of the file that the command of an entry prints into.
func (q *Queue) Log(id string) string { return filepath.Join(q.dir, id+".log") }

// Add adds an entry at the end, instead of one about its run that has ended. The error is a *TakenError if that has
// not ended.
func (q *Queue) Add(e Entry) (Entry, error) {
	if err := os.MkdirAll(q.dir, 0o755); err != nil {
		return e, fmt.Errorf("make the queue: %w", err)
	}
	list, err := q.List()
	if err != nil {
		return e, err
	}
	open, old := 0, ""
	for _, o := range list {
		switch {
		case o.State == Ended && o.Run == e.Run:
			old = o.ID
		case o.State == Ended:
		case o.Run == e.Run:
			return e, &TakenError{Entry: o}
		default:
			open++
		}
	}
	if open >= MaxWaiting {
		return e, fault.Input(fmt.Errorf("%d commands are in the queue, and it holds no more: wait, or remove some", open))
	}
	e.ID, e.State, e.AddedAt = uuid.Must(uuid.NewV7()).String(), Waiting, q.now().UTC()
	if err := q.write(e); err != nil || old == "" {
		return e, err
	}
	return e, q.forget(old)
}

// List returns all entries in the order in which they were added. One that was begun and that no process carries
// out any more has ended.
func (q *Queue) List() ([]Entry, error) {
	before, err := q.read()
	if err != nil || !slices.ContainsFunc(before, begun) {
		return before, err
	}
	if alive, err := q.AtWork(); alive || err != nil {
		return before, err
	}
	list, err := q.read() // its process may have ended it before it let go of the lock
	for i, e := range list {
		if begun(e) && slices.ContainsFunc(before, func(b Entry) bool { return b.ID == e.ID && begun(b) }) {
			list[i].State, list[i].Error = Ended, Killed
		}
	}
	return list, err
}

func begun(e Entry) bool { return e.State == Begun }

// read reads all entries. It begins again when one changes its state in the meantime.
func (q *Queue) read() (list []Entry, err error) {
	for list, err = q.files(); errors.Is(err, fs.ErrNotExist); {
		list, err = q.files()
	}
	return list, err
}

// files reads the files of all entries.
func (q *Queue) files() ([]Entry, error) {
	files, err := os.ReadDir(q.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the queue: %w", err)
	}
	var list []Entry
	for _, f := range files {
		id, state, ok := cutName(f.Name())
		if !ok || !f.Type().IsRegular() {
			continue
		}
		text, err := disk.ReadOwn(context.Background(), q.dir, f.Name(), maxFile)
		if err != nil {
			return nil, fmt.Errorf("read the queue: %w", err)
		}
		e := Entry{}
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, fmt.Errorf("read the queue: %s: %w; remove the file", filepath.Join(q.dir, f.Name()), err)
		}
		e.ID, e.State = id, state
		if n := len(list); n > 0 && list[n-1].ID == id { // its state was being changed
			list[n-1] = later(list[n-1], e)
			continue
		}
		list = append(list, e)
	}
	return list, nil
}

// later returns the one of two forms of an entry that is about its later state.
func later(a, b Entry) Entry {
	order := []string{Waiting, Begun, Ended}
	if slices.Index(order, a.State) > slices.Index(order, b.State) {
		return a
	}
	return b
}

// cutName returns the id and the state of an entry from the name of its file.
func cutName(name string) (id, state string, ok bool) {
	name, ok = strings.CutSuffix(name, suffix)
	id, state, found := strings.Cut(name, ".")
	return id, state, ok && found && uuid.Validate(id) == nil && slices.Contains([]string{Waiting, Begun, Ended}, state)
}

func (q *Queue) path(id, state string) string { return filepath.Join(q.dir, id+"."+state+suffix) }

func (q *Queue) write(e Entry) error {
	text, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return fmt.Errorf("write the queue: %w", err)
	}
	return disk.WriteFile(q.path(e.ID, e.State), text, 0o600)
}

// AtWork reports whether a process carries out an entry.
func (q *Queue) AtWork() (bool, error) {
	lock := flock.New(filepath.Join(q.dir, lockFile), flock.SetFlag(os.O_RDONLY))
	free, err := lock.TryRLock()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err = errors.Join(err, lock.Close()); err != nil {
		return false, fmt.Errorf("look at the lock of the queue: %w", err)
	}
	return !free, nil
}

// Find finds an entry. The error is a *StateError if there is none.
func (q *Queue) Find(id string) (Entry, error) {
	list, err := q.List()
	if err != nil {
		return Entry{}, err
	}
	if i := slices.IndexFunc(list, func(e Entry) bool { return e.ID == id }); i >= 0 {
		return list[i], nil
	}
	return Entry{}, &StateError{ID: id}
}

// Next returns the entry that is to be begun now; false: none waits, or another one is at work.
func (q *Queue) Next() (Entry, bool, error) {
	list, err := q.List()
	if err != nil || slices.ContainsFunc(list, begun) {
		return Entry{}, false, err
	}
	i := slices.IndexFunc(list, func(e Entry) bool { return e.State == Waiting })
	if i < 0 {
		return Entry{}, false, nil
	}
	return list[i], true, nil
}

// Remove removes an entry that waits or has ended. The error is a *StateError for another one.
func (q *Queue) Remove(id string) error {
	e, err := q.Find(id)
	switch {
	case err != nil:
		return err
	case e.State == Waiting:
		if err := os.Remove(q.path(id, Waiting)); errors.Is(err, fs.ErrNotExist) {
			return &StateError{ID: id, State: Begun}
		} else if err != nil {
			return fmt.Errorf("remove from the queue: %w", err)
		}
		return nil
	case e.State == Begun:
		return &StateError{ID: id, State: Begun}
	}
	return q.forget(id)
}

// forget removes the files of an entry that has ended.
func (q *Queue) forget(id string) error {
	for _, path := range []string{q.path(id, Begun), q.path(id, Ended), q.Log(id)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove from the queue: %w", err)
		}
	}
	return nil
}
