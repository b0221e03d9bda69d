package skill_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/skill"
)

// folder is a skill with files of several sorts.
func folder() skill.Skill {
	return skill.New("---\nname: x\n---\n# Skill\n").
		WithFile("references/a.md", "# A\n\none\ntwo\n").
		WithFile("references/crlf.md", "one\r\ntwo\r\n").
		WithFile("references/odd.md", "bell \a\nmarker "+skill.SlowStart+"\nplain\n").
		WithFile("assets/b.md", "fixed\n").
		WithFile("scripts/run.sh", "echo 1\n").WithExecutable("scripts/run.sh").
		WithFile("scripts/other.sh", "echo 2\n").WithExecutable("scripts/other.sh")
}

func folderScope(t *testing.T, newFiles int) skill.Scope {
	t.Helper()
	scope, err := skill.NewScope(folder(), []string{"SKILL.md", "references/**/*.md", "scripts/run.sh"}, newFiles)
	if err != nil {
		t.Fatal(err)
	}
	return scope
}

func TestRewrite(t *testing.T) {
	t.Parallel()
	type texts = []skill.FileText
	tests := []struct {
		name  string
		texts texts
		want  map[string]string // files that differ
	}{
		{"nothing", nil, nil},
		{"one file", texts{{"references/a.md", "# A\n\nthree\n"}}, map[string]string{"references/a.md": "# A\n\nthree\n"}},
		{"white space at the end", texts{{"references/a.md", "new  \n\n\n"}}, map[string]string{"references/a.md": "new\n"}},
		{"nothing but white space at the end differs", texts{{"references/a.md", "# A\n\none\ntwo"}, {"references/crlf.md", "one\ntwo\n\n"}}, nil},
		{"its line ends are kept", texts{{"references/crlf.md", "one\nnew\n"}}, map[string]string{"references/crlf.md": "one\r\nnew\r\n"}},
		{"and those of another kind become its own", texts{{"references/a.md", "one\r\nnew\r\n"}}, map[string]string{"references/a.md": "one\nnew\n"}},
		{"no carriage return comes along", texts{{"references/a.md", "one\rtwo\none\r\r\nthree\n"}}, map[string]string{"references/a.md": "one\ntwo\none\nthree\n"}},
		{"characters that steer", texts{{"references/a.md", "one\x1b[2J\u202e\ttwo\x00\n"}}, map[string]string{"references/a.md": "one[2J\ttwo\n"}},
		{"those of its own lines stay", texts{{"references/odd.md", "bell \a\nmarker " + skill.SlowStart + "\nnew \a" + skill.SlowEnd + "\n"}}, map[string]string{"references/odd.md": "bell \a\nmarker " + skill.SlowStart + "\nnew\n"}},
		{"markers, whole and put together", texts{{"references/a.md", "x" + skill.SlowStart + "y<!-- APPENDIX_" + skill.AppendixEnd + "START -->z\n"}}, map[string]string{"references/a.md": "xyz\n"}},
		{"a script by its name, which stays one", texts{{"scripts/run.sh", "echo new"}}, map[string]string{"scripts/run.sh": "echo new\n"}},
		{"SKILL.md", texts{{"SKILL.md", "---\nname: x\n---\nnew" + skill.SlowStart + "x\n" + skill.SlowEnd + "\n"}}, map[string]string{"SKILL.md": "---\nname: x\n---\nnewx\n"}},
		{"new ones", texts{{"references/deep/n.md", "new"}, {"references/m.md", "m\r\n"}}, map[string]string{"references/deep/n.md": "new\n", "references/m.md": "m\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := folder()
			for name, text := range tt.want {
				want = want.WithFile(name, text)
			}
			got, err := skill.Rewrite(folder(), tt.texts, folderScope(t, 2))
			if err != nil || !got.Equal(want) {
				t.Errorf("%v\n%s", err, skill.Diff(want, got, "want", "got"))
			}
		})
	}
}

