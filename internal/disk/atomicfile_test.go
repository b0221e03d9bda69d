package disk

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func TestWriteFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.json")
	writers := []func(string, []byte, fs.FileMode) error{WriteFile, Replace}
	for i, text := range []string{"first", "", "third, longer than the others", "fourth"} {
		if err := writers[i%2](path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != text {
			t.Errorf("got %q, %v; want %q", got, err, text)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v", info.Mode())
	}
	wantOnly(t, filepath.Dir(path), "a.json")
}

func TestFailureLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "taken"), 0o755); err != nil {
		t.Fatal(err)
	}
	err := WriteFile(filepath.Join(dir, "taken"), []byte("x"), 0o644)
	if err == nil || !strings.Contains(err.Error(), "write "+filepath.Join(dir, "taken")) {
		t.Errorf("got %v", err)
	}
	wantOnly(t, dir, "taken")
	if err := WriteFile(filepath.Join(dir, "absent", "x"), nil, 0o644); err == nil {
		t.Error("no error for a directory that is not there")
	}
}

func TestFillReportsAWriteThatFails(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path) // read only: writing fails as on a full disk
	if err != nil {
		t.Fatal(err)
	}
	if err := fill(f, []byte("x"), 0o600, (*os.File).Sync); err == nil {
		t.Error("no error")
	}
	if err := f.Close(); err == nil {
		t.Error("the file was left open")
	}
}

func TestSyncDirNeedsADirectory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("directories are not flushed there")
	}
	if err := syncDir(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("no error")
	}
}

// Readers beside writers never see a mixture.
func TestReadersSeeWholeFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x")
	a, b := bytes.Repeat([]byte("a"), 1<<16), bytes.Repeat([]byte("b"), 1<<15)
	if err := WriteFile(path, a, 0o600); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for _, data := range [][]byte{a, b} {
		writers.Go(func() {
			for range 20 {
				if err := WriteFile(path, data, 0o600); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 100 {
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, a) && !bytes.Equal(got, b) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
	}
	writers.Wait()
}

func wantOnly(t *testing.T, dir, name string) {
	t.Helper()
	var names []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, _ fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	if err != nil || strings.Join(names, " ") != ". "+name {
		t.Errorf("directory holds %v, %v", names, err)
	}
}
