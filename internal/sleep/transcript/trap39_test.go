package transcript_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
	"github.com/seed-f4525e22/skillopt/internal/testing/transcripttest"
)

// A writer that keeps the database locked for itself is neither waited for nor kept from
// committing, and what it has not committed is not seen.
func TestTrap39LockedDatabase(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"WAL", "DELETE"} {
		home := t.TempDir()
		path := filepath.Join(home, openCodeFile)
		exec(t, path, "PRAGMA journal_mode="+mode+";"+openCodeHome(openCodeSession("s", 1, "agent", "x"), openCodeTurn("s", "m1", 10, "committed", "1"))[openCodeFile+".sql"])
		db := sqlstore.Open(path, "?mode=rw")
		defer func() { _ = db.Close() }()
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		for _, statement := range []string{"BEGIN EXCLUSIVE", openCodeTurn("s", "m2", 20, "not yet", "2")} {
			if _, err := conn.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		res := transcripttest.Case{Source: transcript.OpenCode{}}.All(t, home, nil)
		if diff := cmp.Diff([]string{"committed"}, userWords(res)); diff != "" || res.Err != nil {
			t.Errorf("%s: %s %v", mode, diff, res.Err)
		}
		if _, err := conn.ExecContext(t.Context(), "COMMIT"); err != nil {
			t.Errorf("%s: the agent could not commit: %v", mode, err)
		}
		res = transcripttest.Case{Source: transcript.OpenCode{}}.All(t, home, nil)
		if diff := cmp.Diff([]string{"committed", "not yet"}, userWords(res)); diff != "" {
			t.Errorf("%s: after the commit: %s", mode, diff)
		}
	}
}
