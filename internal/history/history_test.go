package history

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/git"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/testing/treetest"
)

func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	os.Exit(m.Run())
}

var kinds = Kinds{
	Test:   func(name string) bool { return strings.HasSuffix(name, "_test.go") },
	Code:   func(name string) bool { return path.Ext(name) == ".go" || path.Ext(name) == ".rs" },
	Lock:   func(name string) bool { return path.Base(name) == "go.sum" },
	Inside: func(name string) bool { return path.Ext(name) == ".rs" },
}

// commit commits what a working tree has after some files were written; "-" takes one away.
func commit(t *testing.T, dir, message string, files ...string) string {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		at := filepath.Join(dir, files[i])
		if files[i+1] == "-" {
			if err := os.Remove(at); err != nil {
				t.Fatal(err)
			}
			continue
		}
		treetest.Put(t, at, files[i+1])
	}
	treetest.Git(t, dir, "", "add", "-A", "-f")
	treetest.Git(t, dir, message, "commit", "-q", "--allow-empty", "--allow-empty-message", "-F", "-")
	return treetest.Git(t, dir, "", "rev-parse", "HEAD")
}

func list(t *testing.T, dir, prefix string, limit int) ([]Candidate, LeftOut) {
	t.Helper()
	at, _, err := git.Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	got, out, err := List(t.Context(), git.New(at, os.Getenv), prefix, kinds, limit)
	if err != nil {
		t.Fatal(err)
	}
	return got, out
}

// many are more files than a candidate may change.
func many(n int) (files []string) {
	for i := range n {
		files = append(files, fmt.Sprintf("many/%04d.go", i), "x")
	}
	return append(files, "m_test.go", "m")
}

