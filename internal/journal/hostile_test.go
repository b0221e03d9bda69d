package journal_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/journal"
)

// manyTables makes as many tables as take a second page for their list.
func manyTables() string {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "CREATE TABLE t%d (a, b, c);", i)
	}
	return b.String()
}

// A file that somebody sent may have views with rows without end in the place of tables, triggers, or values that no column
// of a journal has: it is named as damaged, by anyone who opens or reads it, before a row of it is waited for.
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
		"tables without end":  {manyTables(), "more than 64 tables", false},
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

// A value that is longer than any that was written is not read: whoever asks for it is told its table and row. One that is as
// long as the bound is read, and a run that is gone on with has none.
func TestValuesThatAreTooLong(t *testing.T) {
	t.Parallel()
	const most = 5000
	entries := func(ctx context.Context, v *journal.View) (err error) {
		for _, failed := range v.Entries(ctx, journal.Query{Stage: "rollout"}) {
			err = errors.Join(err, failed)
		}
		return err
	}
	input := func(ctx context.Context, v *journal.View) error { _, err := v.Input(ctx, 2); return err }
	for name, tc := range map[string]struct {
		script, says string
		read         func(context.Context, *journal.View) error
	}{
		"a result": {"UPDATE entries SET result = zeroblob(5001) WHERE seq = 2", "result of row 2 in table entries has 5001 bytes", entries},
		"one entry": {"UPDATE entries SET result = zeroblob(5001) WHERE seq = 2", "result of row 2 in table entries", func(ctx context.Context, v *journal.View) error {
			_, err := v.Entry(ctx, 2)
			return err
		}},
		"a key, counted": {"UPDATE entries SET key = hex(zeroblob(5000)) WHERE seq = 2", "key of row 2 in table entries has 10000 bytes", func(ctx context.Context, v *journal.View) error {
			_, err := v.Follow(ctx, 0, 9)
			return err
		}},
		"a stage, searched": {"UPDATE entries SET stage = hex(zeroblob(5000)) WHERE seq = 2", "stage of row 2 in table entries", entries},
		"an input":          {"UPDATE entries SET own = zeroblob(5001) WHERE seq = 2", "own of row 2 in table entries", input},
		"a shared part":     {"UPDATE blobs SET data = zeroblob(5001)", "data of row 1 in table blobs", input},
		"an answer": {"UPDATE entries SET own = zeroblob(5001) WHERE seq = 2", "own of row 2 in table entries", func(ctx context.Context, v *journal.View) error {
			_, _, err := v.Answer(ctx, 2)
			return err
		}},
		"a meta value": {"INSERT INTO meta VALUES ('k', hex(zeroblob(5000)))", "value of row k in table meta", func(ctx context.Context, v *journal.View) error {
			_, err := v.Meta(ctx)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "run.db")
			j := open(t, path)
			appendAll(t, j, call(1, journal.NewBlob("s"), nil, make([]byte, most)), call(2, journal.NewBlob("s"), nil, nil))
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			look := func() error {
				v, err := journal.OpenViewOf(t.Context(), path, most)
				if err != nil {
					return err
				}
				return errors.Join(tc.read(t.Context(), v), v.Close())
			}
			if err := look(); err != nil {
				t.Errorf("before: %v", err)
			}
			alter(t, path, tc.script)
			_, examined := journal.ExamineOf(t.Context(), path, most)
			for what, err := range map[string]error{"looked at": look(), "examined": examined} {
				var damage *journal.CorruptError
				if !errors.As(err, &damage) || !strings.Contains(damage.Reason, tc.says) {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
	path := filepath.Join(t.TempDir(), "long.db")
	j := open(t, path)
	appendAll(t, j, call(1, journal.NewBlob("s"), nil, make([]byte, most+1)))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.ExamineOf(t.Context(), path, most); err == nil {
		t.Error("a long result is examined")
	}
	if r, ok, err := open(t, path).Lookup(call(1, journal.NewBlob("s"), nil, nil).Key); err != nil || !ok || len(r.Result) != most+1 {
		t.Errorf("a run that is gone on with: %v, %v", ok, err)
	}
}
