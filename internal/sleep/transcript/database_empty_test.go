package transcript_test

import (
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
)

// An agent makes the file first and its tables later: a database at that moment, whether it is an
// empty file or one with a header alone, has no sessions and is no error. One with tables of
// somebody else is.
func TestDatabaseWithoutTables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source transcript.Source
		name   string
	}{{transcript.Copilot{}, ".copilot/session-store.db"}, {transcript.OpenCode{}, ".local/share/opencode/opencode.db"}} {
		if got := readHome(t, c.source, map[string]string{c.name: ""}); got.Err != nil || len(got.Problems) > 0 || len(got.Transcripts) > 0 {
			t.Errorf("%s, an empty file: %+v", c.source.Name(), got)
		}
		if got := readHome(t, c.source, map[string]string{c.name + ".sql": "PRAGMA user_version = 0; VACUUM;"}); got.Err != nil || len(got.Problems) > 0 || len(got.Transcripts) > 0 {
			t.Errorf("%s, without tables: %+v", c.source.Name(), got)
		}
		if got := readHome(t, c.source, map[string]string{c.name + ".sql": "CREATE TABLE x (y);"}); got.Err == nil {
			t.Errorf("%s, with a table of somebody else: %+v", c.source.Name(), got)
		}
	}
}