// made makes a repository with a commit of each kind, and returns its candidates, newest first.
func made(t *testing.T) (dir string, want []string) {
	dir, _ = treetest.Repository(t, map[string]string{"a.go": "1", "a_test.go": "1", "sub/b.go": "1", "lib.rs": "1"})
	note := func(hash string) { want = append(want, hash) }
	note(commit(t, dir, "fix: one\n\nWhy.\nAnd more.\n", "a.go", "2", "a_test.go", "2"))
	note(commit(t, dir, "odd names", "sub/b c\n\x01\x1b[31m.go", "x", "sub/ü_test.go", "x"))
	commit(t, dir, "only code", "a.go", "3")
	commit(t, dir, "only a test", "a_test.go", "3")
	commit(t, dir, "neither", "README.md", "3")
	commit(t, dir, "rust", "lib.rs", "2")
	commit(t, dir, "code, and a test that goes", "a.go", "4", "sub/ü_test.go", "-")
	commit(t, dir, "renamed", "sub/b.go", "-", "sub/c.go", "1", "a_test.go", "-", "c_test.go", "3")
	commit(t, dir, "locked", "go.sum", "1", "a.go", "5", "c_test.go", "5")
	commit(t, dir, "Revert \"fix: one\"", "a.go", "6", "c_test.go", "6")
	commit(t, dir, "other\n\nThis reverts commit 0123456789abcdef.\n", "a.go", "7", "c_test.go", "7")
	commit(t, dir, "a secret", "a.go", "8", "c_test.go", "8", ".env", "A=1")
	commit(t, dir, "large", many(maxPaths)...)
	commit(t, dir, "nothing")
	treetest.Git(t, dir, "", "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",module")
	treetest.Put(t, filepath.Join(dir, "a.go"), "9")
	treetest.Put(t, filepath.Join(dir, "c_test.go"), "9")
	treetest.Git(t, dir, "", "add", "a.go", "c_test.go")
	treetest.Git(t, dir, "", "commit", "-q", "-m", "a module")
	treetest.Git(t, dir, "", "rm", "-q", "--cached", "module")
	treetest.Git(t, dir, "", "commit", "-q", "-m", "no module")
	treetest.Git(t, dir, "", "checkout", "-q", "-b", "side")
	note(commit(t, dir, "", "a.go", "10", "d_test.go", "10"))
	treetest.Git(t, dir, "", "checkout", "-q", "main")
	commit(t, dir, "main goes on", "README.md", "4")
	treetest.Git(t, dir, "", "merge", "-q", "--no-ff", "-m", "merged", "side")
	note(commit(t, dir, "the last: "+strings.Repeat("long ", 5000)+"\n\nbad \xff byte "+strings.Repeat("long ", 5000), "a.go", "11", "a_test.go", "11"))
	slices.Reverse(want)
	return dir, want
}

func hashes(list []Candidate) (out []string) {
	for _, c := range list {
		out = append(out, c.Hash)
	}
	return out
}

func TestList(t *testing.T) {
	t.Parallel()
	dir, want := made(t)
	got, out := list(t, dir, "", 0)
	if diff := cmp.Diff(want, hashes(got)); diff != "" {
		t.Fatalf("candidates (-want +got):\n%s", diff)
	}
	left := LeftOut{
		Merge: 1, First: 1, NoChange: 1, Large: 1, Revert: 2, Renames: 1, Locks: 1, NoTests: 2, Inside: 1, NoCode: 4, Modules: 1, Secrets: 1,
	}
	if diff := cmp.Diff(left, out); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	first := got[len(got)-1]
	if first.Subject != "fix: one" || first.Body != "Why.\nAnd more." || first.Time.Year() != 2026 || first.Time.Month() != 11 {
		t.Errorf("%+v", first)
	}
	for _, c := range got {
		if c.Tree != treetest.Git(t, dir, "", "rev-parse", c.Hash+"^{tree}") || c.ParentTree != treetest.Git(t, dir, "", "rev-parse", c.Hash+"^^{tree}") || c.Parent != treetest.Git(t, dir, "", "rev-parse", c.Hash+"^") {
			t.Errorf("trees of %+v", c.Commit)
		}
	}
	odd := got[len(got)-2]
	if diff := cmp.Diff([]string{"sub/b c\n\x01\x1b[31m.go"}, odd.Code); diff != "" {
		t.Errorf("odd names (-want +got):\n%s", diff)
	}
	if got[1].Subject != "" || len(got[0].Subject) > maxField || !strings.HasPrefix(got[0].Body, "bad ") || !utf8.ValidString(got[0].Body) || len(got[0].Body) > maxField+2 {
		t.Errorf("subjects %.100q, %.100q, %.100q", got[1].Subject, got[0].Subject, got[0].Body)
	}
	blob := treetest.Git(t, dir, "2", "hash-object", "--stdin")
	if p := first.Paths[0]; p.Name != "a.go" || p.Status != 'M' || p.New != blob || p.NewMode != git.Plain || p.Old == "" {
		t.Errorf("path %+v", p)
	}
}

func TestListBounds(t *testing.T) {
	t.Parallel()
	dir, want := made(t)
	got, out := list(t, dir, "", 2)
	if diff := cmp.Diff(want[:2], hashes(got)); diff != "" || out[First] != 0 {
		t.Errorf("limited: %s, left out %v", diff, out)
	}
	got, out = list(t, dir, "sub", 0)
	if diff := cmp.Diff(want[len(want)-2:len(want)-1], hashes(got)); diff != "" || out[NoTests] != 7 {
		t.Errorf("tests of a folder: %s, left out %v", diff, out)
	}
}

// Settings, attributes, hooks and notes of a repository change nothing, and run nothing.
func TestHostile(t *testing.T) {
	t.Parallel()
	dir, want := made(t)
	_, before := list(t, dir, "", 0)
	marker := filepath.Join(t.TempDir(), "ran")
	evil := filepath.Join(t.TempDir(), "evil.sh")
	treetest.Put(t, evil, "#!/bin/sh\necho ran >> '"+marker+"'\ncat\n")
	if err := os.Chmod(evil, 0o755); err != nil {
		t.Fatal(err)
	}
	treetest.Git(t, dir, "", "notes", "add", "-m", "a note", "HEAD")
	treetest.Put(t, filepath.Join(dir, ".git", "info", "attributes"), "* diff=evil filter=evil\n")
	treetest.Put(t, filepath.Join(dir, ".git", "config"), fmt.Sprintf(`[core]
	pager = %[1]s
	notesRef = refs/notes/commits
	quotePath = true
	fsmonitor = %[1]s
[log]
	showSignature = true
	diffMerges = separate
	follow = true
	decorate = full
	abbrevCommit = true
	showRoot = false
	mailmap = true
[gpg]
	program = %[1]s
[diff]
	renames = copies
	external = %[1]s
	orderFile = /gone
	ignoreSubmodules = all
	relative = true
	noprefix = true
	submodule = log
[diff "evil"]
	textconv = %[1]s
	command = %[1]s
[format]
	pretty = oneline
	notes = true
[notes]
	displayRef = *
[color]
	ui = always
	diff = always
[i18n]
	logOutputEncoding = UTF-16
[alias]
	log = !%[1]s
[pager]
	log = %[1]s
	cat-file = %[1]s
`, evil))
	got, out := list(t, dir, "", 0)
	if diff := cmp.Diff(want, hashes(got)); diff != "" {
		t.Errorf("candidates (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, out); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if data, err := os.ReadFile(marker); err == nil {
		t.Errorf("what the repository names was run: %s", data)
	}
}

func TestShapes(t *testing.T) {
	t.Parallel()
	dir, want := made(t)
	clone := func(args ...string) string {
		to := filepath.Join(t.TempDir(), "c")
		treetest.Git(t, dir, "", append(append([]string{"clone", "-q", "--no-checkout"}, args...), "file://"+dir, to)...)
		return to
	}
	treetest.Git(t, dir, "", "config", "uploadpack.allowFilter", "true")
	next := filepath.Join(t.TempDir(), "w")
	treetest.Git(t, dir, "", "worktree", "add", "-q", "--detach", next)
	for name, at := range map[string]string{"bare": clone("--bare"), "without blobs": clone("--filter=blob:none"), "working tree": next} {
		if got, _ := list(t, at, "", 0); !cmp.Equal(want, hashes(got)) {
			t.Errorf("%s: %v, want %v", name, hashes(got), want)
		}
	}
	shallow := clone("--depth=2")
	if got, out := list(t, shallow, "", 0); !cmp.Equal(want[:1], hashes(got)) || out[First] != 1 {
		t.Errorf("shallow: %v, %v", hashes(got), out)
	}
	empty := t.TempDir()
	treetest.Git(t, empty, "", "init", "-q")
	for name, at := range map[string]string{"without trees": clone("--filter=tree:0"), "without commits": empty} {
		_, _, err := List(t.Context(), git.New(filepath.Join(at, ".git"), os.Getenv), "", kinds, 0)
		if unfit := (*git.Unfit)(nil); !errors.As(err, &unfit) {
			t.Errorf("%s: %v, want an *Unfit", name, err)
		}
	}
}

func FuzzParser(f *testing.F) {
	id := strings.Repeat("a", 40)
	head := "\x01" + id + "\x00" + id + "\x00" + id + "\x001795919756\x00subject\x00body\x00\x00"
	diff := "\n:100644 000000 " + id + " " + strings.Repeat("0", 40) + " D\x00a.go\x00"
	f.Add(head+diff+diff[1:]+head, 7)
	f.Add(head, 1)
	f.Add("", 1)
	f.Add(head[:50], 3)
	f.Fuzz(func(t *testing.T, text string, step int) {
		parse := func(step int) (out []record, err error) {
			p := &parser{each: func(r record) error { out = append(out, r); return nil }}
			for rest := text; rest != "" && err == nil; {
				n := min(max(step, 1), len(rest))
				_, err = p.Write([]byte(rest[:n]))
				rest = rest[n:]
				if len(p.buf) > maxField || len(p.now.Paths) > maxPaths {
					t.Fatalf("%d bytes and %d paths are kept", len(p.buf), len(p.now.Paths))
				}
			}
			if err == nil {
				err = p.end()
			}
			return out, err
		}
		all, err1 := parse(len(text))
		parts, err2 := parse(step)
		if diff := cmp.Diff(all, parts, cmp.AllowUnexported(record{})); diff != "" || (err1 == nil) != (err2 == nil) {
			t.Errorf("in parts (-all +parts):\n%s%v, %v", diff, err1, err2)
		}
		for _, r := range all {
			if _, err := r.Time.MarshalJSON(); err != nil || !object.MatchString(r.Hash) || r.parents == 1 && !object.MatchString(r.Parent) {
				t.Errorf("%+v: %v", r, err)
			}
		}
	})
}
