package optimize

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
)

const regionDoc = "---\nname: x\ndescription: y\n---\n# Skill\n- old rule\n\n<!-- SLOW_UPDATE_START -->\nguidance\n<!-- SLOW_UPDATE_END -->\n"

func newSkillReply(doc any) string {
	b, _ := json.Marshal(map[string]any{"reasoning": "r", "change_summary": []string{"c1", " "}, "new_skill": doc})
	return string(b)
}

func suggestions(n int) Patch {
	var items []any
	for i := range n {
		items = append(items, map[string]any{"type": "add", "title": fmt.Sprint("T", i), "instruction": "do\nit", "motivation": "m"})
	}
	return NewPatch(ModeRewrite, "r", items)
}

func TestUpdatePatch(t *testing.T) {
	t.Parallel()
	items := []any{
		map[string]any{"op": "append", "content": "new rule", "support_count": 3, "source_type": "failure", "merge_level": 1},
		"junk",
		map[string]any{"op": "replace", "target": "old", "content": "older"},
		map[string]any{"op": "delete", "target": "guidance"},
		map[string]any{"op": []any{"x"}},
		map[string]any{"op": "append", "content": "over"},
	}
	got, err := Update(t.Context(), UpdateInput{Mode: ModePatch, Skill: skill.New(regionDoc), Patch: NewPatch(ModePatch, "r", items), Budget: 2})
	if err != nil {
		t.Fatal(err)
	}
	var states []skill.ApplyStatus
	for i, r := range got.Reports {
		if r.Index != i+1 {
			t.Errorf("report %d has index %d", i, r.Index)
		}
		states = append(states, r.Status)
	}
	want := []skill.ApplyStatus{
		skill.AppliedAppendBeforeRegion, skill.Failed, skill.AppliedReplace,
		skill.SkippedProtectedRegion, skill.Failed, skill.SkippedOverBudget,
	}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
	if !got.Changed || !strings.Contains(got.Candidate.Text(), "new rule") || strings.Contains(got.Candidate.Text(), "over\n") {
		t.Errorf("candidate:\n%s", got.Candidate.Text())
	}
	first := skill.Edit{Op: skill.Append, Content: "new rule", SupportCount: 3, Source: skill.FromFailure, MergeLevel: 1}
	if len(got.Edits) != 4 || got.Edits[0] != first {
		t.Errorf("edits %+v, the first should be %+v", got.Edits, first)
	}
}

func TestUpdateWithoutWork(t *testing.T) {
	t.Parallel()
	old := skill.New("# S\n")
	for _, mode := range []Mode{ModePatch, ModeRewrite, ModeFullRewrite} {
		got, err := Update(t.Context(), UpdateInput{Mode: mode, Skill: old, Patch: NewPatch(mode, "", nil), Budget: 3})
		if err != nil || got.Changed || got.Candidate.Text() != old.Text() || got.Calls != 0 {
			t.Errorf("%s: %+v, %v", mode, got, err)
		}
	}
	patch := NewPatch(ModePatch, "", []any{edit("a", 1)})
	got, err := Update(t.Context(), UpdateInput{Mode: ModePatch, Skill: old, Patch: patch})
	if err != nil || got.Changed || got.Reports[0].Status != skill.SkippedOverBudget {
		t.Errorf("budget 0: %+v, %v", got, err)
	}
}

