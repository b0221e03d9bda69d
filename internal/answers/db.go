package answers

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
)

// File is the name of the index in a folder of runs.
const File = "answers.db"

// version is that of the file, its user_version. A file of another one is left alone.
const version = 1

// A run is number in the index; seq is the last of its entries that is in it.
const schema = `
CREATE TABLE runs (
	number INTEGER PRIMARY KEY,
	run_id TEXT NOT NULL UNIQUE,
	file   TEXT NOT NULL,    -- the record, as it was looked at last: which file, how large, when changed
	size   INTEGER NOT NULL,
	time   INTEGER NOT NULL,
	seq    INTEGER NOT NULL,
	count  INTEGER NOT NULL, -- of its answers
	filter BLOB NOT NULL     -- of their hashes; see filter
);
CREATE TABLE answers (
	run  INTEGER NOT NULL,
	hash INTEGER NOT NULL,
	seq  INTEGER NOT NULL,
	PRIMARY KEY (run, hash, seq)
) WITHOUT ROWID;
CREATE TABLE served (
	endpoint TEXT NOT NULL,
	model    TEXT NOT NULL,  -- that was asked for
	time     INTEGER NOT NULL,
	name     TEXT NOT NULL,  -- of the one that answered
	PRIMARY KEY (endpoint, model)
) WITHOUT ROWID;
PRAGMA user_version = 1;`

// access says how the index is opened. What a loss of power takes from it is found again in
// the runs.
const access = "?_txlock=immediate&_pragma=busy_timeout(2000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=cache_size(-1024)"

// openDB opens the index of a folder, or makes it. A damaged one is made again.
func openDB(ctx context.Context, dir string) (*sql.DB, error) {
	path := filepath.Join(dir, File)
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	db, err := prepareDB(ctx, path)
	if !sqlstore.IsDamage(err) {
		return db, err
	}
	if err := remove(path); err != nil {
		return nil, err
	}
	return prepareDB(ctx, path)
}

func prepareDB(ctx context.Context, path string) (*sql.DB, error) {
	db := sqlstore.Open(path, access)
	db.SetMaxOpenConns(2) // one that looks up, one that adds
	if err := create(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// create makes the tables of an index that has none.
func create(ctx context.Context, db *sql.DB) error {
	return sqlstore.Write(ctx, db, func(tx *sql.Tx) error {
		found, err := sqlstore.Version(ctx, tx)
		switch {
		case err != nil || found == version:
			return err
		case found != 0:
			return fmt.Errorf("it has format %d, and this program reads format %d", found, version)
		}
		empty, err := sqlstore.Empty(ctx, tx)
		if err == nil && !empty {
			err = errors.New("it is another program's database")
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, schema)
		}
		return err
	})
}

// remove deletes the files of an index.
func remove(path string) error {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
