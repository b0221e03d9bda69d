package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"github.com/seed-f4525e22/skillopt/internal/sqliteuri"
)

// View reads a journal as it lies on the disk, beside the process that writes to it or
// without one. Unlike Open it does not read the file as a whole first: each entry is
// checked when it is read. Its methods may be called concurrently.
type View struct {
	path    string
	db      *sql.DB
	answers answers
}

// OpenView opens the journal at path. A newer format is a *VersionError; that there is no
// journal is ErrMissing.
func OpenView(ctx context.Context, path string) (*View, error) {
	files, err := look(path)
	if err != nil {
		return nil, err
	}
	if err := files.plausible(Options{ReadOnly: true}); err != nil {
		return nil, err
	}
	v := &View{path: path, db: openDB(sqliteuri.Of(path, string(readOnly(files))))}
	if err := v.known(ctx); err != nil {
		return nil, errors.Join(err, v.db.Close())
	}
	return v, nil
}

// known refuses newer formats, and files that are no journal.
func (v *View) known(ctx context.Context) error {
	conn, err := v.db.Conn(ctx)
	if err != nil {
		return readError(v.path, "open", err)
	}
	version, err := userVersion(ctx, conn)
	if err = errors.Join(err, conn.Close()); err != nil {
		return readError(v.path, "open", err)
	}
	if version < 1 || version > len(migrations()) {
		return &VersionError{Path: v.path, Found: version, Known: len(migrations())}
	}
	return nil
}

// Close lets go of the file.
func (v *View) Close() error { return errors.Join(v.answers.close(), v.db.Close()) }

// Query says which entries are wanted: those that all of it holds for.
type Query struct {
	Key     string // that of the entry; "": any
	Holding string // stands in its key
	Stage   string
	Faults  bool // only attempts that gave no result
}

// where is the condition in SQL, and its arguments.
func (q Query) where() (text string, args []any) {
	text = "TRUE"
	add := func(condition, value string) {
		if value != "" {
			text, args = text+" AND "+condition, append(args, value)
		}
	}
	add("key = ?", q.Key)
	add("instr(key, ?) > 0", q.Holding)
	add("stage = ?", q.Stage)
	if q.Faults {
		add("kind = ?", string(Fault))
	}
	return text, args
}

// Entries returns entries, ledger included, without their inputs, in the order of commits.
// A result that another one has replaced is among them. An error is the last that it gives.
func (v *View) Entries(ctx context.Context, q Query) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		where, args := q.where()
		rows, err := v.db.QueryContext(ctx, "SELECT "+entryColumns+", NULL, NULL FROM entries WHERE "+where+" ORDER BY seq", args...)
		if err != nil {
			yield(Record{}, readError(v.path, "read", err))
			return
		}
		defer func() { _ = rows.Close() }() // what Err tells is all that matters
		l, w := loader{path: v.path, names: make(map[string]string)}, row{}
		targets := w.targets()
		for rows.Next() {
			var r Record
			if err = rows.Scan(targets...); err == nil {
				r, err = l.verified(&w)
			}
			if err != nil || !yield(r, nil) {
				break
			}
		}
		if err = errors.Join(err, rows.Err()); err != nil {
			yield(Record{}, readError(v.path, "read", err))
		}
	}
}

// Input reads what an entry depends on.
func (v *View) Input(ctx context.Context, seq int64) (Input, error) {
	var shared, own []byte
	if err := v.db.QueryRowContext(ctx, "SELECT shared, own FROM entries WHERE seq = ?", seq).Scan(&shared, &own); err != nil {
		return Input{}, fmt.Errorf("read input of entry %d: %w", seq, readError(v.path, "read", err))
	}
	j := Journal{path: v.path, db: v.db}
	parts, err := j.parts(ctx, shared, make(map[int64]Blob))
	if err != nil {
		return Input{}, fmt.Errorf("read input of entry %d: %w", seq, err)
	}
	return Input{Shared: parts, Own: own}, nil
}
