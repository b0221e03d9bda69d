package run

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/result"
)

// A run knows its directory again when that was moved, and a copy for one; a session that
// works in a copy makes it a run of its own.
func TestCopied(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir := filepath.Join(base, "run")
	r := opened(t, options(dir))
	if r.Manifest.Directory == "" && folderIdentity(dir) == "" {
		t.Skip("this system tells no device and inode")
	}
	closed(t, r)
	copied := func(dir string) bool {
		m, found, err := ReadManifest(dir)
		if err != nil || !found {
			t.Fatal(found, err)
		}
		return IsCopy(dir, m)
	}
	moved, other := filepath.Join(base, "moved"), filepath.Join(base, "other")
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(other, os.DirFS(moved)); err != nil {
		t.Fatal(err)
	}
	if copied(moved) || !copied(other) {
		t.Errorf("moved: %v, copied: %v", copied(moved), copied(other))
	}
	if IsCopy(other, Manifest{}) {
		t.Error("a run that knows no directory is taken for a copy")
	}
	closed(t, opened(t, options(other)))
	if copied(other) {
		t.Error("a copy that was gone on with is still taken for one")
	}
}

// The end of a session is noted, and forgotten when another begins.
func TestEndedAt(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	ended := func() *time.Time {
		m, _, err := ReadManifest(dir)
		if err != nil {
			t.Fatal(err)
		}
		return m.EndedAt
	}
	r := opened(t, options(dir))
	if at := ended(); at != nil {
		t.Errorf("a run at work has ended at %v", at)
	}
	if err := r.SetStatus(result.Stopped); err != nil {
		t.Fatal(err)
	}
	if at := ended(); at == nil || !at.Equal(time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)) {
		t.Errorf("it ended at %v", at)
	}
	closed(t, r)
	opened(t, options(dir))
	if at := ended(); at != nil {
		t.Errorf("a run that goes on has ended at %v", at)
	}
}

// Notes go to the trash with their run and are there when it is moved back, under any name;
// with a link in their place the run goes alone.
func TestTrashTakesNotes(t *testing.T) {
	t.Parallel()
	runs := t.TempDir()
	dir := filepath.Join(runs, "x-1")
	closed(t, opened(t, options(dir)))
	if err := os.WriteFile(NotesPath(dir), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	to, err := Trash(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(to, InnerNotes)); err != nil || string(data) != "mine" {
		t.Errorf("in the trash: %q, %v", data, err)
	}
	if _, err := os.Lstat(NotesPath(dir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("they stay behind: %v", err)
	}
	closed(t, opened(t, options(dir)))
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Symlink(elsewhere, NotesPath(dir)); err != nil {
		t.Skip("no links here")
	}
	if to, err = Trash(dir, time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(to, InnerNotes)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a link was moved into the run: %v", err)
	}
}
