package harvest_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // the database driver
)

// A store that a build read which reads less of it is read anew, once.
func TestStoresOfOlderBuildsAreReadAnewOnce(t *testing.T) {
	t.Parallel()
	s, state := store{t.TempDir()}, t.TempDir()
	s.write(t, "a.jsonl", begin("a", "/srv/shop")+user("one", "2026-11-22T08:00:00Z")+line("type", "tool", "name", "shell", "command", "make", "exit", 1))
	if got := s.run(t, state, nil); got.Sessions != 1 {
		t.Fatalf("%+v", got)
	}
	if got := s.run(t, state, nil); got.Sessions != 0 {
		t.Fatalf("nothing is new: %+v", got)
	}
	db, err := sql.Open("sqlite", filepath.Join(state, "bank.db"))
	if err != nil {
		t.Fatal(err)
	}
	// The digest of the same terms without a format, and turns without what is read since.
	for _, change := range []string{
		`UPDATE stores SET terms = '0123456789abcdef'`,
		`UPDATE turns SET data = json_remove(data, '$.commands', '$.read', '$.lines')`,
	} {
		if _, err := db.ExecContext(t.Context(), change); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got := kept(t, state); len(got) != 1 {
		t.Errorf("what an older build kept cannot be read: %v", got)
	}
	if got := s.run(t, state, nil); got.Sessions != 1 || got.Stores[0].State != "changed" {
		t.Errorf("not read anew: %+v", got.Stores)
	}
	if got := s.run(t, state, nil); got.Sessions != 0 {
		t.Errorf("read anew twice: %+v", got.Stores)
	}
}
