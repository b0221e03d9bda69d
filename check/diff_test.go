package check

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/task"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	start := map[string]string{
		"src/a.go": "one\ntwo\nthree\n", "src/b.go": "b\n", "test/a_test.go": "test\n", "README.md": "read\nme", ".git/HEAD": "ref",
	}
	change := func(path, text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			full := filepath.Join(dir, filepath.FromSlash(path))
			must(t, os.MkdirAll(filepath.Dir(full), 0o700))
			must(t, os.WriteFile(full, []byte(text), 0o600))
		}
	}
	remove := func(path string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { must(t, os.RemoveAll(filepath.Join(dir, filepath.FromSlash(path)))) }
	}
	tests := []struct {
		name  string
		check string
		do    []func(*testing.T, string)
		want  string // "" = passes
	}{
		{"nothing", "{type: diff, max_files: 0, max_added: 0, max_removed: 0}", nil, ""},
		{"a commit", "{type: git-diff, max_files: 0}", []func(*testing.T, string){change(".git/objects/x", "blob"), change(".git/HEAD", "other")}, ""},
		{"one file", "{type: diff, max_files: 0}", []func(*testing.T, string){change("src/a.go", "one\n")}, "1 files are changed, at most 0"},
		{"touched", "{type: diff, max_files: 0}", []func(*testing.T, string){change("src/a.go", "one\ntwo\nthree\n")}, ""},
		{"a line", "{type: diff, max_added: 1, max_removed: 1}", []func(*testing.T, string){change("src/a.go", "one\n2\nthree\n")}, ""},
		{"two lines", "{type: diff, max_added: 1}", []func(*testing.T, string){change("src/a.go", "one\n2\n3\n")}, "2 lines are added"},
		{"removed", "{type: diff, max_removed: 0}", []func(*testing.T, string){change("src/a.go", "one\nthree\n")}, "1 lines are removed"},
		{"repeated lines count", "{type: diff, max_added: 1}", []func(*testing.T, string){change("src/a.go", "one\none\none\ntwo\nthree\n")}, "2 lines are added"},
		{"moved", "{type: diff, max_added: 0, max_removed: 0}", []func(*testing.T, string){change("src/a.go", "three\none\ntwo\n")}, ""},
		{"the end of the last line", "{type: diff, max_added: 0}", []func(*testing.T, string){change("README.md", "read\nme\n")}, "1 lines are added"},
		{"a new file", "{type: diff, max_added: 2}", []func(*testing.T, string){change("n", "1\n2\n3")}, "3 lines are added"},
		{"a deleted file", "{type: diff, max_removed: 2}", []func(*testing.T, string){remove("src/a.go")}, "3 lines are removed"},
		{"binary lines count", "{type: diff, max_added: 2}", []func(*testing.T, string){change("n", "\x00\n\x00\n\x00\n")}, "3 lines are added"},
		{"allowed", "{type: diff, allow: [src]}", []func(*testing.T, string){change("src/deep/x.go", "x"), remove("src/b.go")}, ""},
		{"not allowed", "{type: diff, allow: ['src/**/*.go']}", []func(*testing.T, string){change("src/deep/x.go", "x"), change("src/x.py", "x")}, `"src/x.py" is not among what may be changed`},
		{"nothing allowed", "{type: diff, allow: []}", []func(*testing.T, string){change("x", "x")}, "is not among"},
		{"denied", "{type: diff, deny: [/test, '*.md']}", []func(*testing.T, string){remove("test"), change("src/x.md", "x")}, `"src/x.md" must not be changed; "test/a_test.go" must not be changed`},
		{"ignored", "{type: diff, max_files: 0, ignore: [__pycache__, '*.log']}", []func(*testing.T, string){change("a/__pycache__/b/c.pyc", "x"), change("x.log", "x")}, ""},
		{"a link", "{type: diff, max_files: 0}", []func(*testing.T, string){func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "src", "a.go")))
			must(t, os.Symlink("b.go", filepath.Join(dir, "src", "a.go")))
		}}, "1 files are changed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t, start)
			before, err := Snapshot(dir)
			must(t, err)
			recorded, err := json.Marshal(before)
			must(t, err)
			before = Manifest{}
			must(t, json.Unmarshal(recorded, &before))
			for _, do := range tt.do {
				do(t, dir)
			}
			got := assess(t, tt.check, Evidence{Dir: dir, Before: before}, task.Task{}, Means{})
			if (got.Hard == 1) != (tt.want == "") || !strings.Contains(got.Reason, tt.want) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestEmptyFolderIsASnapshot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	before, err := Snapshot(dir)
	must(t, err)
	recorded, err := json.Marshal(before)
	must(t, err)
	var back Manifest
	must(t, json.Unmarshal(recorded, &back))
	if got := assess(t, "{type: diff, max_files: 0}", Evidence{Dir: dir, Before: back}, task.Task{}, Means{}); got.Hard != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestUnreadableWorkspace(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("this user can read every file, so none can be made unreadable")
	}
	dir := folder(t, map[string]string{"a/b": "x"})
	before, err := Snapshot(dir)
	must(t, err)
	must(t, os.Chmod(filepath.Join(dir, "a"), 0))
	t.Cleanup(func() { must(t, os.Chmod(filepath.Join(dir, "a"), 0o700)) })
	for _, check := range []string{"{type: diff, max_files: 5}", "{type: not-diff, max_files: 5}"} {
		if got := assess(t, check, Evidence{Dir: dir, Before: before}, task.Task{}, Means{}); got.Hard != 0 || !strings.Contains(got.Reason, "cannot be read") {
			t.Errorf("%s: got %+v", check, got)
		}
	}
}