func TestRewriteRefuses(t *testing.T) {
	t.Parallel()
	type texts = []skill.FileText
	long := strings.Repeat("a", skill.MaxBytes+1)
	tests := []struct {
		name  string
		texts texts
		want  string
	}{
		{"out of the skill", texts{{"../outside.md", "x"}}, `"../outside.md": only what matches SKILL.md, references/**/*.md, scripts/run.sh may be edited`},
		{"through a folder", texts{{"references/../../x.md", "x"}}, `"references/../../x.md": only`},
		{"from the root", texts{{"/etc/x.md", "x"}}, `"/etc/x.md": only`},
		{"without a name", texts{{"", "x"}}, `"": only`},
		{"not in scope", texts{{"assets/b.md", "x"}}, `"assets/b.md": only`},
		{"another script", texts{{"scripts/other.sh", "x"}}, `"scripts/other.sh": only`},
		{"a new script", texts{{"scripts/new.sh", "x"}}, `"scripts/new.sh": only`},
		{"without its front matter", texts{{"SKILL.md", "x"}}, `"SKILL.md": the front matter and the protected regions must stay`},
		{"with another region", texts{{"SKILL.md", "---\nname: x\n---\n" + skill.SlowStart + "mine\n" + skill.SlowEnd}, {"SKILL.MD", ""}}, `"SKILL.MD": only`},
		{"orders", texts{{"references/AGENTS.md", "x"}}, `"references/AGENTS.md": only`},
		{"another skill", texts{{"references/skill.md", "x"}}, `"references/skill.md": only`},
		{"a name that hides", texts{{"references/.x.md", "x"}}, `"references/.x.md": only`},
		{"a name that steers", texts{{"references/\u202ex.md", "x"}}, `"references/\u202ex.md": only`},
		{"a name that is not UTF-8", texts{{"references/\xff.md", "x"}}, `"references/\xff.md": only`},
		{"upper and lower case", texts{{"references/A.md", "x"}}, `"references/A.md" cannot be next to references/a.md`},
		{"a file as a folder", texts{{"references/n.md", "x"}, {"references/n.md/m.md", "x"}}, `"references/n.md/m.md" cannot be next to references/n.md`},
		{"twice", texts{{"references/a.md", "x"}, {"references/a.md", "y"}}, `"references/a.md" is there twice`},
		{"deleted", texts{{"references/a.md", " \n\x00"}}, `"references/a.md": the text is empty`},
		{"a new one without a text", texts{{"references/n.md", skill.SlowStart}}, `"references/n.md": the text is empty`},
		{"not UTF-8", texts{{"references/a.md", "one\n\xff"}}, `"references/a.md": line 2 is not UTF-8 text`},
		{"too large", texts{{"references/a.md", long}}, "references/a.md would have 262146 bytes, at most 262144 are allowed"},
		{"too many", texts{{"references/1.md", "x"}, {"references/2.md", "x"}, {"references/3.md", "x"}}, `"references/3.md": 2 files may be added`},
		{"one of several", texts{{"references/a.md", "x"}, {"../x.md", "x"}}, `"../x.md": only`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := skill.Rewrite(folder(), tt.texts, folderScope(t, 2))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if !got.Equal(skill.Skill{}) {
				t.Error("a skill comes with the error")
			}
		})
	}
}

// Where SKILL.md alone may change, or the description alone, no other file may.
func TestRewriteWithinOtherScopes(t *testing.T) {
	t.Parallel()
	text := []skill.FileText{{File: "references/a.md", Content: "x"}}
	for _, scope := range []skill.Scope{{}, skill.Scope{}.WithDescription(), folderScope(t, 2).WithDescriptionAlone()} {
		if got, err := skill.Rewrite(folder(), text, scope); err == nil {
			t.Errorf("taken: %s", skill.Diff(folder(), got, "a", "b"))
		}
		if got, err := skill.Rewrite(folder(), nil, scope); err != nil || !got.Equal(folder()) {
			t.Errorf("nothing is refused: %v", err)
		}
	}
}

// All files together are bounded, and files that were added before count.
func TestRewriteWithinTheWhole(t *testing.T) {
	t.Parallel()
	full := folder().WithFile("assets/data.bin", strings.Repeat("a", skill.MaxTotal-1000))
	scope := folderScope(t, 1)
	grown := []skill.FileText{{File: "references/a.md", Content: strings.Repeat("b", 2000)}}
	if _, err := skill.Rewrite(full, grown, scope); err == nil || !strings.Contains(err.Error(), `"references/a.md": the skill would have`) {
		t.Errorf("more than a skill may be: %v", err)
	}
	one, err := skill.Rewrite(folder(), []skill.FileText{{File: "references/n.md", Content: "n"}}, scope)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := skill.Rewrite(one, []skill.FileText{{File: "references/m.md", Content: "m"}}, scope); err == nil || !strings.Contains(err.Error(), "1 file may be added") {
		t.Errorf("one more than may be added: %v", err)
	}
	two, err := skill.Rewrite(one, []skill.FileText{{File: "references/n.md", Content: "other"}}, scope)
	if text, _ := two.File("references/n.md"); err != nil || text != "other\n" {
		t.Errorf("the added one: %q, %v", text, err)
	}
}

// Whatever a reply names, what comes out is a skill that the scope allows: no other file
// has changed, none is gone, and modes are those that were.
func TestRewriteStaysWithinTheScope(t *testing.T) {
	t.Parallel()
	scope := folderScope(t, 1)
	names := rapid.SampledFrom([]string{
		"references/a.md", "references/crlf.md", "references/n.md", "references/N.md", "scripts/run.sh", "scripts/other.sh",
		"assets/b.md", "SKILL.md", "AGENTS.md", "../x.md", "references/a.md/x.md", "",
	})
	rapid.Check(t, func(t *rapid.T) {
		var texts []skill.FileText
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			texts = append(texts, skill.FileText{File: names.Draw(t, "file"), Content: rapid.StringMatching(`[a-c\r\n\x00 <!>-]{0,20}`).Draw(t, "content")})
		}
		before := folder()
		after, err := skill.Rewrite(before, texts, scope)
		if err != nil {
			return
		}
		for _, name := range before.Files() {
			was, _ := before.File(name)
			is, there := after.File(name)
			if !there || after.Executable(name) != before.Executable(name) || is != was && !scope.Allows(name) {
				t.Fatalf("%s: %q -> %q", name, was, is)
			}
		}
		if n := len(after.Files()) - len(before.Files()); n > 1 {
			t.Fatalf("%d files were added", n)
		}
		again, err := skill.Rewrite(before, texts, scope)
		if diff := cmp.Diff(after.Digest(), again.Digest()); diff != "" || err != nil {
			t.Fatal(diff, err)
		}
	})
}
