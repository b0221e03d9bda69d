//go:build unix

package disk_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// TestNothingIsWaitedFor: nobody ever writes to these.
func TestNothingIsWaitedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe, socket, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "s"), filepath.Join(dir, "link")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.Symlink(pipe, link)); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for path, what := range map[string]string{pipe: "a named pipe", link: "a named pipe", socket: "a socket", "/dev/zero": "a device", "/dev/tty": "a device"} {
		_, err := disk.Read(t.Context(), path, 10)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if !errors.Is(err, disk.ErrNotFile) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v, want %s", path, err, what)
		}
	}
	fsys := disk.Dir(t.Context(), dir, 10)
	if _, err := fsys.Open("link"); !errors.Is(err, disk.ErrNotFile) {
		t.Errorf("got %v", err)
	}
	if _, err := fs.ReadFile(fsys, "pipe"); !errors.Is(err, disk.ErrNotFile) {
		t.Errorf("got %v", err)
	}
}

// TestFilesThatLieAboutTheirSize: those of /proc say 0.
func TestFilesThatLieAboutTheirSize(t *testing.T) {
	t.Parallel()
	const path = "/proc/self/status"
	if _, err := os.Stat(path); err != nil {
		t.Skip(err)
	}
	if text, err := disk.Read(t.Context(), path, 1<<20); err != nil || len(text) == 0 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if _, err := disk.Read(t.Context(), path, 10); !errors.Is(err, disk.ErrTooLarge) {
		t.Errorf("got %v", err)
	}
}
