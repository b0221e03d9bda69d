package run

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/journal"
)

// A record that may not be read, or that nobody waited for, is not damaged: its
// owner must not be told to put a copy in its place.
func TestOpenTellsDamageFromWhatStandsInTheWay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := opened(t, options(dir))
	pay(t, r, "a", "b")
	closed(t, r)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	refused := func(ctx context.Context, want error) {
		t.Helper()
		_, err := Open(ctx, options(dir))
		_, ferr := Fork(ctx, options(dir), filepath.Join(t.TempDir(), "fork"))
		for _, err := range []error{err, ferr} {
			var damaged *DamagedError
			if errors.As(err, &damaged) || !errors.Is(err, want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("got %v, want %v", err, want)
			}
		}
	}
	refused(ended, context.Canceled)
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		return // every file may be read
	}
	for _, name := range []string{DBFile, ManifestFile} {
		if err := os.Chmod(filepath.Join(dir, name), 0); err != nil {
			t.Fatal(err)
		}
		refused(t.Context(), fs.ErrPermission)
		if err := os.Chmod(filepath.Join(dir, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// What helps is said once.
func TestADamagedRunIsAdvisedOnce(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		&journal.CorruptError{Path: "run.db", Reason: "r"}, &journal.MismatchError{Path: "run.db"}, &journal.VersionError{Path: "run.db"},
		&manifestError{format: 9}, &manifestError{err: errors.New("no JSON")}, journal.ErrMissing,
	} {
		text := (&DamagedError{Dir: "runs/a", Err: err}).Error()
		advice := strings.Count(text, "put back") + strings.Count(text, "restore") + strings.Count(text, "program that wrote it")
		if advice != 1 || !strings.Contains(text, "runs/a") {
			t.Errorf("%s", text)
		}
	}
}
