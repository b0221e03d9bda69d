package queue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// Work is an entry that this process carries out.
type Work struct {
	Entry Entry

	queue *Queue
	lock  *flock.Flock
}

// Begin begins an entry that waits: the process carries it out until End. The error is ErrAtWork while another entry
// is carried out, and a *StateError for an entry that does not wait any more.
func (q *Queue) Begin(ctx context.Context, id string) (_ *Work, err error) {
	lock, err := q.take(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, lock.Unlock())
		}
	}()
	list, err := q.read()
	if err != nil {
		return nil, err
	}
	w := &Work{queue: q, lock: lock}
	ended := 0
	for i := len(list) - 1; i >= 0; i-- {
		switch e := list[i]; {
		case e.ID == id:
			w.Entry = e
		case e.State == Begun: // no one else has the lock
			if err := q.end(e, nil, Killed); err != nil {
				return nil, err
			}
			fallthrough
		case e.State == Ended:
			if ended++; ended > mostEnded {
				if err := q.forget(e.ID); err != nil {
					return nil, err
				}
			}
		}
	}
	return w, w.begin(id)
}

// take takes the lock of the folder.
func (q *Queue) take(ctx context.Context) (*flock.Flock, error) {
	lock := flock.New(filepath.Join(q.dir, lockFile))
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ok, err := lock.TryLockContext(ctx, patience/20)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("lock the queue: %w", err)
	}
	if !ok {
		return nil, ErrAtWork
	}
	return lock, nil
}

// begin renames the file of the entry: of several that try, one can.
func (w *Work) begin(id string) error {
	if w.Entry.State != Waiting {
		return &StateError{ID: id, State: w.Entry.State}
	}
	err := os.Rename(w.queue.path(id, Waiting), w.queue.path(id, Begun))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &StateError{ID: id} // it was removed in the meantime
	case err != nil:
		return fmt.Errorf("begin an entry of the queue: %w", err)
	}
	at := w.queue.now().UTC()
	w.Entry.State, w.Entry.BegunAt = Begun, &at
	return w.queue.write(w.Entry)
}

// End ends the entry with the exit code of its command, and what it said when it failed.
func (w *Work) End(exit int, message string) error {
	return errors.Join(w.queue.end(w.Entry, &exit, message), w.lock.Unlock())
}

// Fail ends an entry that could not be begun. The error is a *StateError for one that does not wait any more.
func (q *Queue) Fail(id, message string) error {
	e, err := q.Find(id)
	if err != nil {
		return err
	}
	if e.State != Waiting {
		return &StateError{ID: id, State: e.State}
	}
	if err := os.Rename(q.path(id, Waiting), q.path(id, Begun)); err != nil {
		return fmt.Errorf("end an entry of the queue: %w", err)
	}
	return q.end(e, nil, message)
}

// end keeps an entry as one that has ended.
func (q *Queue) end(e Entry, exit *int, message string) error {
	at := q.now().UTC()
	e.State, e.EndedAt, e.Exit, e.Error = Ended, &at, exit, message
	if err := q.write(e); err != nil {
		return err
	}
	if err := os.Remove(q.path(e.ID, Begun)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("end an entry of the queue: %w", err)
	}
	return nil
}
