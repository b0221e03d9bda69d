//go:build unix

package steer

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Links, pipes and files without an end are looked at, and neither followed, waited for nor
// read.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		make func(path string) error
		want string
	}{
		"a link out": {func(path string) error { return os.Symlink("/etc/passwd", path) }, "no regular file"},
		"a link to a file": {func(path string) error {
			return errors.Join(os.WriteFile(path+"x", []byte("{}"), 0o644), os.Symlink(filepath.Base(path)+"x", path))
		}, "no regular file"},
		"a pipe":     {func(path string) error { return syscall.Mkfifo(path, 0o644) }, "no regular file"},
		"a folder":   {func(path string) error { return os.Mkdir(path, 0o755) }, "no regular file"},
		"a gigabyte": {func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, 1<<30)) }, "1073741824 bytes, at most 4096"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, id := t.TempDir(), newID(t)
			if err := tt.make(filepath.Join(control(t, dir), id+".json")); err != nil {
				t.Fatal(err)
			}
			d := NewDesk(dir, time.Now)
			look := looked(t, d)
			if len(look.Found) != 1 || !strings.Contains(look.Found[0].Refused, tt.want) {
				t.Fatalf("%+v", look)
			}
			d.Done(id)
			if look := looked(t, d); len(look.Found) > 0 {
				t.Errorf("it is found again: %+v", look)
			}
		})
	}
}

// control itself leads nowhere else, neither for who asks nor for who reads.
func TestTheFolderIsNoLink(t *testing.T) {
	t.Parallel()
	for _, target := range []string{t.TempDir(), "elsewhere"} {
		dir := t.TempDir()
		if err := errors.Join(os.Mkdir(filepath.Join(dir, "elsewhere"), 0o755), os.Symlink(target, filepath.Join(dir, Folder))); err != nil {
			t.Fatal(err)
		}
		if _, err := Put(dir, Stop, nil, "test", time.Now()); !errors.Is(err, errNoFolder) {
			t.Errorf("put: %v", err)
		}
		if look := looked(t, NewDesk(dir, time.Now)); look.Problem == "" || len(look.Found) > 0 {
			t.Errorf("%+v", look)
		}
	}
}

// A request of somebody else than the owner of the directory, the process and root is
// refused, as one that somebody else could put into a folder that all may write.
func TestForeignOwners(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	for owner, mine := range map[int]bool{0: true, 4711: true, 4712: false} {
		dir := t.TempDir()
		id := asked(t, dir, Stop, nil)
		if err := errors.Join(os.Chown(dir, 4711, 4711), os.Chown(filepath.Join(dir, Folder, id+".json"), owner, 4711)); err != nil {
			t.Fatal(err)
		}
		look := looked(t, NewDesk(dir, time.Now))
		if len(look.Found) != 1 || mine != (look.Found[0].Refused == "") {
			t.Errorf("owner %d: %+v", owner, look)
		}
	}
}

// What cannot be removed is answered once and not found again.
func TestRequestsThatStay(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may remove everything")
	}
	dir := t.TempDir()
	id := asked(t, dir, Stop, nil)
	folder := filepath.Join(dir, Folder)
	if err := os.Chmod(folder, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(folder, 0o755) })
	d := NewDesk(dir, time.Now)
	looked(t, d)
	if d.Done(id); len(looked(t, d).Found) > 0 {
		t.Error("it is found again")
	}
	if _, err := Put(dir, Stop, nil, "test", time.Now()); err == nil || !strings.Contains(err.Error(), "may not be written here, as that of a copy") {
		t.Errorf("put: %v", err)
	}
}
