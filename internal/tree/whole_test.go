package tree_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/testing/treetest"
	"github.com/seed-f4525e22/skillopt/internal/tree"
)

// linked returns what a folder has: text of files, and links as "-> ".
func linked(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		if target, err := os.Readlink(name); err == nil {
			out[filepath.ToSlash(rel)] = "-> " + target
			return nil
		}
		data, err := os.ReadFile(name)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestLinks(t *testing.T) {
	t.Parallel()
	inside := map[string]string{
		"to file": "d/a.txt", "to folder": "d", "d/up": "../b.txt", "d/e/top": "../..", "self": ".", "over": "to folder/e/c.txt", "over twice": "over", "gone": "d/not there", "slashes": "d//a.txt",
		"around": "d/../d/./e//c.txt", "d/e/first": "top/b.txt", "later": "new/folder/x",
	}
	outside := map[string]string{
		"absolute": "/etc/passwd", "up": "..", "d/e/far": "../../../x", "loop": "loop", "loop a": "loop b", "loop b": "loop a", "via": "absolute/x", "via up": "up/w/b.txt",
		"hidden": "d/e/top/../x", "missing": "nothing/../../x", "repository": ".git/config", "repository 2": "d/../.GIT", "secret": ".env", "in module": "module/x", "long": strings.Repeat("d/../", 1000) + "b.txt", "zero": "bad\xffname",
		"via later": "via/../b.txt",
	}
	text := map[string]string{"b.txt": "b", "d/a.txt": "a", "d/e/c.txt": "c", ".env": "A=1"}
	s := store(t)
	changes := []tree.Change{}
	for name, data := range text {
		changes = append(changes, tree.Change{Path: name, Data: []byte(data)})
	}
	for _, links := range []map[string]string{inside, outside} {
		for name, target := range links {
			changes = append(changes, tree.Change{Path: name, Link: target})
		}
	}
	made, err := s.Tree(t.Context(), "", changes)
	if err != nil {
		t.Fatal(err)
	}
	with := treetest.Git(t, s.Repo().Dir, "", "ls-tree", "-z", made) + "160000 commit " + strings.Repeat("1", 40) + "\tmodule\x00"
	made = treetest.Git(t, s.Repo().Dir, with, "mktree", "-z", "--missing")
	opened, err := tree.OpenTree(t.Context(), s.Repo(), made, tree.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(t.TempDir(), "w")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	written, err := opened.Write(t.Context(), work, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := maps.Clone(text)
	delete(want, ".env")
	for name, target := range inside {
		want[name] = "-> " + target
	}
	if diff := cmp.Diff(want, linked(t, work)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if left := (tree.LeftOut{Links: len(outside), Submodules: 1, Secrets: 1}); written.LeftOut != left || written.Files != len(want) {
		t.Errorf("written %+v, want %d files and %+v left out", written, len(want), left)
	}
	for name := range outside {
		if opened.MissingReason(name) == "" {
			t.Errorf("no reason why %s is missing", name)
		}
	}
	list := opened.Files()
	if !slices.IsSortedFunc(list, func(a, b tree.File) int { return strings.Compare(a.Path, b.Path) }) || len(list) != len(want) {
		t.Errorf("files %+v", list)
	}
	if f, ok := opened.Find("d/up"); !ok || f.Link != "../b.txt" {
		t.Errorf("%+v", f)
	}
}

// A tree with a link and a folder of one name would lead a second link outside.
func TestLinkAndFolder(t *testing.T) {
	t.Parallel()
	s := store(t)
	made, err := s.Tree(t.Context(), "", []tree.Change{{Path: "a/x", Data: []byte("x")}, {Path: "b", Link: "a/../../y"}, {Path: "z", Link: "b/c/d"}})
	if err != nil {
		t.Fatal(err)
	}
	list := treetest.Git(t, s.Repo().Dir, "", "ls-tree", made)
	twice := treetest.Git(t, s.Repo().Dir, strings.Replace(list, "\tz", "\ta", 1), "mktree")
	if _, err := tree.OpenTree(t.Context(), s.Repo(), twice, tree.Bounds{}); err == nil || !strings.Contains(err.Error(), "of one name") {
		t.Errorf("%v", err)
	}
}

func TestLFS(t *testing.T) {
	t.Parallel()
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
	files := map[string]string{"d/big.bin": pointer, "small.bin": "x", "doc.md": pointer + strings.Repeat("long ", 1000)}
	for rules, want := range map[string]int{"*.bin filter=lfs diff=lfs merge=lfs -text\n": 1, "*.bin -text\n": 0} {
		files["d/.gitattributes"] = rules
		dir, commit := treetest.Repository(t, files)
		opened, err := tree.OpenTree(t.Context(), repoAt(t, dir), commit, tree.Bounds{})
		if err != nil {
			t.Fatal(err)
		}
		if opened.LeftOut.LFS != want || (opened.MissingReason("d/big.bin") == "") != (want == 0) || opened.MissingReason("doc.md") != "" || len(opened.Files()) != 4-want {
			t.Errorf("%s: %+v", rules, opened.LeftOut)
		}
	}
}

// Files are laid over what a folder has, and follow none of its links.
func TestWriteOver(t *testing.T) {
	t.Parallel()
	s := store(t)
	made, err := s.Tree(t.Context(), "", []tree.Change{
		{Path: "t/a_test.go", Data: []byte("new")}, {Path: "u/b_test.go", Data: []byte("new")}, {Path: "v/w/c_test.go", Data: []byte("new")}, {Path: "d_test.go", Data: []byte("new")}, {Path: "l", Link: "t"},
	})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := tree.OpenTree(t.Context(), s.Repo(), made, tree.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	outside := treetest.Write(t, map[string]string{"b_test.go": "outside"})
	work := treetest.Write(t, map[string]string{
		"t": "-> src", "src/a_test.go": "theirs", "u": "-> " + outside, "v/w": "a file", "d_test.go/folder/x": "x", "l/x": "x", "other": "stays", "keep.go": "stays",
	})
	root, err := os.OpenRoot(work)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	if _, err := opened.WriteOver(t.Context(), root, nil); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"t/a_test.go": "new", "src/a_test.go": "theirs", "u/b_test.go": "new", "v/w/c_test.go": "new", "d_test.go": "new", "l": "-> t", "other": "stays", "keep.go": "stays",
	}
	if diff := cmp.Diff(want, linked(t, work)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"b_test.go": "outside"}, linked(t, outside)); diff != "" {
		t.Errorf("outside (-want +got):\n%s", diff)
	}
}
