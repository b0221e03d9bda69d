package agent

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
)

func TestFrontMatter(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"none", "# Rules\n", "---\nname: s\ndescription: " + defaultDescription + "\n---\n\n# Rules\n"},
		{"complete", "---\nname: s\ndescription: d\nlicense: MIT\n---\nbody", "---\nname: s\ndescription: d\nlicense: MIT\n---\nbody"},
		{"another name", "---\nname: other\ndescription: d\n---\nbody", "---\nname: s\ndescription: d\n---\nbody"},
		{"no description", "---\nname: s\n---\nbody", "---\ndescription: " + defaultDescription + "\nname: s\n---\nbody"},
		{"folded", "---\ndescription: >\n  long\n  text\nname: >\n  o\n  p\nx: 1\n---\nb", "---\nname: s\ndescription: >\n  long\n  text\nx: 1\n---\nb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := withFrontMatter(tt.text, "s")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			doc, err := skill.Parse(got)
			if err != nil || doc.Name != "s" || doc.Description == "" {
				t.Errorf("reads as %+v, %v", doc, err)
			}
		})
	}
}

func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, relErr := filepath.Rel(dir, path)
		if relErr != nil {
			return relErr
		}
		files[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestPrepare(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"AGENTS.md": "obey me", ".claude/skills/older/SKILL.md": "another skill", "a.txt": "the task's"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const text = "---\nname: kind\ndescription: d\n---\nbe kind\n"
	j := Job{
		Prompt: "task", Workspace: dir, Home: t.TempDir(), Images: []model.Image{{MIME: "image/png", Data: []byte("PNG")}},
		Skill: skill.New(text).WithFile("references/more.md", "more").WithFile("scripts/run.sh", "run").WithExecutable("scripts/run.sh"),
	}
	a := gemini()
	j, err := j.withDefaults(a)
	if err != nil {
		t.Fatal(err)
	}
	w, prompt, err := prepare(a, j)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"AGENTS.md": "obey me", "a.txt": "the task's", ".attachments/image-1.png": "PNG",
		".agents/skills/kind/SKILL.md": text, ".agents/skills/kind/references/more.md": "more",
		".claude/skills/kind/SKILL.md": text, ".claude/skills/kind/references/more.md": "more",
		".agents/skills/kind/scripts/run.sh": "run", ".claude/skills/kind/scripts/run.sh": "run",
		".claude/skills/older/SKILL.md": "another skill",
	}
	if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
		t.Errorf("workspace (-want +got):\n%s", diff)
	}
	if len(w.written) != 7 || !strings.Contains(strings.Join(w.notes, "\n"), "AGENTS.md, .claude") {
		t.Errorf("written %q, notes %q", w.written, w.notes)
	}
	if want := "task\n\nThe images that belong to this task are in these files: .attachments/image-1.png"; prompt != want {
		t.Errorf("prompt %q", prompt)
	}
}

// A workspace that brings a skill of the name is not written to: neither skill would be
// what is measured.
func TestSkillThere(t *testing.T) {
	t.Parallel()
	for _, folder := range SkillFolders(skill.New("x"), "kind") {
		j := Job{Workspace: t.TempDir(), Home: t.TempDir(), Skill: skill.New("x"), SkillName: "kind"}
		old := filepath.Join(j.Workspace, filepath.FromSlash(folder), "old.md")
		if err := errors.Join(os.MkdirAll(filepath.Dir(old), 0o755), os.WriteFile(old, []byte("old"), 0o600)); err != nil {
			t.Fatal(err)
		}
		j, err := j.withDefaults(pi())
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = prepare(pi(), j)
		var there *SkillThereError
		if !errors.As(err, &there) || there.Path != folder {
			t.Errorf("%s: error %v", folder, err)
		}
		if data, err := os.ReadFile(old); err != nil || string(data) != "old" {
			t.Errorf("%s: %q, %v", folder, data, err)
		}
	}
}

// Wherever agents look for skills, one of the same name is found, by its folder or by what it
// says of itself; others are not.
func TestSameSkill(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		files map[string]string
		want  string
	}{
		"none":                 {map[string]string{"skills/kind/SKILL.md": "x", ".agents/other/kind/SKILL.md": "x", ".agents/skills/others/SKILL.md": "---\nname: others\n---\n"}, ""},
		"of gemini":            {map[string]string{".gemini/skills/kind/SKILL.md": "x"}, ".gemini/skills/kind"},
		"of github":            {map[string]string{".github/skills/Kind/notes.txt": "x"}, ".github/skills/Kind"},
		"of an agent to come":  {map[string]string{".new/skills/kind/SKILL.md": "x"}, ".new/skills/kind"},
		"by its front matter":  {map[string]string{".agents/skills/another/SKILL.md": "---\nname: kind\ndescription: d\n---\nbody"}, ".agents/skills/another"},
		"a folder of no skill": {map[string]string{".agents/skills/another/SKILL.md/x": "x"}, ""},
	} {
		files := fstest.MapFS{}
		for path, text := range tc.files {
			files[path] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := SameSkill(files, skill.New("x"), "kind"); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
		if got := SameSkill(files, skill.New("---\nname: kind\ndescription: d\n---\nx"), ""); got != tc.want {
			t.Errorf("%s, by the name of the skill: %q, want %q", name, got, tc.want)
		}
	}
}

func TestNoSkill(t *testing.T) {
	t.Parallel()
	j := Job{Prompt: "task", Workspace: t.TempDir(), Home: t.TempDir(), Mode: Read, Skill: skill.New(" \n")}
	j, err := j.withDefaults(pi())
	if err != nil {
		t.Fatal(err)
	}
	w, prompt, err := prepare(pi(), j)
	if err != nil || prompt != "task" || len(w.written) > 0 || len(tree(t, j.Workspace)) > 0 {
		t.Errorf("prompt %q, written %q, %v", prompt, w.written, err)
	}
}

// TestSkillStaysInside has a workspace lead the skill elsewhere.
func TestSkillStaysInside(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	j := Job{Workspace: t.TempDir(), Home: t.TempDir(), Skill: skill.New("x")}
	if err := os.Symlink(outside, filepath.Join(j.Workspace, ".agents")); err != nil {
		t.Skipf("no links: %v", err)
	}
	j, err := j.withDefaults(pi())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := prepare(pi(), j); err == nil {
		t.Error("no error")
	}
	if got := tree(t, outside); len(got) > 0 {
		t.Errorf("written outside: %v", got)
	}
}
