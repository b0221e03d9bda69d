// Package sqlstore opens SQLite files, reads rows, and distinguishes the errors of the driver. It
// knows nothing of tables, and nothing of what is done about an error.
package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"
	"strings"

	"modernc.org/sqlite" // the database driver
	sqlite3 "modernc.org/sqlite/lib"
)

// Open returns the file at path, which may hold any characters and, on Windows, begin with a drive.
// access is what follows it in its URI, such as "?mode=ro"; it is not escaped. The file is opened by
// the first query.
func Open(path, access string) *sql.DB {
	p := filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" && !strings.HasPrefix(p, "/") {
		p = "/" + p // file:///C:/run.db
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: p}).EscapedPath()+access)
	if err != nil {
		panic("sqlstore: " + err.Error()) // only an unknown driver name makes sql.Open fail
	}
	return db
}

// Querier is a database, a connection or a transaction.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Version returns the user_version of a file, 0 if it was never set.
func Version(ctx context.Context, q Querier) (n int, err error) {
	err = q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&n)
	return n, err
}

// Empty reports whether a file has no tables.
func Empty(ctx context.Context, q Querier) (bool, error) {
	var tables int
	err := q.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables)
	return tables == 0, err
}

// Each calls scan for each row of a query, and returns the first error.
func Each(ctx context.Context, q Querier, query string, args []any, scan func(*sql.Rows) error) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // its error is that of rows.Err
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// All returns the rows of a query as scan reads them; if there are none, an empty list.
func All[T any](ctx context.Context, q Querier, query string, args []any, scan func(*sql.Rows, *T) error) ([]T, error) {
	out := []T{}
	err := Each(ctx, q, query, args, func(rows *sql.Rows) error {
		var v T
		if err := scan(rows, &v); err != nil {
			return err
		}
		out = append(out, v)
		return nil
	})
	return out, err
}

// Column returns the only column of a query.
func Column(ctx context.Context, q Querier, query string, args ...any) ([]string, error) {
	return All(ctx, q, query, args, func(rows *sql.Rows, s *string) error { return rows.Scan(s) })
}

// Write runs f in a transaction, and commits it unless f returns an error.
func Write(ctx context.Context, db *sql.DB, f func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // it is committed, or the first error counts
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Code returns the primary result code of an error, 0 if it is none of SQLite.
func Code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// IsDamage reports whether SQLite found a file to be damaged, or to be no database.
func IsDamage(err error) bool {
	code := Code(err)
	return code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
}
