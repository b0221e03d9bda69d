package agent

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/skill"
)

func TestCheckFile(t *testing.T) {
	t.Parallel()
	for _, ok := range []string{"AGENTS.md", ".github/copilot-instructions.md", ".cursor/rules/x.mdc", "docs/HÄUSER.MD"} {
		if err := CheckFile(ok); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for _, bad := range []string{
		"", ".", "..", "../AGENTS.md", "/AGENTS.md", "a/../AGENTS.md", "a//b.md", `a\b.md`, "C:a.md", "a\nb.md", "a\u202eb.md", ".git/hooks.md", "sub/.GIT/x.md",
		".git /x.md", "AGENTS.md.", ".claude/settings.json", ".mcp.json", "Makefile", strings.Repeat("a", 200) + ".md",
	} {
		if err := CheckFile(bad); err == nil {
			t.Errorf("%q is allowed", bad)
		}
	}
}

func TestCheckReads(t *testing.T) {
	t.Parallel()
	tests := []struct{ agent, file, want string }{
		{"claude", "CLAUDE.md", ""},
		{"claude", "AGENTS.md", "claude does not read AGENTS.md by itself, only CLAUDE.md, .claude/CLAUDE.md"},
		{"codex", "sub/AGENTS.md", "codex does not read sub/AGENTS.md by itself"},
		{"copilot", ".github/copilot-instructions.md", ""},
		{"builtin", "docs/HOUSE.md", ""},
		{"builtin", "../x.md", "want the path of a file"},
	}
	for _, tt := range tests {
		a, err := New(tt.agent, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.CheckReads(tt.file); err == nil != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s, %s: %v, want %q", tt.agent, tt.file, err, tt.want)
		}
	}
}

func TestMisplaced(t *testing.T) {
	t.Parallel()
	file, link, folder := &fstest.MapFile{Data: []byte("x")}, &fstest.MapFile{Mode: os.ModeSymlink}, &fstest.MapFile{Mode: os.ModeDir}
	tests := []struct {
		name string
		fsys fstest.MapFS
		file string
		want string
	}{
		{"nothing there", fstest.MapFS{}, ".github/x.md", ""},
		{"a file of the name", fstest.MapFS{"AGENTS.md": file}, "AGENTS.md", ""},
		{"another file", fstest.MapFS{"README.md": file}, "AGENTS.md", ""},
		{"by case", fstest.MapFS{"Agents.md": file}, "AGENTS.md", "brings Agents.md, which differs from AGENTS.md"},
		{"a folder by case", fstest.MapFS{".GitHub/y": file}, ".github/x.md", "brings .GitHub, which differs from .github"},
		{"a link", fstest.MapFS{"AGENTS.md": link}, "AGENTS.md", "AGENTS.md, which is no regular file"},
		{"a folder", fstest.MapFS{"AGENTS.md": folder}, "AGENTS.md", "AGENTS.md, which is no regular file"},
		{"a link on the way", fstest.MapFS{".github": link}, ".github/x.md", ".github, which is no folder"},
	}
	for _, tt := range tests {
		if err := CheckDocumentPath(tt.fsys, tt.file); err == nil != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	if over := Hidden(fstest.MapFS{"AGENTS.override.md": file}, "codex", "AGENTS.md"); over != "AGENTS.override.md" {
		t.Errorf("hidden by %q", over)
	}
}

// fill prepares the workspace of a job that brings files.
func filled(t *testing.T, j Job, brings map[string]string) (map[string]string, *workspace, error) {
	t.Helper()
	j.Workspace, j.Home = t.TempDir(), t.TempDir()
	for name, text := range brings {
		path := filepath.Join(j.Workspace, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	j, err := j.withDefaults(codex())
	if err != nil {
		return nil, nil, err
	}
	w, _, err := prepare(codex(), j)
	return tree(t, j.Workspace), w, err
}

func TestDocumentOfAWorkspace(t *testing.T) {
	t.Parallel()
	other := skill.New("---\nname: other\ndescription: Other.\n---\nNew.\n").WithFile("references/a.md", "A\n")
	brings := map[string]string{"AGENTS.md": "old\n", "main.go": "package main\n", "CLAUDE.md": "kept\n", ".claude/skills/other/SKILL.md": "live\n", ".claude/skills/other/gone.md": "x"}
	j := Job{Mode: File, File: "AGENTS.md", Skill: skill.New("# No front matter\n"), Documents: []Document{{Path: ".github/copilot-instructions.md", Skill: skill.New("staged\n")}, {Name: "other", Skill: other}}}
	got, w, err := filled(t, j, brings)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"AGENTS.md": "# No front matter\n", "main.go": "package main\n", "CLAUDE.md": "kept\n", ".github/copilot-instructions.md": "staged\n"}
	for _, dir := range SkillFolders(other, "other") {
		want[dir+"/SKILL.md"], want[dir+"/references/a.md"] = other.Text(), "A\n"
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("workspace (-want +got):\n%s", diff)
	}
	if notes := strings.Join(w.notes, "\n"); !strings.Contains(notes, "brings AGENTS.md, which another text replaces") || !strings.Contains(notes, ".claude/skills/other, which another skill replaces") {
		t.Errorf("notes %q", notes)
	}
	// The empty document is measured as none.
	j.Skill, j.Documents = skill.Skill{}, nil
	got, w, err = filled(t, j, brings)
	if _, there := got["AGENTS.md"]; there || err != nil || len(w.written) != 1 {
		t.Errorf("with an empty document: %v, %v, %v", got, w, err)
	}
}

func TestDocumentIsRefused(t *testing.T) {
	t.Parallel()
	doc := skill.New("x\n")
	tests := []struct {
		name   string
		job    Job
		brings map[string]string
		want   string
	}{
		{"hidden", Job{Mode: File, File: "AGENTS.md", Skill: doc}, map[string]string{"AGENTS.override.md": "y"}, "AGENTS.override.md, with which codex does not read AGENTS.md"},
		{"by case", Job{Mode: File, File: "AGENTS.md", Skill: doc}, map[string]string{"agents.md": "y"}, "differs from AGENTS.md"},
		{"a folder", Job{Mode: File, File: "AGENTS.md", Skill: doc}, map[string]string{"AGENTS.md/x": "y"}, "no regular file"},
		{"no file", Job{Mode: File, Skill: doc}, nil, "want the path of a file"},
		{"outside", Job{Mode: File, File: "../AGENTS.md", Skill: doc}, nil, "want the path of a file"},
		{"other files", Job{Mode: File, File: "AGENTS.md", Skill: doc.WithFile("references/a.md", "A")}, nil, "the document has other files"},
		{"a file without the mode", Job{File: "AGENTS.md", Skill: doc}, nil, "want the mode file"},
		{"beside itself", Job{Mode: File, File: "AGENTS.md", Skill: doc, Documents: []Document{{Path: "agents.md"}}}, nil, "is the document that is trained"},
		{"settings beside", Job{Skill: doc, Documents: []Document{{Path: ".claude/settings.json"}}}, nil, "want a Markdown file"},
		{"a skill's bad name", Job{Skill: doc, Documents: []Document{{Name: "../x"}}}, nil, "small letters"},
		{"the skill itself", Job{Skill: doc, SkillName: "one", Documents: []Document{{Name: "one"}}}, nil, "is the skill that is trained"},
	}
	for _, tt := range tests {
		if _, _, err := filled(t, tt.job, tt.brings); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}
