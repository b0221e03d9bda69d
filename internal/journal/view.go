package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
)

// View reads a journal as it lies on the disk, with a process that writes to it or
// without one. Unlike Open it does not read the file as a whole first: each entry is
// checked when it is read. Its methods may be called concurrently.
type View struct {
	path    string
	db      *sql.DB
	longest int // bytes of a value, 0: there is no bound
	answers answers
}

// OpenView opens the journal at path. Another format is a *VersionError; that there is no
// journal is ErrMissing. A value that is longer than any that is written is damage.
func OpenView(ctx context.Context, path string) (*View, error) { return openView(ctx, path, longest) }

func openView(ctx context.Context, path string, longest int) (*View, error) {
	files, err := look(path)
	if err != nil {
		return nil, err
	}
	if err := files.plausible(Options{ReadOnly: true}); err != nil {
		return nil, err
	}
	v := &View{path: path, longest: longest, db: sqlstore.Open(path, readOnly(files))}
	if err := v.checkFormat(ctx); err != nil {
		return nil, errors.Join(err, v.db.Close())
	}
	return v, nil
}

// checkFormat refuses other formats, and files that are no journal.
func (v *View) checkFormat(ctx context.Context) (err error) {
	conn, err := v.conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	found, err := userVersion(ctx, conn)
	if err != nil {
		return readError(v.path, "open", err)
	}
	if found != version {
		return &VersionError{Path: v.path, Found: found}
	}
	return tablesAlone(ctx, conn, v.path)
}

// Close lets go of the file.
func (v *View) Close() error { return errors.Join(v.answers.close(), v.db.Close()) }

// Query says which entries are wanted: those that all of it holds for.
type Query struct {
	Seq     int64  // number of the entry; 0: any
	Key     string // that of the entry; "": any
	Item    string // that its key belongs to, as it is escaped there; found by an index
	Holding string // a text that its key holds; "": any. Goes through all entries
	Results bool   // no ledger
	Stage   string
	Faults  bool // only attempts that gave no result
}

// where returns the condition in SQL, and its arguments.
func (q Query) where() (text string, args []any) {
	text = "TRUE"
	add := func(condition, value string) {
		if value != "" {
			text, args = text+" AND "+condition, append(args, value)
		}
	}
	if q.Seq > 0 {
		text, args = text+" AND seq = ?", append(args, q.Seq)
	}
	add("key = ?", q.Key)
	add("instr(key, ?) > 0", q.Holding)
	add("stage = ?", q.Stage)
	if q.Item != "" {
		add("instr(key, ?) > 0", "/"+q.Item+"/sample")
	}
	if q.Results {
		text, args = text+" AND kind NOT IN (?, ?)", append(args, string(Inner), string(Fault))
	}
	if q.Faults {
		add("kind = ?", string(Fault))
	}
	return text, args
}

// Entries returns entries, ledger included, without their inputs, in the order of commits.
// A result that another one has replaced is among them. An error is the last that it gives.
func (v *View) Entries(ctx context.Context, q Query) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		spans := v.spans(ctx, q)
		conn, err := v.conn(ctx)
		if err != nil {
			yield(Record{}, err)
			return
		}
		defer func() { _ = conn.Close() }() // nothing was written with it
		where, args := q.where()
		query, err := conn.PrepareContext(ctx, "SELECT "+entryColumns+", NULL, NULL FROM entries WHERE seq BETWEEN ? AND ? AND "+where+" ORDER BY seq")
		if err != nil {
			yield(Record{}, readError(v.path, "read", err))
			return
		}
		defer func() { _ = query.Close() }() // nothing was written with it
		l := loader{path: v.path, names: make(map[string]string)}
		for _, s := range spans {
			more, err := l.span(ctx, query, append([]any{s.first, s.last}, args...), yield)
			if err != nil {
				yield(Record{}, v.unreadable(ctx, conn, err))
			}
			if err != nil || !more {
				return
			}
		}
	}
}

// span reads the entries that a query gives; more is false when yield wants none.
func (l *loader) span(ctx context.Context, query *sql.Stmt, args []any, yield func(Record, error) bool) (more bool, err error) {
	rows, err := query.QueryContext(ctx, args...)
	if err != nil {
		return false, err
	}
	defer func() { _ = rows.Close() }() // what Err returns is all that matters
	w := row{}
	targets := w.targets()
	for rows.Next() {
		var r Record
		if err = rows.Scan(targets...); err == nil {
			r, err = l.verifyRow(&w)
		}
		if err != nil {
			return false, err
		}
		if !yield(r, nil) {
			return false, nil
		}
	}
	return true, rows.Err()
}

// Input reads what an entry depends on.
func (v *View) Input(ctx context.Context, seq int64) (Input, error) {
	var shared, own []byte
	if err := v.one(ctx, "SELECT shared, own FROM entries WHERE seq = ?", []any{seq}, &shared, &own); err != nil {
		return Input{}, fmt.Errorf("read input of entry %d: %w", seq, err)
	}
	read := func(ctx context.Context, id int64, data *[]byte) error {
		return v.one(ctx, "SELECT data FROM blobs WHERE id = ?", []any{id}, data)
	}
	parts, err := resolveParts(ctx, v.path, read, shared, make(map[int64]Blob))
	if err != nil {
		return Input{}, fmt.Errorf("read input of entry %d: %w", seq, err)
	}
	return Input{Shared: parts, Own: own}, nil
}
