package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// folder is a skill with files of every kind.
func folder() Skill {
	return New("---\nname: x\n---\n# Rules\n\n- one\n- two\n").
		WithFile("references/api.md", "# API\n\nGET /x\n").
		WithFile("references/deep/er.md", "deep\n").
		WithFile("references/data.bin", "\xff\x00").
		WithFile("scripts/run.sh", "#!/bin/sh\necho 1\n").WithExecutable("scripts/run.sh").
		WithFile("bin/tool.md", "#!/bin/sh\n").WithExecutable("bin/tool.md").
		WithFile("notes.md", "note\r\nnote\r\n")
}

func scopeOf(t *testing.T, s Skill, newFiles int, patterns ...string) Scope {
	t.Helper()
	scope, err := NewScope(s, patterns, newFiles)
	if err != nil {
		t.Fatal(err)
	}
	return scope
}

func TestScopeOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		patterns []string
		want     string
	}{
		{nil, "SKILL.md"},
		{[]string{"SKILL.md"}, "SKILL.md"},
		{[]string{"SKILL.md", "references/*.md"}, "SKILL.md references/api.md"},
		{[]string{"references/**/*.md"}, "references/api.md references/deep/er.md"},
		{[]string{"**/*.md"}, "SKILL.md notes.md references/api.md references/deep/er.md"}, // no program
		{[]string{"scripts/run.sh", "*.md"}, "SKILL.md notes.md scripts/run.sh"},
		{[]string{"bin/tool.md"}, "bin/tool.md"},
	} {
		if got := strings.Join(scopeOf(t, folder(), 0, tt.patterns...).Of(folder()), " "); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.patterns, got, tt.want)
		}
	}
	if got := (Scope{}).Of(folder()); !cmp.Equal(got, []string{Main}) {
		t.Errorf("the zero scope has %v", got)
	}
}

func TestScopeRefusals(t *testing.T) {
	t.Parallel()
	large := New("x").WithFile("a.md", strings.Repeat("x", MaxBytes+1))
	for _, tt := range []struct {
		skill    Skill
		pattern  string
		newFiles int
		want     error
		text     string
	}{
		{folder(), "references/*", 0, ErrNotUTF8, `"references/*" matches references/data.bin, line 1: not UTF-8 text`},
		{folder(), "docs/*.md", 0, ErrNoMatch, ""},
		{folder(), "docs/a.md", 0, ErrNoMatch, ""},
		{folder(), "scripts/*", 3, ErrByPattern, ""},
		{folder(), "scripts/new.sh", 3, ErrNoMatch, ""},
		{folder(), "bin/*", 0, ErrNoMatch, ""}, // a program by pattern
		{folder(), "../x", 3, ErrPattern, ""},
		{folder(), "/etc/passwd", 3, ErrPattern, ""},
		{folder(), "", 3, ErrPattern, ""},
		{folder(), "a[", 3, ErrPattern, ""},
		{folder(), "a/**", 3, ErrPattern, ""},
		{folder(), "a**/b", 3, ErrPattern, ""},
		{large, "*.md", 0, ErrTooLarge, ""},
	} {
		_, err := NewScope(tt.skill, []string{tt.pattern}, tt.newFiles)
		if !errors.Is(err, tt.want) || tt.text != "" && err.Error() != tt.text {
			t.Errorf("%q: %v, want %v %s", tt.pattern, err, tt.want, tt.text)
		}
	}
	if _, err := NewScope(folder(), []string{"docs/*.md"}, 1); err != nil {
		t.Errorf("a pattern for new files: %v", err)
	}
}

func TestScopeOfNewFiles(t *testing.T) {
	t.Parallel()
	scope := scopeOf(t, folder(), 2, "SKILL.md", "references/**/*.md", "*.md")
	for name, want := range map[string]bool{
		"references/new.md": true, "references/a/b/new.md": true, "new.md": true,
		"references/new.txt": false, "other/new.md": false, "references/.hidden.md": false, "skill.md": false,
		"references/../x.md": false, "references/a\nb.md": false, "references/con:x.md": false, "references/x\u202e.md": false,
		"references/ .md": false, "references/__pycache__/a.md": false, "references/" + strings.Repeat("a", 200) + ".md": false,
		"references/a/b/c/d/e/f/g/h/i.md": false, "evals/x.md": false, "/x.md": false, "references/x .md": true,
		"references/SKILL.md": false, "references/sub/agents.MD": false, "references/CLAUDE.md": false,
	} {
		if got := scope.Allows(name); got != want {
			t.Errorf("%q is allowed: %v, want %v", name, got, want)
		}
	}
}