func TestGlobs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		glob string
		yes  []string
		no   []string
	}{
		{"*.go", []string{"a.go", "x/y/a.go", "x.go/y"}, []string{"a.goo", "go"}},
		{"/a", []string{"a", "a/b"}, []string{"b/a"}},
		{"a/", []string{"a", "x/a/b"}, []string{"ab"}},
		{"a/b", []string{"a/b", "a/b/c"}, []string{"x/a/b", "a", "a/bc"}},
		{"a/*", []string{"a/b", "a/b/c"}, []string{"a"}},
		{"a/**/z", []string{"a/z", "a/b/z", "a/b/c/z/y"}, []string{"a/b", "z"}},
		{"**/z", []string{"z", "a/z"}, []string{"a/zz"}},
		{"**", []string{"a", "a/b"}, nil},
		{"a/[bc]?", []string{"a/bx", "a/cy"}, []string{"a/dx", "a/b"}},
	}
	for _, tt := range tests {
		if err := validGlob(tt.glob); err != nil {
			t.Errorf("%s: %v", tt.glob, err)
		}
		for _, path := range tt.yes {
			if !matchGlob(tt.glob, path) {
				t.Errorf("%s does not cover %s", tt.glob, path)
			}
		}
		for _, path := range tt.no {
			if matchGlob(tt.glob, path) {
				t.Errorf("%s covers %s", tt.glob, path)
			}
		}
	}
}

// FuzzGlob: what a pattern covers, it covers with all that is beneath.
func FuzzGlob(f *testing.F) {
	f.Add("src/**/*.go", "src/a/b.go")
	f.Add("**/**/**/x", "a/b/c")
	f.Add("[a-", "a")
	f.Fuzz(func(t *testing.T, glob, path string) {
		if validGlob(glob) != nil {
			return
		}
		if matchGlob(glob, path) && !matchGlob(glob, path+"/beneath") {
			t.Errorf("%q covers %q and not what is beneath", glob, path)
		}
	})
}

func TestLineChanges(t *testing.T) {
	t.Parallel()
	type counts struct{ Added, Removed int }
	tests := []struct {
		was, is []uint64
		want    counts
	}{
		{nil, nil, counts{}},
		{[]uint64{1, 2}, nil, counts{0, 2}},
		{nil, []uint64{1, 1}, counts{2, 0}},
		{[]uint64{1, 1, 2}, []uint64{1, 3, 3}, counts{2, 2}},
	}
	for _, tt := range tests {
		added, removed := lineChanges(tt.was, tt.is)
		if d := cmp.Diff(tt.want, counts{added, removed}); d != "" {
			t.Errorf("%v to %v: %s", tt.was, tt.is, d)
		}
	}
}
