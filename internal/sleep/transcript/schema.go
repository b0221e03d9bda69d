package transcript

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
)

// SchemaError says that a database lacks what is read of it.
type SchemaError struct {
	Path, Table, Column string // Column empty: the table
	Known               string // the versions of the program whose databases are known
}

func (e *SchemaError) Error() string {
	what := "the table " + e.Table
	if e.Column != "" {
		what = "the column " + e.Column + " of the table " + e.Table
	}
	return fmt.Sprintf("%s: %s is missing: databases of %s are read. A newer version of skillopt may know this one; other stores are read", e.Path, what, e.Known)
}

// readColumns returns the columns of a table, none if it is not there.
func readColumns(ctx context.Context, s Store, db *sql.DB, table string) (map[string]bool, error) {
	names, err := sqlstore.Column(ctx, db, "SELECT name FROM pragma_table_info(?)", table)
	if err != nil {
		return nil, fmt.Errorf("look at the tables of %s: %w", s.Path(), err)
	}
	have := map[string]bool{}
	for _, name := range names {
		have[name] = true
	}
	return have, nil
}

// hasColumns reports whether a table is there with all columns; which is missing is named.
func hasColumns(ctx context.Context, s Store, db *sql.DB, table string, columns ...string) (ok, there bool, missing string, err error) {
	have, err := readColumns(ctx, s, db, table)
	if err != nil {
		return false, false, "", err
	}
	for _, c := range columns {
		if !have[c] {
			return false, len(have) > 0, c, nil
		}
	}
	return true, true, "", nil
}

// needColumns returns a SchemaError where a table or a column of it is missing.
func needColumns(ctx context.Context, s Store, db *sql.DB, known, table string, columns ...string) error {
	ok, there, missing, err := hasColumns(ctx, s, db, table, columns...)
	switch {
	case err != nil || ok:
		return err
	case !there:
		missing = ""
	}
	return &SchemaError{Path: s.Path(), Table: table, Column: missing, Known: known}
}