func TestApplyToFiles(t *testing.T) {
	t.Parallel()
	scope := scopeOf(t, folder(), 1, "SKILL.md", "references/**/*.md", "notes.md")
	for _, tt := range []struct {
		name   string
		edits  []Edit
		status []ApplyStatus
		file   string
		want   string
	}{
		{"replace", []Edit{{Op: Replace, File: "references/api.md", Target: "GET", Content: "PUT"}}, []ApplyStatus{AppliedReplace}, "references/api.md", "# API\n\nPUT /x\n"},
		{"append", []Edit{{Op: Append, File: "references/api.md", Content: "new\n"}}, []ApplyStatus{AppliedAppend}, "references/api.md", "# API\n\nGET /x\n\nnew\n"},
		{"line ends", []Edit{{Op: InsertAfter, File: "notes.md", Target: "note", Content: "a\nb"}}, []ApplyStatus{AppliedInsertAfter}, "notes.md", "note\r\n\r\na\r\nb\r\nnote\r\n"},
		{"new", []Edit{{Op: Append, File: "references/n.md", Content: "text"}}, []ApplyStatus{AppliedNewFile}, "references/n.md", "text\n"},
		{"new without text", []Edit{{Op: Append, File: "references/n.md", Content: "  "}}, []ApplyStatus{SkippedNoChange}, "references/n.md", ""},
		{"one too many", []Edit{{Op: Append, File: "references/n.md", Content: "a"}, {Op: Append, File: "references/m.md", Content: "a"}}, []ApplyStatus{AppliedNewFile, SkippedTooManyFiles}, "references/m.md", ""},
		{"another case", []Edit{{Op: Append, File: "references/API.md", Content: "a"}}, []ApplyStatus{SkippedUnsupportedFile}, "references/API.md", ""},
		{"below a file", []Edit{{Op: Append, File: "references/api.md/x.md", Content: "a"}}, []ApplyStatus{SkippedUnsupportedFile}, "references/api.md/x.md", ""},
		{"a program", []Edit{{Op: Append, File: "scripts/run.sh", Content: "a"}}, []ApplyStatus{SkippedUnsupportedFile}, "scripts/run.sh", "#!/bin/sh\necho 1\n"},
		{"a file that is not there", []Edit{{Op: Replace, File: "references/n.md", Target: "x", Content: "a"}}, []ApplyStatus{SkippedReplaceTargetNotFound}, "references/n.md", ""},
		{"out", []Edit{{Op: Append, File: "../n.md", Content: "a"}}, []ApplyStatus{SkippedUnsupportedFile}, "../n.md", ""},
		{"move", []Edit{{Op: Move, File: "references/api.md", Target: "- one\n- two", Content: "See references/api.md."}}, []ApplyStatus{AppliedMove}, "references/api.md", "# API\n\nGET /x\n\n- one\n- two\n"},
		{"move to a new file", []Edit{{Op: Move, File: "references/n.md", Target: "- two\n"}}, []ApplyStatus{AppliedMove}, "references/n.md", "- two\n"},
		{"move of nothing", []Edit{{Op: Move, File: "references/api.md", Target: "three"}, {Op: Move, File: "references/api.md"}}, []ApplyStatus{SkippedMoveTargetNotFound, SkippedMoveMissingTarget}, "references/api.md", "# API\n\nGET /x\n"},
		{"move of the front matter", []Edit{{Op: Move, File: "references/api.md", Target: "name: x"}}, []ApplyStatus{SkippedProtectedRegion}, "references/api.md", "# API\n\nGET /x\n"},
		{"move within", []Edit{{Op: Move, Target: "- one"}}, []ApplyStatus{SkippedUnsupportedFile}, Main, folder().Text()},
		{"twice", []Edit{{Op: Append, File: "notes.md", Content: "a"}, {Op: Append, Content: "a"}, {Op: Append, File: Main, Content: "a"}}, []ApplyStatus{AppliedAppend, AppliedAppend, SkippedDuplicate}, "notes.md", "note\r\nnote\r\n\r\na\r\n"},
	} {
		out, reports := Apply(folder(), tt.edits, ApplyOptions{Scope: scope})
		var got []ApplyStatus
		for _, r := range reports {
			got = append(got, r.Status)
		}
		if text, _ := out.File(tt.file); text != tt.want || !cmp.Equal(got, tt.status) {
			t.Errorf("%s: %v %q, want %v %q", tt.name, got, text, tt.status, tt.want)
		}
	}
}

