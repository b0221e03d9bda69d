package disk_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadWithinTheLimit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		size, limit int
		large       bool
	}{{0, 0, false}, {0, 4, false}, {3, 4, false}, {4, 4, false}, {5, 4, true}, {5000, 4, true}, {3 << 20, 3 << 20, false}, {3<<20 + 1, 3 << 20, true}} {
		text := strings.Repeat("x", tt.size)
		got, err := disk.Read(t.Context(), write(t, text), int64(tt.limit))
		if tt.large != errors.Is(err, disk.ErrTooLarge) {
			t.Errorf("%d bytes of %d: %v", tt.size, tt.limit, err)
		}
		if !tt.large && string(got) != text {
			t.Errorf("%d bytes of %d: got %d bytes, %v", tt.size, tt.limit, len(got), err)
		}
	}
}

// TestGrownFile: what counts is what is read, not what the file said at first.
func TestGrownFile(t *testing.T) {
	t.Parallel()
	path := write(t, "xx")
	f, err := disk.Open(t.Context(), path, 4)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("xxxxxxx"), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if !errors.Is(err, disk.ErrTooLarge) || string(text) != "xxxx" {
		t.Errorf("got %q, %v", text, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func TestErrorsSayWhatItIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := disk.Read(t.Context(), filepath.Join(dir, "none"), 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	_, err := disk.Read(t.Context(), dir, 1)
	if diff := cmp.Diff(dir+": it is a directory, not a regular file", err.Error()); diff != "" {
		t.Error(diff)
	}
	path := write(t, "long")
	_, err = disk.Read(t.Context(), path, 1<<10-1021)
	if diff := cmp.Diff("larger than 3 bytes, which is the most that is read of it", disk.Reason(err)); diff != "" {
		t.Error(diff)
	}
}

func TestContextEndsReading(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	f, err := disk.Open(ctx, write(t, "text"), 10)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cancel()
	if _, err := f.Read(make([]byte, 10)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := disk.Read(ctx, write(t, "text"), 10); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"a": "short", "b": "too long"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "c"), 0o700); err != nil {
		t.Fatal(err)
	}
	fsys := disk.Dir(t.Context(), dir, 5)
	if text, err := fs.ReadFile(fsys, "a"); err != nil || string(text) != "short" {
		t.Errorf("got %q, %v", text, err)
	}
	_, err := fs.ReadFile(fsys, "b")
	if diff := cmp.Diff("b: larger than 5 bytes, which is the most that is read of it", err.Error()); diff != "" {
		t.Error(diff)
	}
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil || len(entries) != 3 {
		t.Errorf("got %v, %v", entries, err)
	}
	for _, name := range []string{"none", "../x", "/a"} {
		if _, err := fsys.Open(name); err == nil {
			t.Errorf("%s was opened", name)
		}
		if _, err := fs.ReadFile(fsys, name); err == nil {
			t.Errorf("%s was read", name)
		}
	}
	if f, err := fsys.Open("a"); err != nil {
		t.Error(err)
	} else if info, err := f.Stat(); err != nil || info.Size() != 5 || f.Close() != nil {
		t.Errorf("got %v, %v", info, err)
	}
}

func TestReadInStaysInside(t *testing.T) {
	t.Parallel()
	outside, dir := write(t, "secret"), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if text, err := disk.ReadIn(t.Context(), root, "file", 4); err != nil || string(text) != "text" {
		t.Errorf("got %q, %v", text, err)
	}
	if text, err := disk.ReadIn(t.Context(), root, "link", 10); err == nil {
		t.Errorf("got %q through a link", text)
	}
}
