package optimize

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// wholeFolder is a skill of which references may be written anew, and one more added.
func wholeFolder(t *testing.T, patterns ...string) Folder {
	t.Helper()
	if len(patterns) == 0 {
		patterns = []string{"SKILL.md", "references/*.md"}
	}
	s := skill.New(regionDoc).WithFile("references/a.md", "# A\r\none\r\n").WithFile("references/b.md", "# B\n").
		WithFile("assets/c.md", "fixed\n").WithFile("scripts/run.sh", "echo\n").WithExecutable("scripts/run.sh")
	scope, err := skill.NewScope(s, patterns, 1)
	if err != nil {
		t.Fatal(err)
	}
	return Folder{Skill: s, Scope: scope}
}

// files is a list of files as a model writes it: path, text, path, text.
func files(pairs ...string) []any {
	list := []any{}
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, map[string]any{"file": pairs[i], "content": pairs[i+1]})
	}
	return list
}

// wholeItem is a whole skill as a model writes it.
func wholeItem(document, others any) map[string]any {
	return map[string]any{"title": "t", "change_summary": []any{"c"}, "new_skill": document, "files": others}
}

// A whole skill with its other files becomes the candidate in both modes, or is refused in
// both with a reason that names the file.
func TestWholeSkillsOfSeveralFiles(t *testing.T) {
	t.Parallel()
	kept := strings.Replace(regionDoc, "old rule", "new rule", 1)
	long := strings.Repeat("x", skill.MaxBytes)
	tests := []struct {
		name     string
		document any
		files    any
		want     map[string]string // files that differ
		refused  string
	}{
		{"nothing", regionDoc, files(), nil, ""},
		{"no list", regionDoc, nil, nil, ""},
		{"SKILL.md alone", kept, files(), map[string]string{"SKILL.md": kept}, ""},
		{"a reference alone", strings.TrimSpace(regionDoc), files("references/b.md", "# B\nnew"), map[string]string{"references/b.md": "# B\nnew\n"}, ""},
		{"its line ends are kept", regionDoc, files("references/a.md", "# A\ntwo\n"), map[string]string{"references/a.md": "# A\r\ntwo\r\n"}, ""},
		{"all, and a new one", kept, files("references/a.md", "a", "references/new.md", "n"), map[string]string{"SKILL.md": kept, "references/a.md": "a\r\n", "references/new.md": "n\n"}, ""},
		{"what steers, and markers", regionDoc, files("references/b.md", "b\x1b[2J\u202e"+skill.SlowStart), map[string]string{"references/b.md": "b[2J\n"}, ""},
		{"no string", 5, files(), nil, "new_skill is not a string"},
		{"an empty document", " ", files("references/b.md", "b"), nil, "new_skill is empty"},
		{"a broken region", "# S", files("references/b.md", "b"), nil, "changes a protected part"},
		{"an object", regionDoc, map[string]any{"references/b.md": "b"}, nil, "files is not a list"},
		{"no object", regionDoc, []any{"references/b.md"}, nil, "files[0]: file and content are to be strings"},
		{"a text that is no string", regionDoc, []any{map[string]any{"file": "references/b.md", "content": 5}}, nil, "files[0]: file and content are to be strings"},
		{"SKILL.md among the others", regionDoc, files("references/b.md", "b", "SKILL.md", kept), nil, "files[1]: the text of SKILL.md is new_skill"},
		{"outside", regionDoc, files("../x.md", "x"), nil, `"../x.md": only what matches SKILL.md, references/*.md may be edited`},
		{"a fixed one", regionDoc, files("assets/c.md", "x"), nil, `"assets/c.md": only what matches`},
		{"a program", regionDoc, files("scripts/run.sh", "rm"), nil, `"scripts/run.sh": only what matches`},
		{"a new program", regionDoc, files("scripts/new.sh", "rm"), nil, `"scripts/new.sh": only what matches`},
		{"orders", regionDoc, files("references/AGENTS.md", "x"), nil, `"references/AGENTS.md": only what matches`},
		{"twice", regionDoc, files("references/b.md", "x", "references/b.md", "y"), nil, `"references/b.md" is there twice`},
		{"deleted", regionDoc, files("references/b.md", ""), nil, `"references/b.md": the text is empty`},
		{"too large", regionDoc, files("references/b.md", long), nil, "references/b.md would have 262145 bytes, at most 262144 are allowed"},
		{"too many", regionDoc, files("references/1.md", "x", "references/2.md", "x"), nil, `"references/2.md": 1 file may be added`},
		{"one of several", kept, files("references/b.md", "b", "assets/c.md", "x"), nil, `"assets/c.md": only what matches`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			folder := wholeFolder(t)
			item := wholeItem(tt.document, tt.files)
			full, err := Update(t.Context(), UpdateInput{Mode: ModeFullRewrite, Skill: folder.Skill, Scope: folder.Scope, Patch: NewPatch(ModeFullRewrite, "", []any{item})})
			if err != nil {
				t.Fatal(err)
			}
			reply, refused := rewriteWith(t, folder, item)
			want := folder.Skill
			for name, text := range tt.want {
				want = want.WithFile(name, text)
			}
			for mode, got := range map[Mode]UpdateResult{ModeFullRewrite: full, ModeRewrite: reply} {
				if !got.Candidate.Equal(want) || got.Changed != (tt.want != nil) || (got.Refused == "") != (tt.refused == "") {
					t.Errorf("%s: changed %v, refused %q\n%s", mode, got.Changed, got.Refused, skill.Diff(want, got.Candidate, "want", "got"))
				}
			}
			if !strings.Contains(full.Refused, tt.refused) || !strings.Contains(refused, tt.refused) {
				t.Errorf("refused: %q and %q, want %q", full.Refused, refused, tt.refused)
			}
		})
	}
}

