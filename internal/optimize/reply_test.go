package optimize

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/skill"
)

func TestParseRewrite(t *testing.T) {
	t.Parallel()
	got, err := ParseRewrite(`{"reasoning": null, "change_summary": ["a"], "new_skill": " x \n\n"}`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Rewrite{ChangeSummary: []any{"a"}, NewSkill: " x\n"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseMergeErrors(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]string{
		`prose`:              "merge reply",
		`{"edits": {}}`:      `"edits" is not a list`,
		`{"reasoning": ""}`:  `"edits" is not a list`,
		`{"edits": [{}, 5]}`: `edits[1] is not an object`,
	} {
		if _, err := ParseMerge(reply, ModePatch); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", reply, err, want)
		}
	}
}

func TestNormalisePatchesLeavesRecordsAlone(t *testing.T) {
	t.Parallel()
	item := map[string]any{"op": "append"}
	record := map[string]any{"patch": map[string]any{"edits": []any{item}}}
	NormalisePatches([]any{record}, ModePatch)
	if len(item) != 1 || len(record) != 1 {
		t.Errorf("changed: %v", record)
	}
}

// Replies are the least trusted input of all: no text may break a parser, and
// what a parser takes must keep its promises.
func FuzzReplies(f *testing.F) {
	for _, s := range []string{
		oneEdit, `[]`, `{}`, `{"patch": null, "appendix_notes": "n"}`, `{"selected_indices": [0, "1", 2.0, -1, true, 0]}`,
		`{"edits": [{"op": "append"}, 5]}`, "```json\n{\"new_skill\": [1e999, {\"a\": null}]}\n```", `{"appendix_notes": [{"note": 0, "content": {"x": "'"}}]}`,
		`{"patch": {"edits": {"x": 1}}}`, `{"selected_indices": [99999999999999999999]}`,
	} {
		f.Add(s, 2)
	}
	f.Fuzz(func(t *testing.T, text string, n int) {
		n %= 50
		for _, source := range []skill.Source{skill.FromFailure, skill.FromSuccess} {
			record, err := ParseAnalyst(text, AnalystOptions{Source: source, Mode: ModePatch, Budget: n, Notes: true})
			if err != nil {
				continue
			}
			if n >= 0 && len(Items(record["patch"], ModePatch)) > n {
				t.Fatal("more items than the budget")
			}
			NormalisePatches([]any{record}, ModePatch)
		}
		if r, err := ParseRanking(text, max(0, n), 3); err == nil {
			if len(r.Selected) == 0 || len(r.Selected) > 3 {
				t.Fatalf("selected %v", r.Selected)
			}
			for _, i := range r.Selected {
				if i < 0 || i >= n {
					t.Fatalf("index %d of %d", i, n)
				}
			}
		}
		if p, err := ParseMerge(text, ModePatch); err == nil {
			lines := ItemLines(p, ModePatch, false)
			if want := len(p.Items(ModePatch)); want > 0 && strings.Count(lines, "\n") != want-1 {
				t.Fatalf("%d items in\n%s", want, lines)
			}
			inheritProvenance(p, ModePatch, p.Items(ModePatch))
		}
		if r, err := ParseRewrite(text); err == nil && !strings.HasSuffix(r.NewSkill, "\n") {
			t.Fatalf("new skill %q", r.NewSkill)
		}
	})
}
