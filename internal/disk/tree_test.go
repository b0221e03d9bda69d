package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func plant(t *testing.T, dir string, names ...string) *os.Root {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil && !strings.HasSuffix(name, "/") {
			err = os.WriteFile(path, nil, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

// chain makes folders that nest n levels below dir, with a file in the last.
func chain(t *testing.T, dir string, n int) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	for range n {
		if err != nil {
			t.Fatal(err)
		}
		sub := root
		if err = root.Mkdir("d", 0o700); err == nil {
			sub, err = root.OpenRoot("d")
		}
		_ = root.Close()
		root = sub
	}
	if err == nil {
		err = errors.Join(root.WriteFile("last", nil, 0o600), root.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestWalk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := plant(t, dir, "a.txt", "b/c.txt", "b/d/e.txt", "skipped/f.txt", ".git")
	if err := os.Symlink("b", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	var got []string
	err := Walk(root, func(in *os.Root, path string, e fs.DirEntry, err error) error {
		got = append(got, path)
		if info, statErr := in.Lstat(e.Name()); statErr != nil || info.Mode().Type() != e.Type() || err != nil {
			t.Errorf("%s: %v, %v, %v", path, info, statErr, err)
		}
		if path == "skipped" {
			return fs.SkipDir
		}
		return nil
	})
	slices.Sort(got)
	if diff := cmp.Diff([]string{".git", "a.txt", "b", "b/c.txt", "b/d", "b/d/e.txt", "link", "skipped"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	stop := errors.New("stop")
	if err := Walk(root, func(*os.Root, string, fs.DirEntry, error) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the visitor's error became %v", err)
	}
}

// TestDeep: folders that nest deeper than anybody needs cost no more than others, are
// told, and can be deleted.
func TestDeep(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "deep")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	chain(t, dir, 5_000)
	root := plant(t, dir, "beside.txt")
	seen, deep := 0, 0
	err := Walk(root, func(_ *os.Root, _ string, _ fs.DirEntry, err error) error {
		seen++
		if errors.Is(err, ErrDeep) {
			deep++
		} else if err != nil {
			t.Error(err)
		}
		return nil
	})
	if err != nil || deep != 1 || seen != MaxDepth+3 {
		t.Errorf("%d entries were seen, %d too deep: %v", seen, deep, err)
	}
	if err := RemoveAll(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// TestPrune: what is deep goes, and nothing else.
func TestPrune(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := plant(t, dir, "beside/file.txt")
	if pruned, err := Prune(dir); err != nil || pruned {
		t.Errorf("nothing was to be pruned: %v, %v", pruned, err)
	}
	chain(t, filepath.Join(dir, "beside"), 3*MaxDepth)
	if pruned, err := Prune(dir); err != nil || !pruned {
		t.Errorf("pruned %v, %v", pruned, err)
	}
	err := Walk(root, func(_ *os.Root, path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasPrefix(path, "beside") || e.Name() == "last" {
			t.Errorf("there is %s: %v", path, err)
		}
		return nil
	})
	if _, statErr := root.Stat("beside/file.txt"); err != nil || statErr != nil {
		t.Error(err, statErr)
	}
}

func TestRemoveAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plant(t, dir, "x/a", "file", "kept/b")
	if err := os.Symlink(filepath.Join(dir, "kept"), filepath.Join(dir, "x", "link")); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"x", "file", "not there"} {
		if err := RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("there is %v left, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "kept", "b")); err != nil {
		t.Error(err)
	}
}
