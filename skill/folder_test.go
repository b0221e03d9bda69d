package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func folderFS() fstest.MapFS {
	return fstest.MapFS{
		"s/SKILL.md":                {Data: []byte("# S\n")},
		"s/scripts/run.sh":          {Data: []byte("#!/bin/sh\n"), Mode: 0o775},
		"s/scripts/lib/help.py":     {Data: []byte("x = 1\n"), Mode: 0o600},
		"s/scripts/__pycache__/h.p": {Data: []byte("x")},
		"s/references/codes.md":     {Data: []byte("# Codes\n"), Mode: 0o644},
		"s/assets/logo.png":         {Data: []byte("\x89PNG\x00\xff")},
		"s/assets/.DS_Store":        {Data: []byte("x")},
		"s/LICENSE":                 {Data: []byte("free\n")},
		"s/evals/evals.json":        {Data: []byte("[]")},
		"s/.git/config":             {Data: []byte("x")},
		"s/tasks.jsonl":             {Data: []byte("{}\n")},
		"other.md":                  {Data: []byte("# O\n")},
		"scripts/not.sh":            {Data: []byte("x")},
	}
}

func TestReadFolder(t *testing.T) {
	t.Parallel()
	standard := []string{Main, "assets/logo.png", "references/codes.md", "scripts/lib/help.py", "scripts/run.sh"}
	for name, want := range map[string][]string{
		"s":          {Main, "LICENSE", "assets/logo.png", "references/codes.md", "scripts/lib/help.py", "scripts/run.sh", "tasks.jsonl"},
		"s/SKILL.md": standard,
		"other.md":   {Main},
	} {
		s, err := Read(folderFS(), name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want, s.Files()); diff != "" {
			t.Errorf("%s: files (-want +got):\n%s", name, diff)
		}
		alone, err := ReadDocument(folderFS(), name)
		if err != nil || alone.Text() != s.Text() || len(alone.Others()) > 0 {
			t.Errorf("%s: the document %q with %q, %v", name, alone.Text(), alone.Others(), err)
		}
	}
	s, err := Read(folderFS(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := s.File("assets/logo.png"); got != "\x89PNG\x00\xff" {
		t.Errorf("binary content %q", got)
	}
	if !s.Executable("scripts/run.sh") || s.Executable("scripts/lib/help.py") || s.Executable(Main) || s.Executable("gone") {
		t.Error("modes are not kept")
	}
	if s := s.WithFile("scripts/run.sh", "other"); !s.Executable("scripts/run.sh") {
		t.Error("a file with another content is no longer executable")
	}
}

func TestReadFolderRefuses(t *testing.T) {
	t.Parallel()
	with := func(name string, f *fstest.MapFile) fstest.MapFS {
		fsys := folderFS()
		fsys[name] = f
		return fsys
	}
	many := folderFS()
	for i := range MaxFiles {
		many[fmt.Sprintf("s/assets/%03d", i)] = &fstest.MapFile{}
	}
	tests := map[string]struct {
		fsys fs.FS
		want error
		path string
		text string
	}{
		"a link":          {with("s/references/out.md", &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte("/etc/passwd")}), ErrLink, "s/references/out.md", "put the file itself there"},
		"a linked folder": {with("s/assets/x", &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte("..")}), ErrLink, "s/assets/x", ""},
		"a pipe":          {with("s/scripts/p", &fstest.MapFile{Mode: fs.ModeNamedPipe}), ErrNotFile, "s/scripts/p", ""},
		"a large file":    {with("s/assets/big", &fstest.MapFile{Data: make([]byte, 9<<20)}), ErrTooLarge, "s/assets/big", "at most 8388608 bytes"},
		"many files":      {many, ErrTooMany, "s", "at most 256"},
		"an odd name":     {with("s/assets/a\x1bb", &fstest.MapFile{}), ErrName, "s/assets/a\x1bb", ""},
	}
	for name, tt := range tests {
		for _, form := range []string{"s", "s/SKILL.md"} {
			_, err := Read(tt.fsys, form)
			var got *ReadError
			if !errors.As(err, &got) || !errors.Is(err, tt.want) || got.Path != tt.path || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%s, %s: error %v, want %v of %s", name, form, err, tt.want, tt.path)
			}
		}
	}
}

// A folder of the standard that is a link leads elsewhere, however the skill is named.
func TestLinkedStandardFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, Main), []byte("x"), 0o600), os.Symlink(t.TempDir(), filepath.Join(dir, "scripts"))); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{".", Main} {
		if _, err := Read(os.DirFS(dir), name); !errors.Is(err, ErrLink) {
			t.Errorf("%s: error %v, want %v", name, err, ErrLink)
		}
	}
}

// A digest tells skills apart by every byte, name and mode, and is the hash of SKILL.md
// where that is alone.
func TestDigestSeesAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := New(rapid.String().Draw(t, "main"))
		if s.Digest() != s.Hash() {
			t.Fatal("the digest of a document is not its hash")
		}
		path := rapid.SampledFrom([]string{"a", "scripts/a", "b"}).Draw(t, "path")
		content := rapid.String().Draw(t, "content")
		one := s.WithFile(path, content)
		all := map[string]string{}
		for what, other := range map[string]Skill{
			"none": s, "one": one, "another byte": s.WithFile(path, content+"x"), "another name": s.WithFile(path+"x", content),
			"another mode": one.WithExecutable(path), "another document": one.WithText(s.Text() + "x"), "two": one.WithFile(path+"y", content),
		} {
			if same, ok := all[other.Digest()]; ok {
				t.Fatalf("%s and %s have one digest", what, same)
			}
			all[other.Digest()] = what
		}
	})
}

func TestContents(t *testing.T) {
	t.Parallel()
	s := New("x").WithFile("a.md", "12345").WithFile("b.bin", "\x00\x01").WithFile("c.md", "123").WithFile("d.sh", "1").WithExecutable("d.sh")
	text := func(s string) *string { return &s }
	want := []Content{
		{Path: "a.md", Bytes: 5, Text: text("12345")},
		{Path: "b.bin", Bytes: 2},
		{Path: "c.md", Bytes: 3}, // no room is left for it
		{Path: "d.sh", Bytes: 1, Executable: true, Text: text("1")},
	}
	if diff := cmp.Diff(want, s.Contents(6)); diff != "" {
		t.Errorf("contents (-want +got):\n%s", diff)
	}
	if got := New("x").Contents(10); len(got) > 0 {
		t.Errorf("a document alone has %v", got)
	}
}
