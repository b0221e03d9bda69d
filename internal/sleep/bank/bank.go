package bank

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gofrs/flock"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
)

// Names of files in the folder of the bank.
const (
	File     = "bank.db"
	lockFile = "lock"
	tempDir  = "tmp" // private copies; whatever is in it when the bank is opened is left over
)

// version is that of the file, its user_version. A file of another one is refused.
const version = 3

const schema = `
CREATE TABLE stores (
	path     TEXT PRIMARY KEY, -- of one of which no session is kept, a digest: see KeyOf
	source   TEXT NOT NULL,
	mark     TEXT NOT NULL,    -- JSON: as the store was when it was read
	terms    TEXT NOT NULL,    -- digest of what was wanted of it
	since    INTEGER NOT NULL, -- sessions that ended before were left out, in nanoseconds; 0: none
	read_at  INTEGER NOT NULL,
	highest  INTEGER NOT NULL, -- end of its newest session
	bytes    INTEGER NOT NULL,
	left_out TEXT NOT NULL,    -- JSON: how many sessions, by reason
	problems TEXT NOT NULL,    -- JSON
	error    TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE sessions (
	number  INTEGER PRIMARY KEY,
	store   TEXT NOT NULL,
	source  TEXT NOT NULL,
	session TEXT NOT NULL,
	project TEXT NOT NULL,
	started INTEGER NOT NULL,
	ended   INTEGER NOT NULL,
	turns   INTEGER NOT NULL,
	data    TEXT NOT NULL,              -- JSON: the session without its turns
	shadow  INTEGER NOT NULL DEFAULT 0, -- another session has all that it has
	UNIQUE (store, source, session)
);
CREATE INDEX session_names ON sessions (source, session);
CREATE INDEX session_ends ON sessions (ended);
CREATE TABLE turns (
	number  INTEGER NOT NULL REFERENCES sessions (number),
	seq     INTEGER NOT NULL,
	source  TEXT NOT NULL,
	turn    TEXT NOT NULL,
	started INTEGER NOT NULL,
	data    TEXT NOT NULL,              -- JSON
	shadow  INTEGER NOT NULL DEFAULT 0, -- another session has the same turn, and it counts there
	PRIMARY KEY (number, seq)
) WITHOUT ROWID;
CREATE INDEX turn_names ON turns (source, turn);
CREATE TABLE consent (
	role    TEXT NOT NULL, -- target, optimizer, judge
	host    TEXT NOT NULL,
	given   INTEGER NOT NULL,
	revoked INTEGER,
	PRIMARY KEY (role, host, given)
) WITHOUT ROWID;
CREATE TABLE forgotten (
	kind TEXT NOT NULL, -- project, session, turn
	name TEXT NOT NULL, -- digest: what was forgotten is not told by it
	at   INTEGER NOT NULL,
	PRIMARY KEY (kind, name)
) WITHOUT ROWID;
CREATE TABLE state (settled INTEGER NOT NULL); -- 0: turns or sessions have come or gone since the last Settle
INSERT INTO state VALUES (1);`

// access says how a bank is opened: what is deleted is overwritten with zeros.
const access = "?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(DELETE)&_pragma=synchronous(FULL)&_pragma=secure_delete(1)&_pragma=foreign_keys(1)&_pragma=cache_size(-8192)&_pragma=temp_store(2)"

// Bank is an open bank. Its methods are safe for concurrent use.
type Bank struct {
	db   *sql.DB
	dir  string
	lock *flock.Flock // nil: opened for reading
}

// LockedError says that another process writes the bank.
type LockedError struct {
	Dir    string
	Holder Holder // zero: not known
}

func (e *LockedError) Error() string {
	who := e.Holder.String()
	if who != "" {
		who = " (" + who + ")"
	}
	return e.Dir + ": another process is at work on what sleep keeps" + who + "; wait until it has ended"
}

// ErrorKind says whose business the error is.
func (*LockedError) ErrorKind() string { return string(fault.Locked) }

// Error is a bank that cannot be used: damaged, of another format, or another program's.
type Error struct{ Path, Reason, Help string }

func (e *Error) Error() string { return e.Path + ": " + e.Reason + "\n" + e.Help }

// ErrorKind says whose business the error is.
func (*Error) ErrorKind() string { return string(fault.BadInput) }

// ErrNone says that there is no bank in a folder yet.
var ErrNone = errors.New("nothing is kept yet")

// Open opens the bank of a folder for writing, or makes it. The folder and what is in it are
// for the user alone. While it is open no other process can open it so.
func Open(ctx context.Context, dir string) (*Bank, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() || err != nil && isLink(dir) {
		return nil, notFolder(dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of sleep: %w", err)
	}
	if err := private(dir); err != nil {
		return nil, err
	}
	lock, err := takeLock(dir)
	if err != nil {
		return nil, err
	}
	b := &Bank{dir: dir, lock: lock}
	err = errors.Join(noteHolder(dir, ""), b.clearTemp())
	if err == nil {
		b.db, err = connect(ctx, filepath.Join(dir, File))
	}
	if err != nil {
		return nil, errors.Join(err, release(dir), lock.Unlock())
	}
	return b, nil
}

// takeLock takes the lock of a folder.
func takeLock(dir string) (*flock.Flock, error) {
	path := filepath.Join(dir, lockFile)
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, notRegular(path)
	}
	lock := flock.New(path, flock.SetPermissions(0o600))
	switch locked, err := lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	case !locked:
		return nil, &LockedError{Dir: dir, Holder: readHolder(dir)}
	}
	// A reset deletes the file while others may have opened it: a lock on what is no more is none.
	held, err1 := lock.Stat()
	there, err2 := os.Lstat(path)
	if err := errors.Join(err1, err2); err != nil || !os.SameFile(held, there) {
		return nil, errors.Join(&LockedError{Dir: dir}, lock.Unlock())
	}
	return lock, nil
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

