package repository

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/runner"
	"github.com/seed-f4525e22/skillopt/internal/tree"
)

// writeTree makes a repository with a tree, and writes the tree into a folder.
func writeTree(t *testing.T, files ...tree.Change) (*Repository, *tree.Tree, string) {
	t.Helper()
	r, err := Create(t.Context(), filepath.Join(t.TempDir(), "repository"), runner.Suite{Kind: runner.Go, Links: map[string]string{"vendor": "/x"}}, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := r.store.Tree(t.Context(), "", files)
	if err != nil {
		t.Fatal(err)
	}
	base, err := r.open(t.Context(), hash)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := base.Write(t.Context(), dir, nil); err != nil {
		t.Fatal(err)
	}
	return r, base, dir
}

func file(name, text string) tree.Change { return tree.Change{Path: name, Data: []byte(text)} }

func brief(changes []tree.Change) []string {
	var out []string
	for _, c := range changes {
		switch {
		case c.Gone:
			out = append(out, "-"+c.Path)
		case c.Link != "":
			out = append(out, c.Path+" -> "+c.Link)
		case c.Exec:
			out = append(out, "*"+c.Path+" "+string(c.Data))
		default:
			out = append(out, c.Path+" "+string(c.Data))
		}
	}
	slices.Sort(out)
	return out
}

// What an agent did is found; what it cannot have for its work is not, and what is dropped is said.
func TestChanged(t *testing.T) {
	t.Parallel()
	r, base, dir := writeTree(t, file("a.go", "a"), file("b.go", "b"), file("c/d.go", "d"), file("run.sh", "s"), file("CLAUDE.md", "old"),
		tree.Change{Path: "l", Link: "a.go"}, tree.Change{Path: "m", Link: "a.go"}, file("locked/x.go", "x"))
	do := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	do(os.WriteFile(at("a.go"), []byte("A"), 0o644)) // of the same size
	do(os.RemoveAll(at("c")))
	do(os.Chmod(at("run.sh"), 0o755))
	do(os.WriteFile(at("CLAUDE.md"), []byte("new"), 0o644))
	do(os.MkdirAll(at("new/.claude"), 0o755))
	do(os.WriteFile(at("new/e.go"), []byte("e"), 0o644))
	do(os.WriteFile(at("new/.claude/x"), []byte("x"), 0o644))
	do(os.MkdirAll(at("__pycache__"), 0o755))
	do(os.WriteFile(at("__pycache__/a.pyc"), []byte("x"), 0o644))
	do(os.MkdirAll(at(".git/hooks"), 0o755))
	do(os.WriteFile(at(".git/config"), []byte("x"), 0o644))
	do(os.MkdirAll(at("vendor"), 0o755))
	do(os.WriteFile(at("vendor/v.go"), []byte("x"), 0o644))
	do(os.Remove(at("l")))
	do(os.Symlink("b.go", at("l")))
	do(os.Symlink("/etc/passwd", at("out1")))
	do(os.Symlink("../../secret", at("new/out2")))
	do(os.Symlink("c/../../../x", at("out3")))
	do(os.Symlink("../b.go", at("new/in")))
	do(os.WriteFile(at("big.bin"), make([]byte, maxChanged+1), 0o644))
	d, err := r.compare(base, dir)
	do(err)
	want := []string{"*run.sh s", "-c/d.go", "a.go A", "l -> b.go", "new/e.go e", "new/in -> ../b.go"}
	if diff := cmp.Diff(want, brief(d.changes)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	slices.Sort(d.dropped)
	dropped := []string{"big.bin: it has more than 8 MB", "new/out2: it leads outside", "out1: it leads outside", "out3: it leads outside"}
	if diff := cmp.Diff(dropped, d.dropped); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
}

func TestChangedIsBounded(t *testing.T) {
	t.Parallel()
	r, base, dir := writeTree(t, file("a.go", "a"))
	for i := range maxFiles + 3 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("n%05d.go", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	d, err := r.compare(base, dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.changes) != maxFiles || len(d.dropped) != 3 {
		t.Errorf("%d changes, %d dropped", len(d.changes), len(d.dropped))
	}
}

// No change is written through a link, whatever became of files and folders.
func TestLayThroughNoLink(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	for name, to := range map[string]string{"out": outside, "in": "real"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "real", "t.txt"), []byte("stays"), 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	dropped, err := lay(root, []tree.Change{
		file("out/x.txt", "x"), file("in/t.txt", "x"), file("real", "x"), file("../y.txt", "y"), file("new/z.txt", "z"), {Path: "in", Gone: true}, file("in/deep/t.txt", "t"), {Path: "real/none", Gone: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(dropped) != 3 || !strings.HasPrefix(dropped[0], "out/x.txt: ") || !strings.HasPrefix(dropped[1], "real: ") || !strings.HasPrefix(dropped[2], "../y.txt: ") {
		t.Errorf("dropped %q", dropped)
	}
	for name, want := range map[string]string{"real/t.txt": "stays", "in/t.txt": "x", "in/deep/t.txt": "t", "new/z.txt": "z"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("outside: %v, %v", left, err)
	}
}
