package bank

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/fault"
)

// A disk that is full takes nothing of what was kept, says what helps, and the next harvest goes
// on. The room of the file is bounded here, as a disk's is.
func TestTrap64DiskFull(t *testing.T) {
	t.Parallel()
	b := open(t, t.TempDir())
	if err := b.Keep(t.Context(), []Kept{kept("/a", session("a", "1"))}); err != nil {
		t.Fatal(err)
	}
	before := shown(t, b)
	if _, err := b.db.ExecContext(t.Context(), "PRAGMA max_page_count = 20"); err != nil {
		t.Fatal(err)
	}
	large := session("b")
	for i := range 500 {
		large.Turns = append(large.Turns, session("b", fmt.Sprint("t", i)).Turns[0])
		large.Turns[i].User = strings.Repeat("word ", 100)
	}
	err := b.Keep(t.Context(), []Kept{kept("/b", large)})
	var full *WriteError
	if !errors.As(err, &full) || fault.Of(err) != fault.Environment || !strings.Contains(err.Error(), "the disk is full") || !strings.Contains(err.Error(), "free room") {
		t.Fatalf("%v (%s)", err, fault.Of(err))
	}
	if diff := cmp.Diff(before, shown(t, b)); diff != "" {
		t.Errorf("what was kept changed: %s", diff)
	}
	if _, err := b.db.ExecContext(t.Context(), "PRAGMA max_page_count = 100000"); err != nil {
		t.Fatal(err)
	}
	if err := b.Keep(t.Context(), []Kept{kept("/b", large)}); err != nil || len(shown(t, b)["b"]) != 500 {
		t.Errorf("with room again: %v", err)
	}
}
