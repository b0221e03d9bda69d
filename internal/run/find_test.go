package run

import (
	"path/filepath"
	"testing"
	"time"
)

// Runs that were begun within one second are listed in the order in which they were.
func TestListWithinASecond(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	names := []string{"demo-9", "demo-10", "a-late-one"}
	for _, name := range names {
		o := options(filepath.Join(base, name))
		o.Now = func() time.Time { return time.Unix(1000, 0) }
		closed(t, opened(t, o))
	}
	entries, err := List(base)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range entries {
		if got := filepath.Base(e.Dir); got != names[i] {
			t.Errorf("place %d has %s, want %s", i, got, names[i])
		}
	}
}
