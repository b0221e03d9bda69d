package journal_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/journal"
)

// A file that somebody sent may have views with rows without end in the place of tables, triggers, or values that no column
// of a journal has: it is named as damaged, by whoever opens or reads it, before a row of it is waited for.
func TestHostileSchemas(t *testing.T) {
	t.Parallel()
	const endless = " AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT "
	for name, tc := range map[string]struct {
		script, says string
		later        bool // when a row is read
	}{
		"entries without end": {"ALTER TABLE entries RENAME TO old; CREATE VIEW entries" + endless + "i AS seq, 'call' AS kind, 'k' AS key FROM n", "a view, \"entries\"", false},
		"meta without end":    {"ALTER TABLE meta RENAME TO old; CREATE VIEW meta" + endless + "'k' || i AS key, 'v' AS value FROM n", "a view, \"meta\"", false},
		"a trigger":           {"CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END", "a trigger, \"t\"", false},
		"a virtual table":     {"CREATE VIRTUAL TABLE v USING fts5(x)", "a table, \"v\"", false},
		"a number as words":   {"UPDATE entries SET input_tokens = 'many'", "sql: Scan error", true},
		"bytes as a number":   {"UPDATE entries SET attempt = x'00'", "sql: Scan error", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "run.db")
			j := open(t, path)
			appendAll(t, j, call(1, journal.NewBlob("s"), nil, nil))
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			alter(t, path, tc.script)
			var damage *journal.CorruptError
			read, err := journal.Open(t.Context(), path, journal.Options{ReadOnly: true})
			if !errors.As(err, &damage) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("opened: %v", err)
			}
			if err == nil {
				_ = read.Close()
			}
			v, err := journal.OpenView(t.Context(), path)
			if err == nil {
				for _, failed := range v.Entries(t.Context(), journal.Query{}) {
					err = errors.Join(err, failed)
				}
				if !tc.later {
					t.Error("a view of it is opened")
				}
				if err := v.Close(); err != nil {
					t.Error(err)
				}
			}
			if !errors.As(err, &damage) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("looked at: %v", err)
			}
		})
	}
}
