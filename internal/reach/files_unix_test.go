//go:build unix

package reach_test

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed-f4525e22/skillopt/internal/reach"
)

// TestAPipeIsNotWaitedFor: a program may be anything that a config names.
func TestAPipeIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := reach.Disk().Text(path); got != "" {
		t.Errorf("a pipe says %q", got)
	}
}