func TestBudgetIsOneForAllFiles(t *testing.T) {
	t.Parallel()
	scope := scopeOf(t, folder(), 0, "SKILL.md", "notes.md", "references/api.md")
	_, reports := Apply(folder(), []Edit{
		{Op: Append, Content: "a"}, {Op: Append, File: "notes.md", Content: "a"}, {Op: Append, File: "references/api.md", Content: "a"},
	}, ApplyOptions{Scope: scope, Budget: 2})
	if reports[2].Status != SkippedOverBudget {
		t.Errorf("the third edit is %s", reports[2].Status)
	}
}

// drawFolder draws a skill with texts, bytes and programs.
func drawFolder(t *rapid.T) Skill {
	s := New(drawDocument(t))
	for _, name := range []string{"a.md", "references/b.md", "references/c/d.md"} {
		if rapid.Bool().Draw(t, name) {
			s = s.WithFile(name, drawText(t, "text"))
		}
	}
	return s.WithFile("assets/x", string(rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "asset"))).
		WithFile("scripts/p", "#!"+drawText(t, "script")).WithExecutable("scripts/p")
}

func drawFileEdits(t *rapid.T, s Skill) []Edit {
	var edits []Edit
	for range rapid.IntRange(0, 5).Draw(t, "rounds") {
		file := rapid.SampledFrom([]string{"", Main, "a.md", "references/b.md", "references/c/d.md", "references/new.md", "A.md", "assets/x", "scripts/p", "../a.md"}).Draw(t, "of")
		text, _ := s.File(Edit{File: file}.path())
		for _, e := range drawEdits(t, text) {
			e.File = file
			if rapid.IntRange(0, 4).Draw(t, "move") == 0 {
				e.Op = Move
			}
			edits = append(edits, e)
		}
	}
	return edits
}

// What edits may not touch stays, byte for byte; their changes are the whole difference;
// and what comes out can be read again.
func TestApplyLawsOfFolders(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seed := drawFolder(t)
		most := rapid.IntRange(0, 2).Draw(t, "new files")
		scope, err := NewScope(seed, []string{"SKILL.md", "references/**/*.md", "*.md"}, most)
		if err != nil {
			t.Skip("a pattern that matches nothing")
		}
		budget := rapid.IntRange(0, 4).Draw(t, "budget")
		out, reports, changes := Trace(seed, drawFileEdits(t, seed), ApplyOptions{Scope: scope, Budget: budget})
		again, applied := seed, 0
		for i, c := range changes {
			if (c != nil) != reports[i].Status.Applied() {
				t.Fatalf("edit %d is %s, its change %v", i, reports[i].Status, c)
			}
			if c != nil {
				again, applied = c.to(again), applied+1
			}
		}
		if !again.Equal(out) || budget > 0 && applied > budget {
			t.Fatalf("the changes give another skill, or %d edits are more than %d", applied, budget)
		}
		if !RegionsEqual(seed.Text(), out.Text()) || len(out.Others()) > len(seed.Others())+most {
			t.Fatalf("regions changed, or files were added: %v", out.Others())
		}
		for _, name := range seed.Files() {
			before, _ := seed.File(name)
			after, there := out.File(name)
			if !there || !scope.Allows(name) && before != after || seed.Executable(name) != out.Executable(name) {
				t.Fatalf("%s became %q of %q", name, after, before)
			}
		}
		readAgain(t, out)
	})
}

// readAgain fails unless a skill that was written is read as it was.
func readAgain(t *rapid.T, s Skill) {
	fsys := fstest.MapFS{}
	for _, name := range s.Files() {
		text, _ := s.File(name)
		mode := fs.FileMode(0o644)
		if s.Executable(name) {
			mode = 0o755
		}
		fsys["s/"+name] = &fstest.MapFile{Data: []byte(text), Mode: mode}
	}
	back, err := Read(fsys, "s")
	if err != nil || !back.Equal(s) {
		t.Fatalf("read again: %v, %v", back.Files(), err)
	}
}

func ExampleNewScope() {
	s := New("# Rules\n\n- Long.\n").WithFile("references/more.md", "# More\n")
	scope, err := NewScope(s, []string{Main, "references/*.md"}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	out, _ := Apply(s, []Edit{{Op: Move, File: "references/more.md", Target: "- Long.", Content: "See references/more.md."}}, ApplyOptions{Scope: scope})
	more, _ := out.File("references/more.md")
	fmt.Printf("%q %q\n", out.Text(), more)
	// Output: "# Rules\n\nSee references/more.md.\n" "# More\n\n- Long.\n"
}
