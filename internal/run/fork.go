package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// A ForkError says that a directory cannot take a fork: it holds another run.
type ForkError struct {
	Dir  string // given for the fork
	From string // the run to be forked
	Self bool   // they are the same run
}

func (e *ForkError) Error() string {
	if e.Self {
		return fmt.Sprintf("run %s cannot be forked into itself (%s): give --fork a new directory", e.From, e.Dir)
	}
	return fmt.Sprintf("%s holds a run that is no fork of %s: give --fork a new directory, or continue that run by --run", e.Dir, e.From)
}

// Fork begins a run in the directory to, with a copy of what the run in o.Dir
// has paid for. What differs in the new run is asked again. A fork of that run
// that exists is resumed. Errors are those of Open, *MissingError and
// *ForkError.
func Fork(ctx context.Context, o OpenOptions, to string) (*Run, error) {
	from := o.Dir
	m, found, err := ReadManifest(from)
	if err != nil {
		return nil, Unreadable(from, err)
	}
	if !found {
		return nil, fmt.Errorf("fork: %w", &MissingError{Dir: from})
	}
	o.Dir, o.Name, o.ForkedOf = to, filepath.Base(to), m.RunID
	there, found, err := ReadManifest(to)
	switch {
	case err != nil:
		return nil, Unreadable(to, err)
	case found && there.ForkedOf != m.RunID:
		return nil, &ForkError{Dir: to, From: from, Self: there.RunID == m.RunID}
	case found:
		return Open(ctx, o)
	}
	lost, err := copyRecord(ctx, o, from, m)
	if err != nil {
		return nil, err
	}
	r, err := Open(ctx, o)
	if err == nil {
		r.Lost = lost
	}
	return r, err
}

// copyRecord copies the record of a run that no one has open into a directory
// without a manifest, which a killed fork may have left. It returns what is missing
// at the end of the record.
func copyRecord(ctx context.Context, o OpenOptions, from string, m Manifest) (lost *journal.LostEnd, err error) {
	to := o.Dir
	if err := os.MkdirAll(to, 0o755); err != nil {
		return nil, fmt.Errorf("make run directory: %w", err)
	}
	for _, dir := range []string{from, to} {
		lock, lerr := lockDir(dir)
		if lerr != nil {
			return nil, lerr
		}
		defer func() { err = errors.Join(err, lock.Unlock()) }()
	}
	leave := func(error) {} // a log that stays next to the record does the fork no harm
	j, err := journal.Open(ctx, filepath.Join(from, DBFile), journal.Options{Existing: true, Warn: leave})
	if err != nil {
		return nil, Unreadable(from, err)
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	if err := j.Verify(m.RunID, m.HighWater); err != nil {
		return nil, &DamagedError{Dir: from, Err: err}
	}
	if err := clearRecord(ctx, to); err != nil {
		return nil, err
	}
	if err := j.CopyTo(ctx, filepath.Join(to, DBFile), j.HighWater()); err != nil {
		return nil, fmt.Errorf("fork the record: %w", err)
	}
	if err := keepDecisions(ctx, j, to, o.Keep); err != nil {
		return nil, fmt.Errorf("fork the decisions: %w", err)
	}
	return j.Lost(), nil
}

// keepDecisions copies the decisions that a fork takes over into its record.
func keepDecisions(ctx context.Context, from *journal.Journal, dir string, keep func(key string) bool) (err error) {
	var kept []journal.Record
	for r, err := range from.Results(ctx, 0) {
		if err != nil {
			return err
		}
		if keep != nil && r.Kind == journal.Decision && keep(r.Key) {
			kept = append(kept, journal.Record{Key: r.Key, Kind: r.Kind, Code: journal.CodeInherited, Result: r.Result})
		}
	}
	if len(kept) == 0 {
		return nil
	}
	j, err := journal.Open(ctx, filepath.Join(dir, DBFile), journal.Options{Existing: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	return j.Append(ctx, kept...)
}

// clearRecord removes the record in a directory without a manifest, unless
// something in it was paid for there: that is somebody's work.
func clearRecord(ctx context.Context, dir string) error {
	path := filepath.Join(dir, DBFile)
	j, err := journal.Open(ctx, path, journal.Options{ReadOnly: true})
	if errors.Is(err, journal.ErrMissing) {
		return journal.Remove(path)
	}
	if err != nil {
		return Unreadable(dir, err)
	}
	n, mine := j.HighWater(), !j.IsInherited()
	if err := j.Close(); err != nil {
		return fmt.Errorf("close the record of run %s: %w", dir, err)
	}
	if mine {
		return &DamagedError{Dir: dir, Err: fmt.Errorf("there is no %s, but %s holds %s", ManifestFile, DBFile, wording.Plural(n, "recorded entry", "recorded entries"))}
	}
	return journal.Remove(path)
}

// Discard closes a run that nothing was paid for and removes its directory, if
// nothing else is in it. A run with paid calls is only closed.
func (r *Run) Discard() error {
	empty := r.Journal.HighWater() == 0 && !r.Resumed
	err := r.Close()
	r.Journal, r.lock = nil, nil
	if !empty || err != nil {
		return err
	}
	if err := journal.Remove(filepath.Join(r.Dir, DBFile)); err != nil {
		return fmt.Errorf("discard run: %w", err)
	}
	for _, name := range []string{ManifestFile, lockFile} {
		if rerr := os.Remove(filepath.Join(r.Dir, name)); rerr != nil && !errors.Is(rerr, os.ErrNotExist) {
			return fmt.Errorf("discard run: %w", rerr)
		}
	}
	// A folder that holds something else is not ours to remove.
	entries, err := os.ReadDir(r.Dir)
	if err != nil || len(entries) > 0 {
		return err
	}
	return os.Remove(r.Dir)
}
