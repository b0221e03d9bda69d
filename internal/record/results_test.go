package record

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
)

// Results are those of the journal itself, whichever entries are in between, and an entry that
// is gone is no shorter record.
func TestResultsAreThoseOfTheJournal(t *testing.T) {
	t.Parallel()
	_, dir := emptyRun(t)
	path := filepath.Join(dir, run.DBFile)
	j, err := journal.Open(t.Context(), path, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	spend := journal.Spend{Stage: "rollout", Role: "target", Model: "m"}
	for _, key := range []string{"seed/selection/a/sample0/attempt0/turn1", "seed/selection/b/sample0/attempt0/turn1", "train/start"} {
		if err := j.Charge(t.Context(), journal.Record{Kind: journal.Fault, Key: key, Code: "server", Spend: spend}); err != nil {
			t.Fatal(err)
		}
		if err := j.Append(t.Context(), journal.Record{Kind: journal.Call, Key: key, Result: []byte(`{"text":"x"}`), Spend: spend}); err != nil {
			t.Fatal(err)
		}
	}
	var want, got []journal.Record
	for rec, err := range j.Results(t.Context(), 0) {
		if want = append(want, rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	read := func() (out []journal.Record, err error) {
		r, err := Open(t.Context(), dir)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		for rec, err := range r.Results(t.Context()) {
			if err != nil {
				return out, err
			}
			out = append(out, rec)
		}
		return out, nil
	}
	if got, err = read(); err != nil || len(got) != 3 {
		t.Fatalf("%d results, %v", len(got), err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "DELETE FROM entries WHERE seq = 2")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	var damaged *run.DamagedError
	if got, err = read(); !errors.As(err, &damaged) {
		t.Errorf("%d results, %v", len(got), err)
	}
}

// A record that cannot be opened, as one that somebody has locked, is not known to be damaged:
// nobody is told to put back a copy.
func TestCheckOfARecordThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	_, dir := emptyRun(t)
	path := filepath.Join(dir, run.DBFile)
	if err := os.Rename(path, path+"-away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, path); err != nil { // which leads nowhere else
		t.Skipf("links cannot be made here: %v", err)
	}
	if found, err := Check(t.Context(), dir); err == nil {
		t.Errorf("%+v", found)
	}
}