func notFolder(dir string) error {
	return &Error{Path: dir, Reason: "it is not a folder", Help: "move it away, or choose a folder by sleep.dir"}
}

func notRegular(path string) error {
	return &Error{Path: path, Reason: "it is not a regular file", Help: "move it away, or choose another folder by sleep.dir"}
}

// Look opens the bank of a folder for reading. ErrNone: there is none.
func Look(ctx context.Context, dir string) (*Bank, error) {
	path := filepath.Join(dir, File)
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNone
	case err != nil && !errors.Is(err, fs.ErrPermission):
		return nil, notFolder(dir)
	case err == nil && !info.Mode().IsRegular():
		return nil, notRegular(path)
	}
	db := sqlstore.Open(path, "?mode=ro&_pragma=busy_timeout(5000)&_pragma=query_only(1)")
	found, err := sqlstore.Version(ctx, db)
	if err == nil && found != version {
		err = wrongFormat(path, found)
	}
	if err != nil {
		return nil, errors.Join(explainError(path, err), db.Close())
	}
	return &Bank{db: db, dir: dir}, nil
}

// private refuses a folder that others can read.
func private(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("look at the folder of sleep: %w", err)
	}
	if runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return &Error{Path: dir, Reason: "others can read this folder, and it cannot be made private: " + err.Error(), Help: "choose another one by sleep.dir, or have its owner run: chmod 700 " + dir}
	}
	return nil
}

func (b *Bank) clearTemp() error {
	temp := filepath.Join(b.dir, tempDir)
	if err := os.RemoveAll(temp); err != nil {
		return fmt.Errorf("delete what is left over: %w", err)
	}
	if err := os.Mkdir(temp, 0o700); err != nil {
		return fmt.Errorf("make a folder for copies: %w", err)
	}
	return nil
}

// Temp returns a private folder for what is needed for a moment. It is emptied when the bank is
// opened and closed.
func (b *Bank) Temp() string { return filepath.Join(b.dir, tempDir) }

// Close closes the bank.
func (b *Bank) Close() error {
	err := b.db.Close()
	if b.lock != nil {
		err = errors.Join(err, os.RemoveAll(b.Temp()), release(b.dir), b.lock.Unlock())
	}
	return err
}

func connect(ctx context.Context, path string) (*sql.DB, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, notRegular(path)
	}
	if err := makePrivate(path); err != nil {
		return nil, err
	}
	db := sqlstore.Open(path, access)
	db.SetMaxOpenConns(1)
	if err := create(ctx, db, path); err != nil {
		return nil, errors.Join(explainError(path, err), db.Close())
	}
	return db, nil
}

// makePrivate makes the file before SQLite does, for the user alone.
func makePrivate(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	return f.Close()
}

func wrongFormat(path string, found int) error {
	if found != 0 {
		return &Error{Path: path, Reason: fmt.Sprintf("it has format %d, and this program reads format %d", found, version), Help: "use the program that wrote it; or move the file away, and what was harvested is read again"}
	}
	return &Error{Path: path, Reason: "it is not what sleep keeps", Help: "move it away, or choose another folder by sleep.dir"}
}

// create makes the tables of a bank that has none.
func create(ctx context.Context, db *sql.DB, path string) error {
	found, err := sqlstore.Version(ctx, db)
	if err != nil {
		return err
	}
	if found == version {
		return checkTables(ctx, db, path)
	}
	empty, err := sqlstore.Empty(ctx, db)
	if err != nil {
		return err
	}
	if found != 0 || !empty {
		return wrongFormat(path, found)
	}
	return sqlstore.Write(ctx, db, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, schema+schemaOfNights+fmt.Sprintf("PRAGMA user_version = %d;", version))
		return err
	})
}

// checkTables checks whether the tables are whole.
func checkTables(ctx context.Context, db *sql.DB, path string) error {
	var said string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&said); err != nil {
		return err
	}
	if said != "ok" {
		return damagedError(path, said)
	}
	return nil
}

func damagedError(path, reason string) error {
	return &Error{Path: path, Reason: "damaged: " + reason, Help: "move it away: the next harvest reads the sessions again; consent is asked for again"}
}

// explainError names the file in an error of SQLite, and what helps.
func explainError(path string, err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
			return damagedError(path, e.Error())
		case sqlite3.SQLITE_FULL:
			return &WriteError{Path: path, Reason: "the disk is full", Err: err}
		case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
			return &WriteError{Path: path, Reason: e.Error(), Err: err}
		}
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// WriteError is a bank that cannot be read or written, for a reason that lies with the disk.
// What was kept before is whole.
type WriteError struct {
	Path, Reason string
	Err          error
}

func (e *WriteError) Error() string {
	return e.Path + ": " + e.Reason + "\nwhat was kept before is whole: free room, or give access, and do it again"
}

func (e *WriteError) Unwrap() error { return e.Err }

// ErrorKind says whose business the error is.
func (*WriteError) ErrorKind() string { return string(fault.Environment) }

// wrapError returns an error of a query with what it was for; nil for none.
func (b *Bank) wrapError(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, explainError(filepath.Join(b.dir, File), err))
}

// Check looks whether the bank is whole; it reads all of it.
func (b *Bank) Check(ctx context.Context) error {
	path := filepath.Join(b.dir, File)
	return explainError(path, checkTables(ctx, b.db, path))
}

// write runs f in a transaction.
func (b *Bank) write(ctx context.Context, what string, f func(*sql.Tx) error) error {
	return b.wrapError(what, sqlstore.Write(ctx, b.db, f))
}
