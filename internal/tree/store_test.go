package tree_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/git"
	"github.com/seed-f4525e22/skillopt/internal/testing/treetest"
	"github.com/seed-f4525e22/skillopt/internal/tree"
)

func repoAt(t *testing.T, dir string) *git.Repo {
	t.Helper()
	at, _, err := git.Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return git.New(at, os.Getenv)
}

func store(t *testing.T) *tree.Store {
	t.Helper()
	s, err := tree.CreateStore(t.Context(), filepath.Join(t.TempDir(), "objects.git"), os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// holds returns what a tree of a store has, by path: executables with a "*", links as "-> ".
func holds(t testing.TB, s *tree.Store, hash string) map[string]string {
	t.Helper()
	opened, err := tree.OpenTree(t.Context(), s.Repo(), hash, tree.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	err = opened.Read(t.Context(), opened.Files(), func(f tree.File, data []byte) error {
		switch {
		case f.Link != "":
			out[f.Path] = "-> " + string(data)
		case f.Exec:
			out[f.Path+"*"] = string(data)
		default:
			out[f.Path] = string(data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestStore(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			dir, commit := treetest.Repository(t, map[string]string{"a.txt": "one\n", "d/e/b.txt": "two\n", "d/.env": "SECRET=1", "d/.env.example": "A=1"}, "--object-format="+format)
			s := store(t)
			if err := s.Import(t.Context(), repoAt(t, dir), commit); err != nil {
				t.Fatal(err)
			}
			before := treetest.Git(t, s.Repo().Dir, "", "count-objects", "-v")
			root := treetest.Git(t, dir, "", "rev-parse", commit+"^{tree}")
			if err := s.Import(t.Context(), repoAt(t, dir), commit, root); err != nil {
				t.Fatal(err)
			}
			if after := treetest.Git(t, s.Repo().Dir, "", "count-objects", "-v"); after != before {
				t.Errorf("what is there was copied: %s, before %s", after, before)
			}
			if diff := cmp.Diff(map[string]string{"a.txt": "one\n", "d/e/b.txt": "two\n", "d/.env.example": "A=1"}, holds(t, s, root)); diff != "" {
				t.Errorf("imported (-want +got):\n%s", diff)
			}
			objects := treetest.Git(t, s.Repo().Dir, "", "cat-file", "--batch-all-objects", "--batch")
			if strings.Contains(objects, "SECRET") || strings.Contains(objects, " commit ") {
				t.Errorf("the store has more than it needs:\n%q", objects)
			}
			changed, err := s.Tree(t.Context(), root, []tree.Change{
				{Path: "a.txt", Gone: true}, {Path: "d/e/b.txt", Data: []byte("three\r\n\x00"), Exec: true}, {Path: "x/y/z", Data: []byte("new")}, {Path: "l", Link: "x/y"}, {Path: "d/.env", Gone: true},
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(map[string]string{"d/e/b.txt*": "three\r\n\x00", "x/y/z": "new", "l": "-> x/y", "d/.env.example": "A=1"}, holds(t, s, changed)); diff != "" {
				t.Errorf("changed (-want +got):\n%s", diff)
			}
			paths, err := s.Diff(t.Context(), root, changed)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range paths {
				got = append(got, string(p.Status)+" "+p.Name+" "+p.OldMode+" "+p.NewMode)
			}
			want := []string{"D a.txt 100644 ", "D d/.env 100644 ", "M d/e/b.txt 100644 100755", "A l  120000", "A x/y/z  100644"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
			again, err := tree.OpenStore(t.Context(), s.Repo().Dir, os.Getenv)
			if err != nil {
				t.Fatal(err)
			}
			if all, err := again.Diff(t.Context(), "", changed); err != nil || len(all) != 4 {
				t.Errorf("of nothing: %+v, %v", all, err)
			}
			if none, err := again.Diff(t.Context(), "", ""); err != nil || none != nil {
				t.Errorf("nothing of nothing: %+v, %v", none, err)
			}
		})
	}
}

// A store that is not whole is under another name: what a killed process, or its git, leaves is never taken for a store.
func TestStoreIsThereWhole(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "objects.git")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tree.CreateStore(ctx, dir, os.Getenv); err == nil {
		t.Error("a store was made without git")
	}
	if left, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	if _, err := tree.CreateStore(t.Context(), dir, os.Getenv); err != nil {
		t.Error(err)
	}
}

func TestStoreRefuses(t *testing.T) {
	t.Parallel()
	s := store(t)
	if _, err := tree.CreateStore(t.Context(), s.Repo().Dir, os.Getenv); err == nil {
		t.Error("a store over a store")
	}
	if _, err := tree.OpenStore(t.Context(), t.TempDir(), os.Getenv); err == nil {
		t.Error("a store in an empty folder")
	}
	for _, name := range []string{"", ".", "..", "../a", "/a", "a/", "a//b", "./a", "a/../b", ".git", ".GIT/config", "a/.git/hooks/x", "a\x00b"} {
		_, err := s.Tree(t.Context(), "", []tree.Change{{Path: name, Data: []byte("x")}})
		if unfit := (*tree.Unfit)(nil); !errors.As(err, &unfit) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"HEAD", "--all", strings.Repeat("0", 39), strings.Repeat("1", 40)} {
		if _, err := s.Tree(t.Context(), name, []tree.Change{{Path: "a"}}); err == nil {
			t.Errorf("a tree made of %s", name)
		}
		if err := s.Import(t.Context(), s.Repo(), name); err == nil {
			t.Errorf("%s was imported", name)
		}
		if _, err := s.Diff(t.Context(), name, ""); err == nil {
			t.Errorf("%s was compared", name)
		}
		if _, err := tree.OpenTree(t.Context(), s.Repo(), name, tree.Bounds{}); err == nil {
			t.Errorf("%s was opened", name)
		}
	}
}

// A partial clone has no contents to copy; what it lacks is not fetched.
func TestImportOfPartialClone(t *testing.T) {
	t.Parallel()
	dir, commit := treetest.Repository(t, map[string]string{"a.txt": "one\n"})
	treetest.Git(t, dir, "", "config", "uploadpack.allowFilter", "true")
	to := filepath.Join(t.TempDir(), "p")
	treetest.Git(t, dir, "", "clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+dir, to)
	err := store(t).Import(t.Context(), repoAt(t, to), commit)
	if unfit := (*tree.Unfit)(nil); !errors.As(err, &unfit) || unfit.Reason != git.Lost {
		t.Errorf("%v", err)
	}
}

// Changes one after the other leave what the same changes of files in a folder leave.
func TestTreeLaw(t *testing.T) {
	t.Parallel()
	s := store(t)
	names := []string{"a", "b", "a/b", "a/c", "a/b/c", "a/b/d", "d/e/f/g", "d/e", "ü x", "a.b"}
	rapid.Check(t, func(r *rapid.T) {
		model, base := map[string]string{}, ""
		for range rapid.IntRange(1, 2).Draw(r, "trees") {
			var changes []tree.Change
			for range rapid.IntRange(0, 6).Draw(r, "changes") {
				c := tree.Change{Path: rapid.SampledFrom(names).Draw(r, "path"), Gone: rapid.Bool().Draw(r, "gone"), Exec: rapid.Bool().Draw(r, "exec")}
				if !c.Gone {
					c.Data = []byte(rapid.StringN(0, 20, 40).Draw(r, "text"))
				}
				changes = append(changes, c)
				apply(model, c)
			}
			made, err := s.Tree(t.Context(), base, changes)
			if err != nil {
				r.Fatal(err)
			}
			base = made
		}
		if diff := cmp.Diff(model, holds(t, s, base)); diff != "" {
			r.Fatalf("(-want +got):\n%s", diff)
		}
		if one, err := s.Tree(t.Context(), "", all(model)); err != nil || one != base {
			r.Fatalf("the same files are another tree: %s and %s, %v", one, base, err)
		}
	})
}

func apply(model map[string]string, c tree.Change) {
	for name := range model {
		path := strings.TrimSuffix(name, "*")
		if path == c.Path || strings.HasPrefix(path, c.Path+"/") || !c.Gone && strings.HasPrefix(c.Path, path+"/") {
			delete(model, name)
		}
	}
	switch {
	case c.Gone:
	case c.Exec:
		model[c.Path+"*"] = string(c.Data)
	default:
		model[c.Path] = string(c.Data)
	}
}

func all(model map[string]string) (out []tree.Change) {
	for name, text := range model {
		path, exec := strings.CutSuffix(name, "*")
		out = append(out, tree.Change{Path: path, Data: []byte(text), Exec: exec})
	}
	return out
}
