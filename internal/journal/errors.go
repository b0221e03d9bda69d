package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	sqlite "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
)

// ErrClosed is returned for writes to a journal that was closed, or that was
// opened to be read only.
var ErrClosed = errors.New("the journal is not open for writing")

// ErrMissing is returned by Open when the file should exist and does not, or
// is empty.
var ErrMissing = errors.New("the journal is missing or empty")

// DuplicateError says that a key has a result already. It is a fault of the
// program: two steps of a run share a place.
type DuplicateError struct{ Key string }

func (e *DuplicateError) Error() string {
	return fmt.Sprintf("the step %q is recorded already", e.Key)
}

// FoldError says that a journal was closed whose write-ahead log could not be folded
// into its file, because somebody else reads it. All entries are durable; the log holds
// the newest of them and belongs to the file until the journal is opened again.
type FoldError struct{ Path string }

func (e *FoldError) Error() string {
	return fmt.Sprintf("another process reads the journal %s, so that its newest entries stay in %s-wal: do not copy or move the one without the other", e.Path, e.Path)
}

// CorruptError says that a journal is damaged or cut short. Nothing was changed.
type CorruptError struct {
	Path   string
	Reason string
	Err    error // may be nil
}

func (e *CorruptError) Error() string {
	text := fmt.Sprintf("the journal %s is damaged: %s", e.Path, e.Reason)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text + "; put back a copy of the whole run directory, or start a new run under another name"
}

func (e *CorruptError) Unwrap() error { return e.Err }

// VersionError says that a journal has another format than this program reads.
type VersionError struct {
	Path  string
	Found int
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("the journal %s has format %d, and this program reads format %d: use the program that wrote it", e.Path, e.Found, version)
}

// MismatchError says that a journal is not the one that its run's manifest
// speaks of: it belongs to another run, or entries are missing at its end.
type MismatchError struct {
	Path      string
	RunID     string // of the journal, "" if it has none
	WantRunID string
	Seq       int64 // last entry of the journal
	WantSeq   int64 // last entry that the manifest knows
}

func (e *MismatchError) Error() string {
	if e.RunID != e.WantRunID {
		return fmt.Sprintf("the journal %s belongs to run %q and the manifest to run %q: one of the two files was emptied or replaced; put back the one that fits",
			e.Path, e.RunID, e.WantRunID)
	}
	return fmt.Sprintf("the journal %s ends at entry %d and the manifest knows of %d: the end of the journal is lost; put back a copy of the whole run directory, or start a new run under another name",
		e.Path, e.Seq, e.WantSeq)
}

// WriteError says that the journal could not be written: a full disk, a lost
// volume, missing rights. The journal takes nothing more; what was acknowledged
// before is safe.
type WriteError struct {
	Path string
	Full bool // the disk, or a quota, is full
	Err  error
}

func (e *WriteError) Error() string {
	if e.Full {
		return fmt.Sprintf("write journal %s: no space left: %v; make room and run the same command again", e.Path, e.Err)
	}
	return fmt.Sprintf("write journal %s: %v", e.Path, e.Err)
}

func (e *WriteError) Unwrap() error { return e.Err }

// Is lets the error be recognized as other failures of the file system are: it
// matches syscall.ENOSPC when the disk is full, and fs.ErrPermission when the
// file may not be opened or written.
func (e *WriteError) Is(target error) bool {
	switch target {
	case syscall.ENOSPC:
		return e.Full
	case fs.ErrPermission:
		code := sqlstore.Code(e.Err)
		return code == sqlite3.SQLITE_READONLY || code == sqlite3.SQLITE_PERM || code == sqlite3.SQLITE_CANTOPEN
	}
	return false
}

// isDamage reports whether SQLite itself found the file to be broken, or shorter
// than it has to be. A statement of ours that does not fit the tables of a file
// of a known version means that its schema was hurt.
func isDamage(err error) bool {
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code() == sqlite3.SQLITE_IOERR_SHORT_READ {
		return true
	}
	if err != nil && strings.Contains(err.Error(), "sql: Scan error") { // a value that no column of a journal has; the error has no type
		return true
	}
	code := sqlstore.Code(err)
	return sqlstore.IsDamage(err) || code == sqlite3.SQLITE_ERROR || code == sqlite3.SQLITE_TOOBIG
}
