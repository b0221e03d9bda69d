package skill

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestSkillIsImmutable(t *testing.T) {
	t.Parallel()
	one := New("a").WithFile("references/b.md", "b")
	two := one.WithFile("references/b.md", "c").WithFile("a.md", "x").WithText("z")
	three := two.WithFile(Main, "y")
	if got, _ := one.File("references/b.md"); got != "b" || one.Text() != "a" {
		t.Errorf("the first skill changed: %q, %q", got, one.Text())
	}
	if got, ok := three.File(Main); got != "y" || !ok || two.Text() != "z" {
		t.Errorf("SKILL.md = %q, %v", got, ok)
	}
	if _, ok := one.File("a.md"); ok {
		t.Error("the first skill got a file")
	}
	if diff := cmp.Diff([]string{Main, "a.md", "references/b.md"}, three.Files()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if got := New("").Hash(); got != "e3b0c44298fc1c14" {
		t.Errorf("hash of the empty skill = %s", got)
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	lines := strings.Split("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16", " ")
	long := strings.Join(lines, "\n") + "\n"
	tests := []struct {
		name string
		a, b Skill
		want string
	}{
		{"equal", New("a\n"), New("a\n"), ""},
		{"changed line", New("a\nb\n"), New("a\nc\n"), "--- old/SKILL.md\n+++ new/SKILL.md\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"},
		{"from nothing", New(""), New("a\n"), "--- old/SKILL.md\n+++ new/SKILL.md\n@@ -0,0 +1 @@\n+a\n"},
		{
			"no line break at the end", New("a\nb"), New("a\nb\n"),
			"--- old/SKILL.md\n+++ new/SKILL.md\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n",
		},
		{
			"two hunks", New(long), New(strings.Replace(strings.Replace(long, "2\n", "two\n", 1), "15\n", "", 1)),
			"--- old/SKILL.md\n+++ new/SKILL.md\n@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n@@ -12,5 +12,4 @@\n 12\n 13\n 14\n-15\n 16\n",
		},
		{
			"other files", New("a\n").WithFile("x.md", "x\n"), New("a\n").WithFile("y.md", "y\n"),
			"--- old/x.md\n+++ new/x.md\n@@ -1 +0,0 @@\n-x\n--- old/y.md\n+++ new/y.md\n@@ -0,0 +1 @@\n+y\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, Diff(tt.a, tt.b, "old", "new")); diff != "" {
				t.Errorf("diff (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{
		"good/SKILL.md":  {Data: []byte("# T\r\n")},
		"single.md":      {Data: []byte("é")},
		"empty/x.md":     {Data: []byte("x")},
		"bad.md":         {Data: []byte("a\nb\nc\xff\n")},
		"large.md":       {Data: []byte(strings.Repeat("x", MaxBytes+1))},
		"full.md":        {Data: []byte(strings.Repeat("x", MaxBytes))},
		"odd/SKILL.md/x": {Data: []byte("x")},
	}
	for name, want := range map[string]string{"good": "# T\r\n", "good/SKILL.md": "# T\r\n", "single.md": "é"} {
		if s, err := Read(fsys, name); err != nil || s.Text() != want {
			t.Errorf("Read(%s) = %q, %v", name, s.Text(), err)
		}
	}
	if _, err := Read(fsys, "full.md"); err != nil {
		t.Errorf("Read of a skill of exactly the limit: %v", err)
	}
	tests := []struct {
		name string
		want ReadError
		text string
	}{
		{"empty", ReadError{Path: "empty", Err: ErrNoSkill}, "read skill empty: the directory has no SKILL.md"},
		{"bad.md", ReadError{Path: "bad.md", Line: 3, Err: ErrNotUTF8}, "read skill bad.md, line 3: not UTF-8 text"},
		{"large.md", ReadError{Path: "large.md", Limit: MaxBytes, Err: ErrTooLarge}, "it has 262145 bytes, at most 262144 bytes are allowed"},
		{"gone", ReadError{Path: "gone", Err: fs.ErrNotExist}, "read skill gone: file does not exist"},
		{"../up", ReadError{Path: "../up", Err: fs.ErrNotExist}, "../up"},
		{"odd", ReadError{Path: "odd/SKILL.md"}, "odd/SKILL.md"},
	}
	for _, tt := range tests {
		_, err := Read(fsys, tt.name)
		var got *ReadError
		if !errors.As(err, &got) {
			t.Errorf("Read(%s): error %v, want a *ReadError", tt.name, err)
			continue
		}
		if got.Path != tt.want.Path || got.Line != tt.want.Line || got.Limit != tt.want.Limit {
			t.Errorf("Read(%s): %+v, want %+v", tt.name, got, tt.want)
		}
		if tt.want.Err != nil && !errors.Is(err, tt.want.Err) {
			t.Errorf("Read(%s): error %v, want %v", tt.name, err, tt.want.Err)
		}
		if !strings.Contains(err.Error(), tt.text) {
			t.Errorf("Read(%s): error %q, want one with %q", tt.name, err, tt.text)
		}
	}
}

// brokenFS fails at the operation that it is told to fail at.
type brokenFS struct {
	fstest.MapFS

	stat, open string
}

func (f brokenFS) Stat(name string) (fs.FileInfo, error) {
	if name == f.stat {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrPermission}
	}
	return f.MapFS.Stat(name)
}

func (f brokenFS) Open(name string) (fs.File, error) {
	if name == f.open {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	file, err := f.MapFS.Open(name)
	return brokenFile{file}, err
}

type brokenFile struct{ fs.File }

func (brokenFile) Read(p []byte) (int, error) { return iotest.ErrReader(fs.ErrClosed).Read(p) }

func TestReadFaults(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"d/SKILL.md": {Data: []byte("x")}}
	for _, tt := range []struct {
		fsys brokenFS
		want error
	}{
		{brokenFS{MapFS: files, stat: "d/SKILL.md"}, fs.ErrPermission},
		{brokenFS{MapFS: files, open: "d/SKILL.md"}, fs.ErrPermission},
		{brokenFS{MapFS: files}, fs.ErrClosed},
	} {
		_, err := Read(tt.fsys, "d")
		if !errors.Is(err, tt.want) || strings.Count(err.Error(), "d/SKILL.md") != 1 {
			t.Errorf("Read: error %v, want %v with the path once", err, tt.want)
		}
	}
}
