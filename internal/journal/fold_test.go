package journal_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
)

// Whoever closes a journal that somebody else reads is told that its log stays beside
// it. What was recorded is there, and the next Close folds the log in.
func TestALogThatStaysIsTold(t *testing.T) {
	t.Parallel()
	for _, warned := range []bool{true, false} {
		path := filepath.Join(t.TempDir(), "run.db")
		var told []error
		opts := journal.Options{}
		if warned {
			opts.Warn = func(err error) { told = append(told, err) }
		}
		j, err := journal.Open(t.Context(), path, opts)
		if err != nil {
			t.Fatal(err)
		}
		appendAll(t, j, decision("a", "1"))
		read := reading(t, path)
		appendAll(t, j, decision("b", "2"))
		if err := j.Exec(t.Context(), "PRAGMA busy_timeout = 0"); err != nil { // the reader stays
			t.Fatal(err)
		}
		err = j.Close()
		if !warned {
			told = append(told, err)
		} else if err != nil {
			t.Errorf("told, and failed with %v", err)
		}
		var left *journal.FoldError
		if len(told) != 1 || !errors.As(told[0], &left) {
			t.Errorf("told %v, want one *FoldError", told)
		}
		if info, err := os.Stat(path + "-wal"); err != nil || info.Size() == 0 {
			t.Errorf("no log stays: %v", err)
		}
		read()
		again := open(t, path)
		if ok := again.Has("b"); !ok || again.Lost() != nil {
			t.Errorf("b is not there, or lost: %v", again.Lost())
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
			t.Error("the log is still there")
		}
	}
}

// reading holds a read transaction open until the function that it returns is called.
func reading(t *testing.T, path string) (end func()) {
	t.Helper()
	db := sqlstore.Open(path, "?mode=ro")
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRow("SELECT count(*) FROM entries").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := errors.Join(tx.Rollback(), db.Close()); err != nil {
			t.Error(err)
		}
	}
}
