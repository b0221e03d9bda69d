package transcript

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
)

// BusyError says that a database was written all the time while it was copied.
type BusyError struct{ Path string }

func (e *BusyError) Error() string {
	return e.Path + ": the agent writes it without a pause; it is read in the next harvest"
}

// maxCopies is how often a database is copied that is written meanwhile.
const maxCopies = 5

// database opens a private copy of a SQLite file with what its log holds, and hands it to use.
// The copy is deleted before database returns. The store itself is read as bytes alone: a
// connection to it, even one that only reads, would write the file of shared memory next to it,
// and in a database without a log keep the agent from committing.
//
// A database without tables, as an agent has it that is just being started for the first time,
// is not given to use: it has no sessions.
//
// A copy counts only if, while it was made, nothing was moved from the log into the file and no new
// log was begun.
func (r *Reading) database(ctx context.Context, s Store, use func(*sql.DB) error) (err error) {
	dir, err := os.MkdirTemp(r.Temp, "copy-")
	if err != nil {
		return fmt.Errorf("copy %s: %w", s.Path(), err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := r.copyDatabase(ctx, s, dir); err != nil {
		return err
	}
	db := sqlstore.Open(filepath.Join(dir, "db"), "?_pragma=query_only(1)&_pragma=trusted_schema(0)")
	defer func() { err = errors.Join(err, db.Close()) }()
	empty, err := sqlstore.Empty(ctx, db)
	switch {
	case err == nil && empty:
		return nil
	case ctx.Err() != nil && err != nil:
		return ctx.Err()
	}
	return use(db) // that it is no database is reported by who uses it
}

func (r *Reading) copyDatabase(ctx context.Context, s Store, dir string) error {
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return fmt.Errorf("open %s: %w", s.Path(), err)
	}
	defer func() { _ = root.Close() }() // it was only read
	for range maxCopies {
		before, err := state(ctx, root, s.Name)
		if err != nil {
			return fmt.Errorf("look at %s: %w", s.Path(), err)
		}
		if r.Mark, err = peek(ctx, root, s); err != nil {
			return fmt.Errorf("look at %s: %w", s.Path(), err)
		}
		if err := r.copyFile(ctx, root, s.Name, filepath.Join(dir, "db")); err != nil {
			return fmt.Errorf("copy %s: %w", s.Path(), err)
		}
		// The logs come after the file: what was changed in it meanwhile can be shown, or undone,
		// by them alone.
		for _, log := range []string{"-wal", "-journal"} {
			err := r.copyFile(ctx, root, s.Name+log, filepath.Join(dir, "db"+log))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("copy %s%s: %w", s.Path(), log, err)
			}
		}
		after, err := state(ctx, root, s.Name)
		if err != nil {
			return fmt.Errorf("look at %s: %w", s.Path(), err)
		}
		if bytes.Equal(before, after) {
			return nil
		}
	}
	return &BusyError{Path: s.Path()}
}

// state returns what changes whenever a copy of a database would not be whole: the header of the
// file, which counts changes, that of its log, which is another one when the log is begun again,
// the time of the file, and whether a transaction is being rolled back.
func state(ctx context.Context, root *os.Root, name string) ([]byte, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	out := fmt.Appendf(nil, "%d %d\n", info.Size(), info.ModTime().UnixNano())
	for _, part := range []struct {
		file string
		n    int64
	}{{name, 100}, {name + "-wal", 32}, {name + "-journal", 28}} {
		head, err := readHead(ctx, root, part.file, part.n)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		out = append(append(out, head...), '\n')
	}
	return out, nil
}

func readHead(ctx context.Context, root *os.Root, name string, n int64) ([]byte, error) {
	f, err := disk.OpenIn(ctx, root, name, maxStore)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(f, n))
}

func (r *Reading) copyFile(ctx context.Context, root *os.Root, name, to string) (err error) {
	in, err := disk.OpenIn(ctx, root, name, maxStore)
	if err != nil {
		return errors.Join(err, removeIfThere(to))
	}
	defer func() { _ = in.Close() }() // it was only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	n, err := io.Copy(out, io.LimitReader(in, in.Size()))
	r.Bytes += n
	return err
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
