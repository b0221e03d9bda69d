package journal_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/journal"
)

func viewOf(t *testing.T, path string) *journal.View {
	t.Helper()
	v, err := journal.OpenView(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	return v
}

func keysOf(t *testing.T, v *journal.View, q journal.Query) []string {
	t.Helper()
	keys := []string{}
	for r, err := range v.Entries(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, r.Key)
	}
	return keys
}

// A view sees what is committed, beside the process that writes and after it, and finds
// entries by what is asked of them.
func TestViewBesideAWriter(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.db")
	j := open(t, path)
	in := journal.Input{Shared: []journal.Blob{journal.NewBlob("shared text")}, Own: []byte("own")}
	for i := range 3 {
		appendAll(t, j, journal.Record{Kind: journal.Call, Key: fmt.Sprintf("a/t%d/sample0", i), Result: []byte("r"), Input: in, Spend: journal.Spend{Stage: "rollout"}})
	}
	v := viewOf(t, path)
	if diff := cmp.Diff([]string{"a/t0/sample0", "a/t1/sample0", "a/t2/sample0"}, keysOf(t, v, journal.Query{})); diff != "" {
		t.Error(diff)
	}
	if err := j.Charge(t.Context(), journal.Record{Kind: journal.Fault, Key: "b", Code: "network", Spend: journal.Spend{Stage: "merge"}}); err != nil {
		t.Fatal(err)
	}
	appendAll(t, j, journal.Record{Kind: journal.Call, Key: "c", Result: []byte("r"), Spend: journal.Spend{Stage: "merge"}})
	for name, tc := range map[string]struct {
		q    journal.Query
		want []string
	}{
		"by key":      {journal.Query{Key: "a/t1/sample0"}, []string{"a/t1/sample0"}},
		"by a part":   {journal.Query{Item: "t2"}, []string{"a/t2/sample0"}},
		"no pattern":  {journal.Query{Item: "%"}, []string{}},
		"by stage":    {journal.Query{Stage: "merge"}, []string{"b", "c"}},
		"faults":      {journal.Query{Faults: true}, []string{"b"}},
		"all of them": {journal.Query{Stage: "merge", Key: "a/t1/sample0"}, []string{}},
	} {
		if diff := cmp.Diff(tc.want, keysOf(t, v, tc.q)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	got, err := v.Input(t.Context(), 1)
	if err != nil || !cmp.Equal(in, got, cmpInput) {
		t.Errorf("%v, %+v", err, got)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(keysOf(t, viewOf(t, path), journal.Query{})); n != 5 {
		t.Errorf("%d entries after the end", n)
	}
}

// What is missing, newer or damaged is told, and a damaged entry is not given.
func TestViewOfBadFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := journal.OpenView(t.Context(), filepath.Join(dir, "none.db")); !errors.Is(err, journal.ErrMissing) {
		t.Errorf("no file: %v", err)
	}
	path := filepath.Join(dir, "run.db")
	j := open(t, path)
	appendAll(t, j, journal.Record{Kind: journal.Call, Key: "k", Result: []byte("right")})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	change := func(statement string) {
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	change("UPDATE entries SET result = 'wrong'")
	var corrupt *journal.CorruptError
	for r, err := range viewOf(t, path).Entries(t.Context(), journal.Query{}) {
		if !errors.As(err, &corrupt) {
			t.Errorf("a changed entry: %q, %v", r.Result, err)
		}
	}
	change("PRAGMA user_version = 99")
	var newer *journal.VersionError
	if _, err := journal.OpenView(t.Context(), path); !errors.As(err, &newer) || newer.Found != 99 {
		t.Errorf("a newer one: %v", err)
	}
}
