package run

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestTrash(t *testing.T) {
	t.Parallel()
	runs := t.TempDir()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	plant := func(name string) string {
		dir := filepath.Join(runs, name)
		r, err := Open(t.Context(), options(dir))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	dir := plant("x-1")
	to, err := Trash(dir, now)
	if err != nil || to != filepath.Join(runs, ".trash", "x-1-20260102T030405Z") {
		t.Fatalf("%s, %v", to, err)
	}
	if list, err := List(runs); err != nil || len(list) != 0 {
		t.Errorf("the trash is listed: %v, %v", list, err)
	}
	again, err := Trash(plant("x-1"), now)
	if err != nil || again != to+"-2" {
		t.Errorf("the same name within a second: %s, %v", again, err)
	}
	if err := os.Rename(to, dir); err != nil { // back again
		t.Fatal(err)
	}
	r, err := Open(t.Context(), options(dir))
	if err != nil {
		t.Fatal(err)
	}
	var locked *LockedError
	if _, err := Trash(dir, now); !errors.As(err, &locked) {
		t.Errorf("a run at work: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Purge(dir); err == nil {
		t.Error("purged outside of the trash")
	}
	if err := Purge(again, "run.db"); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(again)
	if err != nil || len(left) != 2 {
		t.Errorf("left %v, %v", left, err)
	}
	if err := Purge(again); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(again); err == nil {
		t.Error("it is still there")
	}
}

// What is no run directory stays, and nothing is moved through a link.
func TestTrashRefuses(t *testing.T) {
	t.Parallel()
	runs, outside := t.TempDir(), t.TempDir()
	dir := filepath.Join(runs, "x-1")
	r, err := Open(t.Context(), options(dir))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	link, file, folder := filepath.Join(runs, "link"), filepath.Join(runs, "file"), filepath.Join(runs, "folder")
	if err := errors.Join(os.Symlink(dir, link), os.WriteFile(file, nil, 0o600), os.Mkdir(folder, 0o700), os.Symlink(outside, filepath.Join(runs, TrashFolder))); err != nil {
		t.Skip(err) // no links here
	}
	var none *NoDirError
	for _, path := range []string{link, file, folder, filepath.Join(runs, "nothing"), dir} { // the trash is a link
		if _, err := Trash(path, time.Now()); !errors.As(err, &none) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 0 {
		t.Errorf("moved outside: %v, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(dir, ManifestFile)); err != nil {
		t.Error(err)
	}
}
