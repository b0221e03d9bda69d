package run

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt/skill"
)

// Exported files go into the folder that is named and nowhere else, and none is left behind
// that was not finished.
func TestExportFolderStaysInside(t *testing.T) {
	t.Parallel()
	dir, outside := filepath.Join(t.TempDir(), "out"), t.TempDir()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "references")); err != nil {
		t.Skip(err)
	}
	s := skill.New("# S\n").WithFile("references/a.md", "a\n")
	if err := ExportFolder(dir, s); err == nil {
		t.Error("it went through a link that leads out")
	}
	for _, d := range []string{dir, outside} {
		entries, err := os.ReadDir(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Name() != "references" && e.Name() != skill.Main {
				t.Errorf("%s is left in %s", e.Name(), d)
			}
		}
	}
	if err := os.Remove(filepath.Join(dir, "references")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mine.txt"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ExportFolder(dir, s); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "mine.txt")); err != nil || string(data) != "mine" {
		t.Errorf("a file of somebody else became %q, %v", data, err)
	}
}

// A run without a best skill has the empty one, and what stands beside best_skill.md is
// read only with a SKILL.md.
func TestReadBest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	read := func() skill.Skill {
		s, err := ReadBest(dir)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := read(); s.Text() != "" {
		t.Errorf("without a file: %q", s.Text())
	}
	put := func(name, text string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("best_skill.md", "# One\n")
	put("best_skill/references/old.md", "old\n")
	if s := read(); s.Text() != "# One\n" || len(s.Others()) != 0 {
		t.Errorf("one document: %v", s.Files())
	}
	put("best_skill/SKILL.md", "# One\n")
	if s := read(); len(s.Others()) != 1 {
		t.Errorf("a folder: %v", s.Files())
	}
}
