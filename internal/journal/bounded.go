package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	sqlite "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
)

// longest bounds each value that a View and Examine read of a file that somebody else may have
// made, in bytes. What a model gives is at most 16 MiB long with everything around it, and a
// prompt that a model can read is shorter; a process that continues a run reads what it has written
// without this bound.
const longest = 32 << 20

// bound keeps a connection from reading a value that is longer than longest bytes: SQLite looks
// at its length alone, and gives an error. 0: there is no bound.
func bound(conn *sql.Conn, longest int) error {
	if longest == 0 {
		return nil
	}
	_, err := sqlite.Limit(conn, sqlite3.SQLITE_LIMIT_LENGTH, longest)
	return err
}

// conn takes a connection that reads no value that is too long. Its caller closes it.
func (v *View) conn(ctx context.Context) (*sql.Conn, error) {
	conn, err := v.db.Conn(ctx)
	if err != nil {
		return nil, readError(v.path, "open", err)
	}
	if err := bound(conn, v.longest); err != nil {
		return nil, errors.Join(readError(v.path, "open", err), conn.Close())
	}
	return conn, nil
}

// each runs a query and hands its rows to scan, until that wants no more.
func (v *View) each(ctx context.Context, query string, args []any, scan func(*sql.Rows) (more bool, err error)) (err error) {
	conn, err := v.conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return v.unreadable(ctx, conn, err)
	}
	for more := true; more && rows.Next(); {
		if more, err = scan(rows); err != nil {
			return errors.Join(v.unreadable(ctx, conn, err), rows.Close())
		}
	}
	if err := errors.Join(rows.Close(), rows.Err()); err != nil {
		return v.unreadable(ctx, conn, err)
	}
	return nil
}

// one reads the values of one row. That there is none is sql.ErrNoRows.
func (v *View) one(ctx context.Context, query string, args []any, into ...any) error {
	err := sql.ErrNoRows
	failed := v.each(ctx, query, args, func(rows *sql.Rows) (bool, error) {
		err = nil
		return false, rows.Scan(into...)
	})
	if failed != nil {
		return failed
	}
	return err
}

// unreadable says why a query gave no more rows.
func (v *View) unreadable(ctx context.Context, conn *sql.Conn, err error) error {
	if tooBig(err) {
		return tooLong(ctx, conn, v.path, v.longest, err)
	}
	return unread(v.path, err)
}

func tooBig(err error) bool { return sqlstore.Code(err) == sqlite3.SQLITE_TOOBIG }

// unread returns what readError returns, but leaves an error as it is that names damage already.
func unread(path string, err error) error {
	var corrupt *CorruptError
	if errors.As(err, &corrupt) {
		return err
	}
	return readError(path, "read", err)
}

// tooLong returns a *CorruptError that names the first value that is longer than a connection
// reads. It looks only at lengths.
func tooLong(ctx context.Context, conn *sql.Conn, path string, longest int, err error) error {
	damage := &CorruptError{Path: path, Reason: "a value in it is longer than any that was written", Err: err}
	for _, t := range []struct{ table, row, columns string }{
		{"meta", "iif(octet_length(key) < 100, key, '')", "key value"},
		{"blobs", "id", "hash data"},
		{"entries", "seq", "kind key stage role model code digest result shared own"},
		{"items", "block", "marks"},
		{"texts", "id", "hash data"},
		{"exchanges", "seq", "texts form"},
	} {
		for _, column := range strings.Fields(t.columns) {
			var row any
			var size int64
			query := fmt.Sprintf("SELECT %s, octet_length(%s) FROM %s WHERE octet_length(%s) > ? LIMIT 1", t.row, column, t.table, column)
			if failed := conn.QueryRowContext(ctx, query, longest).Scan(&row, &size); failed != nil {
				continue // there is none, or it is too damaged to say more
			}
			damage.Reason = fmt.Sprintf("%s of row %v in table %s has %d bytes, and the most that is read of a value is %d", column, row, t.table, size, longest)
			return damage
		}
	}
	return damage
}
