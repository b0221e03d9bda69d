package sqlstore

import (
	"os"
	"path/filepath"
	"testing"
)

// The file that is opened is the one that is named, whatever its name holds.
func TestOddNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"run.db", "a b.db", "50%.db", "what?mode=ro.db", "a#b.db", "ü&=+.db"} {
		path := filepath.Join(t.TempDir(), name)
		db := Open(path, "?mode=rwc")
		if _, err := db.ExecContext(t.Context(), "CREATE TABLE t (x)"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("another file was made: %v", err)
		}
	}
}