// rewriteWith has a skill rewritten by a reply, and says why it was refused.
func rewriteWith(t *testing.T, f Folder, reply map[string]any) (UpdateResult, string) {
	t.Helper()
	text, err := json.Marshal(reply)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{replies: map[string]string{"rewrite": string(text)}}
	got, err := Update(t.Context(), UpdateInput{
		Ask: s.ask, Prompts: prompt.Whole(), Mode: ModeRewrite, Skill: f.Skill, Scope: f.Scope,
		Patch: NewPatch(ModeRewrite, "", []any{map[string]any{"type": "change", "file": "references/b.md", "title": "T", "instruction": "do"}}),
	})
	if err != nil {
		t.Fatal(err)
	}
	q := s.asked["rewrite"]
	for _, want := range []string{"type=change file=references/b.md title=T", "references/b.md: 4 bytes; may be edited", "\n# B\n"} {
		if !strings.Contains(q.User, want) {
			t.Errorf("the author is not told %q:\n%s", want, q.User)
		}
	}
	if err := q.Accept(string(text)); err != nil {
		return got, err.Error()
	}
	return got, ""
}

// Where SKILL.md may not change, whole skills leave it empty, or as it is.
func TestWholeSkillsWithoutTheDocument(t *testing.T) {
	t.Parallel()
	folder := wholeFolder(t, "references/*.md")
	want := folder.Skill.WithFile("references/b.md", "b\n")
	for _, document := range []string{"", regionDoc, strings.TrimSpace(regionDoc)} {
		if got, err := folder.candidate(wholeItem(document, files("references/b.md", "b"))); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v\n%s", document, err, skill.Diff(want, got, "want", "got"))
		}
	}
	changed := strings.Replace(regionDoc, "old rule", "new rule", 1)
	if _, err := folder.candidate(wholeItem(changed, files())); err == nil || !strings.Contains(err.Error(), `"SKILL.md": only what matches references/*.md`) {
		t.Errorf("a changed document: %v", err)
	}
}

// With SKILL.md alone in scope other files of a reply mean nothing, whatever they are.
func TestOtherFilesMeanNothingToADocument(t *testing.T) {
	t.Parallel()
	folder := wholeFolder(t)
	folder.Scope = skill.Scope{}
	for _, others := range []any{files("../x.md", "x", "references/b.md", "b"), 5, nil} {
		if got, err := folder.candidate(wholeItem(regionDoc, others)); err != nil || !got.Equal(folder.Skill) {
			t.Errorf("%v: %v", others, err)
		}
	}
}

