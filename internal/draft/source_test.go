package draft_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/skill"
)

func TestMain(m *testing.M) {
	// The clock of the regular expressions stops by itself after a while.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2.runClock"))
}

// put writes files into a fresh folder.
func put(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func paths(m draft.Material) []string {
	var out []string
	for _, f := range m.Files {
		out = append(out, f.Path)
	}
	return out
}

func TestReadTakesWhatTheSkillSays(t *testing.T) {
	t.Parallel()
	dir := put(t, map[string]string{
		"SKILL.md":                  "---\nname: x\n---\n# X\nrule\n",
		"forms.md":                  "more",
		"references/codes.csv":      "a,b",
		"references/deep/er.txt":    "text",
		"references/picture.png":    "\x89PNG",
		"references/latin1.txt":     "caf\xe9",
		"references/huge.md":        strings.Repeat("x", draft.MaxReferenceBytes+1),
		"README.md":                 "for people",
		"LICENSE.txt":               "terms",
		"tasks.jsonl":               "{}",
		"config.yaml":               "a: b",
		"data.json":                 "[]",
		"scripts/run.md":            "not said by the skill",
		"runs/a/best_skill.md":      "a run",
		"draft/x.md":                "the record of a draft",
		".git/notes.md":             "hidden",
		"references/.hidden.md":     "hidden",
		"a/b/c/d/e/too-deep.md":     "deep",
		"assets/template.yaml":      "k: v",
		"node_modules/p/package.md": "foreign",
	})
	m, err := draft.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"SKILL.md", "assets/template.yaml", "forms.md", "references/codes.csv", "references/deep/er.txt"}
	if diff := cmp.Diff(want, paths(m)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"references/huge.md: it has more than 64 KB", "references/latin1.txt: it is not UTF-8 text"}, m.Skipped); diff != "" {
		t.Error(diff)
	}
	again, err := draft.Read(filepath.Join(dir, "SKILL.md"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, again); diff != "" {
		t.Errorf("the folder and its SKILL.md are two skills:\n%s", diff)
	}
	alone, err := draft.Read(filepath.Join(dir, "forms.md"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"forms.md"}, paths(alone)); diff != "" {
		t.Errorf("a Markdown file by itself has references:\n%s", diff)
	}
}

func TestReadStaysInsideTheFolder(t *testing.T) {
	t.Parallel()
	outside := put(t, map[string]string{"secret.md": "key", "dir/more.md": "key"})
	dir := put(t, map[string]string{"SKILL.md": "rule"})
	for link, target := range map[string]string{"link.md": "secret.md", "references": "dir"} {
		if err := os.Symlink(filepath.Join(outside, target), filepath.Join(dir, link)); err != nil {
			t.Skip("no links here")
		}
	}
	m, err := draft.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"SKILL.md"}, paths(m)); diff != "" {
		t.Error(diff)
	}
	if err := os.Remove(filepath.Join(dir, "SKILL.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "secret.md"), filepath.Join(dir, "SKILL.md")); err != nil {
		t.Fatal(err)
	}
	if _, err := draft.Read(dir); err == nil {
		t.Error("a SKILL.md that leads out of its folder is read")
	}
}

func TestReadBoundsTheNumberOfFiles(t *testing.T) {
	t.Parallel()
	files := map[string]string{"SKILL.md": "rule"}
	for i := range draft.MaxReferences + 3 {
		files["references/"+strings.Repeat("a", i+1)+".md"] = "text"
	}
	m, err := draft.Read(put(t, files))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Files) != 1+draft.MaxReferences || len(m.Skipped) != 3 {
		t.Errorf("%d files and %d left out, want %d and 3", len(m.Files), len(m.Skipped), 1+draft.MaxReferences)
	}
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	dir := put(t, map[string]string{"notes.md": "x", "bad/SKILL.md": "caf\xe9", "big/SKILL.md": strings.Repeat("x", skill.MaxBytes+1)})
	for name, want := range map[string]error{
		"absent": fs.ErrNotExist, ".": skill.ErrNoSkill, "bad": skill.ErrNotUTF8, "big": skill.ErrTooLarge,
	} {
		if _, err := draft.Read(filepath.Join(dir, name)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}
