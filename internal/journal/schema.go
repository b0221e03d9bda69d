package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
)

// version is that of the file, its user_version. A file of another one is refused.
const version = 3

// Neither entries nor blobs have an index apart from their row number: memory knows the
// row of each key, and an insert that only appends is the fastest there is. The
// columns that Open reads precede the long ones, so that it does not have
// to walk through inputs. No result rests on the last three tables: an index by item
// (items.go), and what was said in calls inside episodes (beside.go).
const schema = `
CREATE TABLE meta (
	key   TEXT PRIMARY KEY,
	value TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE blobs (
	id   INTEGER PRIMARY KEY,
	hash BLOB NOT NULL,
	data BLOB NOT NULL
);
CREATE TABLE entries (
	seq              INTEGER PRIMARY KEY,
	kind             TEXT NOT NULL,
	key              TEXT NOT NULL,
	stage            TEXT NOT NULL,
	role             TEXT NOT NULL,
	model            TEXT NOT NULL,
	attempt          INTEGER NOT NULL,
	ordinal          INTEGER NOT NULL,
	code             TEXT NOT NULL,
	input_tokens     INTEGER NOT NULL,
	output_tokens    INTEGER NOT NULL,
	cached_tokens    INTEGER NOT NULL,
	reasoning_tokens INTEGER NOT NULL,
	written_tokens   INTEGER NOT NULL,
	cost_nano_usd    INTEGER,
	started_us       INTEGER NOT NULL,
	took_us          INTEGER NOT NULL,
	checksum         INTEGER NOT NULL,
	digest           BLOB,
	result           BLOB,
	shared           BLOB,
	own              BLOB
);
CREATE TABLE items (
	block    INTEGER PRIMARY KEY,
	checksum INTEGER NOT NULL,
	marks    BLOB NOT NULL
);
CREATE TABLE texts (
	id   INTEGER PRIMARY KEY,
	hash BLOB NOT NULL,
	size INTEGER NOT NULL,
	data BLOB NOT NULL
);
CREATE INDEX texts_by_hash ON texts (hash);
CREATE TABLE exchanges (
	seq      INTEGER PRIMARY KEY,
	checksum INTEGER NOT NULL,
	texts    BLOB,
	size     INTEGER NOT NULL,
	form     BLOB NOT NULL
);
`

// create makes the tables in a file that has none.
func create(ctx context.Context, conn *sql.Conn, path string) error {
	found, err := userVersion(ctx, conn)
	switch {
	case err != nil || found == version:
		return err
	case found != 0:
		return &VersionError{Path: path, Found: found}
	}
	script := fmt.Sprintf("BEGIN IMMEDIATE; %s PRAGMA user_version = %d; COMMIT", schema, version)
	if _, err := conn.ExecContext(ctx, script); err != nil {
		return fmt.Errorf("create the journal: %w", err)
	}
	return nil
}

func userVersion(ctx context.Context, conn *sql.Conn) (int, error) {
	found, err := sqlstore.Version(ctx, conn)
	if err != nil {
		return 0, fmt.Errorf("read journal version: %w", err)
	}
	return found, nil
}

// tablesAlone refuses a file that holds something else instead of tables, or in addition to them:
// a view may have rows without end, and a trigger does what the sender of the file wants done.
func tablesAlone(ctx context.Context, conn *sql.Conn, path string) error {
	var kind, name string
	err := conn.QueryRowContext(ctx, "SELECT cast(type AS TEXT), substr(name, 1, 100) FROM sqlite_schema WHERE type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%' LIMIT 1").Scan(&kind, &name)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return readError(path, "open", err)
	}
	return &CorruptError{Path: path, Reason: fmt.Sprintf("it has a %s, %q, which no journal has", kind, name)}
}