// A file for whose text there was no room is not written anew, by the author of a rewrite or
// by an analyst: what it says would be lost. One that the trajectories touched is shown.
func TestWhatIsNotShownIsNotWritten(t *testing.T) {
	t.Parallel()
	folder := wholeFolder(t)
	folder.Skill = folder.Skill.WithFile("references/b.md", strings.Repeat("b", filesRoom+1)).WithFile("references/c.md", "\x07bell\n")
	scope, err := skill.NewScope(folder.Skill, []string{"SKILL.md", "references/*.md"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	in := FilesInput{Prompts: prompt.Whole(), Mode: ModeFullRewrite, Skill: folder.Skill, Scope: scope}
	told := in.Folder()
	for _, name := range []string{"references/b.md", "references/c.md"} {
		if _, err := told.candidate(wholeItem(regionDoc, files(name, "x"))); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q: its text was not shown", name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := told.candidate(wholeItem(regionDoc, files("references/a.md", "x"))); err != nil {
		t.Errorf("one that was shown: %v", err)
	}
	in.Skill = in.Skill.WithFile("references/a.md", strings.Repeat("a", filesRoom)).WithFile("references/b.md", "b")
	touched := outcome("t", 0)
	touched.Trajectory = []trajectory.Turn{{Role: "assistant", Action: "cat references/b.md"}}
	in.Outcomes = []trajectory.Outcome{touched}
	told = in.Folder()
	if diff := cmp.Diff([]string{"assets/c.md", "references/a.md", "references/c.md", "scripts/run.sh"}, told.Unseen); diff != "" {
		t.Errorf("unseen (-want +got):\n%s", diff)
	}
}

// Analysts and merges of whole skills are held to all files where the reply is made, and
// what an analyst may not write does not come with what it may.
func TestFullRewriteRefusesFilesEarly(t *testing.T) {
	t.Parallel()
	folder := wholeFolder(t)
	view := View{Whole: true, Window: 60_000, Folder: &folder, Forms: Forms{Files: true}, Rules: "the rules for files"}
	bad, good := wholeItem(regionDoc, files("../x.md", "x")), wholeItem(regionDoc, files("references/b.md", "b"))
	reply := func(items ...any) string {
		text, _ := json.Marshal(map[string]any{"patch": map[string]any{"skill_candidates": items}, "skill_candidates": items})
		return string(text)
	}
	for name, tt := range map[string]struct {
		reply string
		lost  int
		items int
	}{"bad": {reply(bad), 1, 0}, "good": {reply(good), 0, 1}, "both": {reply(bad, good), 0, 1}} {
		s := &script{replies: map[string]string{"analyst_error/0": tt.reply, "merge/failure/1/0": tt.reply}}
		in := reflectInput(s.ask, outcome("a", 0))
		in.Mode, in.Skill, in.View = ModeFullRewrite, regionDoc+"\n\n## Files Of The Skill\n", view
		r, err := Reflect(t.Context(), in)
		if err != nil || len(r.Lost) != tt.lost {
			t.Errorf("%s: reflect: %+v, %v", name, r, err)
		}
		if tt.items > 0 && len(r.Analyses[0].Patch.Items(ModeFullRewrite)) != tt.items {
			t.Errorf("%s: candidates: %+v", name, r.Analyses[0].Patch)
		}
		one := NewPatch(ModeFullRewrite, "", []any{good})
		m, err := Aggregate(t.Context(), AggregateInput{
			Ask: s.ask, Prompts: prompt.Whole(), Mode: ModeFullRewrite, Failures: []Patch{one, one}, Skill: in.Skill, View: view,
		})
		if err != nil || len(m.Lost) != tt.lost {
			t.Errorf("%s: aggregate: %+v, %v", name, m, err)
		}
		if q := s.asked["merge/failure/1/0"]; !strings.Contains(q.System, "the rules for files") || !strings.Contains(string(q.Schema.JSON), `"files"`) || !strings.Contains(q.User, `"file":"references/b.md"`) {
			t.Errorf("%s: the merge is not told of files:\n%s\n%s", name, q.System, q.Schema.JSON)
		}
	}
}

// Proposals are listed with the files that they are about only where there are several.
func TestItemsNameTheirFiles(t *testing.T) {
	t.Parallel()
	suggestion := map[string]any{"type": "add", "file": "references/b.md", "title": "T"}
	candidate := wholeItem("# S", files("references/b.md", "the text", "references/\nb.md", "x"))
	tests := []struct {
		mode        Mode
		item        map[string]any
		view        View
		want, never string
	}{
		{ModeRewrite, suggestion, View{}, "[0] type=add title=T", ""},
		{ModeRewrite, suggestion, View{Forms: Forms{Files: true}}, "[0] type=add file=references/b.md title=T", ""},
		{ModeFullRewrite, candidate, View{}, "[0] title=t content=# S", ""},
		{ModeFullRewrite, candidate, View{Forms: Forms{Files: true}}, `[0] title=t files=references/b.md, references/\nb.md content=# S`, ""},
		{ModeFullRewrite, candidate, View{Whole: true, Window: 9000}, "Document:\n```\n# S\n```", "references"},
		{ModeFullRewrite, candidate, View{Whole: true, Window: 9000, Forms: Forms{Files: true}}, "Other files:\n```\nreferences/b.md:\nthe text\n\nreferences/\\nb.md:\nx\n```", ""},
	}
	for i, tt := range tests {
		got := tt.view.items(NewPatch(tt.mode, "", []any{tt.item}), tt.mode)
		if !strings.Contains(got, tt.want) || tt.never != "" && strings.Contains(got, tt.never) {
			t.Errorf("%d: %s\nwant it to hold %s", i, got, tt.want)
		}
	}
}