func TestUpdateRewrite(t *testing.T) {
	t.Parallel()
	kept := strings.Replace(regionDoc, "old rule", "new rule", 1)
	tests := []struct {
		name    string
		skill   string
		reply   string
		want    string // "" = refused
		changed bool
	}{
		{"rewritten", regionDoc, newSkillReply(kept), kept, true},
		{"the same but for its end", regionDoc, newSkillReply(regionDoc + "\n\n"), regionDoc, false},
		{"line ends follow the document", "# S\r\na\r\n", newSkillReply("# S\nb\n"), "# S\r\nb\r\n", true},
		{"what steers", "# S\x1b\na\n", newSkillReply("# S\x1b\nb\x1b[2J\u202e\u2028c\rd\n"), "# S\x1b\nb[2J\nc\nd\n", true},
		{"nothing but what steers", "# S\n", newSkillReply("\x00\u200b\n"), "", false},
		{"a region in pieces", "# S\n", newSkillReply("# S\n<!-- SLOW_UPD\u200bATE_START -->\n<!-- SLOW_UPDATE_END -->\n"), "", false},
		{"region changed", regionDoc, newSkillReply(strings.Replace(kept, "guidance", "other", 1)), "", false},
		{"region lost", regionDoc, newSkillReply("# Skill\n"), "", false},
		{"front matter changed", regionDoc, newSkillReply(strings.Replace(kept, "name: x", "name: z", 1)), "", false},
		{"no string", "# S\n", newSkillReply(nil), "", false},
		{"a list", "# S\n", newSkillReply([]string{"l"}), "", false},
		{"empty", "# S\n", newSkillReply(" \n"), "", false},
		{"missing", "# S\n", `{"reasoning": "r"}`, "", false},
		{"too large", "# S\n", newSkillReply(strings.Repeat("x", skill.MaxBytes)), "", false},
		{"prose", "# S\n", "here you are", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &script{replies: map[string]string{"rewrite": tt.reply}}
			got, err := Update(t.Context(), UpdateInput{
				Ask: s.ask, Prompts: prompt.Default(), Mode: ModeRewrite, Skill: skill.New(tt.skill), Patch: suggestions(2),
			})
			if err != nil {
				t.Fatal(err)
			}
			if q := s.asked["rewrite"]; q.Stage != model.StageRewrite || !strings.Contains(q.User, "2. type=add title=T1\n   motivation: m\n   instruction: do\n   it") {
				t.Errorf("question:\n%s", q.User)
			}
			if tt.want == "" {
				if got.Refused == "" || len(got.Lost) != 1 || got.Candidate.Text() != tt.skill {
					t.Errorf("not refused: %+v\n%s", got, got.Candidate.Text())
				}
				return
			}
			if diff := cmp.Diff(tt.want, got.Candidate.Text()); diff != "" || got.Changed != tt.changed {
				t.Errorf("changed %v, candidate (-want +got):\n%s", got.Changed, diff)
			}
			if diff := cmp.Diff([]string{"c1"}, got.Summary); diff != "" {
				t.Errorf("summary (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUpdateRewriteStopsOnOtherErrors(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	ask := func(context.Context, Request) (string, error) { return "", stop }
	_, err := Update(t.Context(), UpdateInput{Ask: ask, Prompts: prompt.Default(), Mode: ModeRewrite, Patch: suggestions(1)})
	if !errors.Is(err, stop) {
		t.Errorf("update: %v", err)
	}
	_, err = Appendix(t.Context(), AppendixInput{Ask: ask, Prompts: prompt.Default(), Notes: []string{"a", "b"}, Threshold: 1})
	if !errors.Is(err, stop) {
		t.Errorf("appendix: %v", err)
	}
}

func TestUpdateFullRewrite(t *testing.T) {
	t.Parallel()
	candidates := func(docs ...any) Patch {
		var items []any
		for i, d := range docs {
			items = append(items, map[string]any{"title": fmt.Sprint("t", i), "new_skill": d})
		}
		return NewPatch(ModeFullRewrite, "r", items)
	}
	kept := strings.Replace(regionDoc, "old rule", "new rule", 1)
	got, err := Update(t.Context(), UpdateInput{
		Mode: ModeFullRewrite, Skill: skill.New(regionDoc), Patch: candidates("# no regions", 5, " ", kept, "# late"),
	})
	if err != nil || !got.Changed || got.Candidate.Text() != kept {
		t.Errorf("%+v, %v\n%s", got, err, got.Candidate.Text())
	}
	got, err = Update(t.Context(), UpdateInput{Mode: ModeFullRewrite, Skill: skill.New(regionDoc), Patch: candidates("\x00", kept+"- a\x1b[2J\u009b")})
	if err != nil || got.Candidate.Text() != kept+"- a[2J\n" {
		t.Errorf("%+v, %v\n%q", got, err, got.Candidate.Text())
	}
	got, err = Update(t.Context(), UpdateInput{
		Mode: ModeFullRewrite, Skill: skill.New(regionDoc), Patch: candidates("# no regions", 5, " ", kept, "# late"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"t3"}, got.Summary); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	got, err = Update(t.Context(), UpdateInput{Mode: ModeFullRewrite, Skill: skill.New(regionDoc), Patch: candidates("# no regions", 5)})
	if err != nil || got.Changed || !strings.Contains(got.Refused, "skill_candidates[0]") || !strings.Contains(got.Refused, "skill_candidates[1]") {
		t.Errorf("%+v, %v", got, err)
	}
}

// In full rewrite mode a document that breaks a region is refused where it is
// made, so that it can be asked for again.
func TestFullRewriteRefusesBrokenRegionsEarly(t *testing.T) {
	t.Parallel()
	broken := `{"patch": {"skill_candidates": [{"new_skill": "# S"}]}, "skill_candidates": [{"new_skill": "# S"}]}`
	s := &script{replies: map[string]string{"analyst_error/0": broken, "merge/failure/1/0": broken}}
	in := reflectInput(s.ask, outcome("a", 0))
	in.Mode, in.Skill = ModeFullRewrite, regionDoc
	r, err := Reflect(t.Context(), in)
	if err != nil || len(r.Lost) != 1 {
		t.Errorf("reflect: %+v, %v", r, err)
	}
	one := NewPatch(ModeFullRewrite, "", []any{map[string]any{"new_skill": regionDoc}})
	m, err := Aggregate(t.Context(), AggregateInput{
		Ask: s.ask, Prompts: prompt.Default(), Mode: ModeFullRewrite, Failures: []Patch{one, one}, Skill: regionDoc,
	})
	if err != nil || len(m.Lost) != 1 || m.Items != 2 {
		t.Errorf("aggregate: %+v, %v", m, err)
	}
}

// Whatever a model proposes, an update keeps the protected regions to the byte
// and gives every item exactly one report.
func TestUpdateKeepsRegions(t *testing.T) {
	t.Parallel()
	text := rapid.SampledFrom([]string{"", "a", "- old rule", "guidance", "<!-- SLOW_UPDATE_START -->", "name: x", "---", "# Skill\n", "x\r\ny"})
	rapid.Check(t, func(t *rapid.T) {
		var items []any
		for range rapid.IntRange(1, 6).Draw(t, "n") {
			items = append(items, map[string]any{
				"op":      rapid.SampledFrom([]string{"append", "insert_after", "replace", "delete", "?"}).Draw(t, "op"),
				"target":  text.Draw(t, "target"),
				"content": text.Draw(t, "content"),
			})
		}
		budget := rapid.IntRange(0, 4).Draw(t, "budget")
		got, err := Update(context.Background(), UpdateInput{
			Mode: ModePatch, Skill: skill.New(regionDoc), Patch: NewPatch(ModePatch, "r", items), Budget: budget,
		})
		if err != nil {
			t.Fatal(err)
		}
		if !skill.RegionsEqual(regionDoc, got.Candidate.Text()) {
			t.Fatalf("regions changed:\n%s", got.Candidate.Text())
		}
		applied := 0
		for _, r := range got.Reports {
			if r.Status.Applied() {
				applied++
			}
		}
		if applied > budget || len(got.Reports) != len(items) {
			t.Fatalf("%d applied with budget %d, %d reports for %d items", applied, budget, len(got.Reports), len(items))
		}
	})
}

func TestAppendix(t *testing.T) {
	t.Parallel()
	old := skill.New("# S\n").WithNotes([]string{"Keep units."})
	tests := []struct {
		name  string
		notes []string
		reply string
		want  AppendixResult
	}{
		{"nothing new", []string{"keep units"}, "", AppendixResult{Added: []string{}, Notes: []string{"Keep units."}}},
		{"none at all", nil, "", AppendixResult{Added: []string{}, Notes: []string{"Keep units."}}},
		{"added once", []string{"Round last.", "round last"}, "", AppendixResult{
			Changed: true, Added: []string{"Round last."}, Notes: []string{"Keep units.", "Round last."},
		}},
		{"compacted", []string{"a", "b", "c", "d"}, `{"appendix_notes": ["x", "X.", "y", "z"]}`, AppendixResult{
			Changed: true, Added: []string{"a", "b", "c", "d"}, Notes: []string{"x", "y"}, Compacted: true, Calls: 1,
		}},
		{"lost", []string{"a", "b", "c", "d"}, `{"appendix_notes": []}`, AppendixResult{
			Changed: true, Added: []string{"a", "b", "c", "d"}, Notes: []string{"Keep units.", "a", "b", "c", "d"},
			Calls: 1, Lost: []string{"appendix"},
		}},
		{"no JSON", []string{"a", "b", "c", "d"}, `x, y`, AppendixResult{
			Changed: true, Added: []string{"a", "b", "c", "d"}, Notes: []string{"Keep units.", "a", "b", "c", "d"},
			Calls: 1, Lost: []string{"appendix"},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &script{replies: map[string]string{"appendix": tt.reply}}
			got, err := Appendix(t.Context(), AppendixInput{Ask: s.ask, Prompts: prompt.Default(), Skill: old, Notes: tt.notes, Threshold: 4})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got.Notes, skill.Notes(got.Skill.Text())); diff != "" {
				t.Errorf("notes in the skill (-reported +there):\n%s", diff)
			}
			if got.Changed != (got.Skill.Text() != old.Text()) {
				t.Errorf("changed = %v", got.Changed)
			}
			got.Skill = skill.Skill{}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(skill.Skill{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAppendixDefaultThreshold(t *testing.T) {
	t.Parallel()
	var notes []string
	for i := range AppendixThreshold + 1 {
		notes = append(notes, fmt.Sprint("note ", i))
	}
	s := &script{replies: map[string]string{"appendix": `{"appendix_notes": ["one"]}`}}
	in := AppendixInput{Ask: s.ask, Prompts: prompt.Default(), Notes: notes[:AppendixThreshold]}
	if got, err := Appendix(t.Context(), in); err != nil || got.Compacted {
		t.Errorf("at the threshold: %+v, %v", got, err)
	}
	in.Notes = notes
	if got, err := Appendix(t.Context(), in); err != nil || !got.Compacted {
		t.Errorf("above the threshold: %+v, %v", got, err)
	}
}
