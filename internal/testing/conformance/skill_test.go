package conformance

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/skill"
)

func TestSkillHash(t *testing.T) {
	t.Parallel()
	run(t, "skill_hash", func(in, out map[string]any) string {
		return cmp.Diff(out["ok"], any(skill.Hash(in["content"].(string))))
	})
}

func TestEditsSkillOpt(t *testing.T) {
	t.Parallel()
	run(t, "edits_skillopt", checkEditsSkillOpt)
}

func checkEditsSkillOpt(in, out map[string]any) string {
	return checkEdits(in, out, skill.DecodeEditStrict, skill.ApplyOptions{})
}

func TestEditsSkillRL(t *testing.T) {
	t.Parallel()
	run(t, "edits_skillrl", func(in, out map[string]any) string {
		return checkEdits(in, out, skill.DecodeEdit, skill.ApplyOptions{Unprotected: true})
	})
}

// editResult is what edit families record, without the wording of errors.
type editResult struct {
	Skill   string
	Reports []editRow
}

type editRow struct{ Op, Status, Target, Content string }

func checkEdits(in, out map[string]any, decode func(any) (skill.Edit, error), opts skill.ApplyOptions) string {
	rows := make([]editRow, 0)
	var edits []skill.Edit
	var places []int
	for i, raw := range in["edits"].([]any) {
		rows = append(rows, editRow{Status: string(skill.Failed)})
		e, err := decode(raw)
		if err != nil {
			continue
		}
		edits, places = append(edits, e), append(places, i)
	}
	got, reports := skill.Apply(skill.New(in["skill"].(string)), edits, opts)
	for i, r := range reports {
		rows[places[i]] = editRow{string(r.Op), string(r.Status), r.Target, r.Content}
	}
	return cmp.Diff(recordedEdits(out), editResult{got.Text(), rows})
}

func recordedEdits(out map[string]any) editResult {
	if want, ok := out["want"].(editResult); ok {
		return want
	}
	ok := out["ok"].(map[string]any)
	rows := make([]editRow, 0)
	for _, raw := range ok["reports"].([]any) {
		r := raw.(map[string]any)
		rows = append(rows, editRow{r["op"].(string), r["status"].(string), r["target"].(string), r["content_preview"].(string)})
	}
	return editResult{ok["skill"].(string), rows}
}

func TestSlowRegion(t *testing.T) {
	t.Parallel()
	run(t, "slow_region", checkSlowRegion)
}

// The functions of Sleep end a text with its last word, and take the region out where there is
// nothing to put in; ours are composed to the same.
func checkSlowRegion(in, out map[string]any) string {
	text, content := in["skill"].(string), in["content"].(string)
	if ofSleep(in) {
		stripped := oracleTrimEnd(skill.StripSlow(text))
		replaced := skill.ReplaceSlow(text, content)
		if oracleTrim(content) == "" {
			replaced = stripped
		}
		return cmp.Diff(out, recordedFields(map[string]any{
			"has": skill.HasSlow(text), "extract": skill.SlowText(text), "strip": stripped, "replace": replaced,
		}))
	}
	return cmp.Diff(out, map[string]any{
		"has":     map[string]any{"ok": skill.HasSlow(text)},
		"inject":  map[string]any{"ok": skill.InjectSlow(text)},
		"extract": map[string]any{"ok": skill.SlowText(text)},
		"strip":   map[string]any{"ok": skill.StripSlow(text)},
		"replace": map[string]any{"ok": skill.ReplaceSlow(text, content)},
	})
}

func TestAppendixRegion(t *testing.T) {
	t.Parallel()
	run(t, "appendix_region", checkAppendixRegion)
}

func checkAppendixRegion(in, out map[string]any) string {
	text := in["skill"].(string)
	notes := textList(in["notes"])
	var keys []string
	for _, n := range notes {
		keys = append(keys, skill.NoteKey(n))
	}
	return cmp.Diff(out, map[string]any{
		"has":       map[string]any{"ok": skill.HasAppendix(text)},
		"inject":    map[string]any{"ok": skill.InjectAppendix(text)},
		"extract":   map[string]any{"ok": anyList(skill.Notes(text))},
		"strip":     map[string]any{"ok": skill.StripAppendix(text)},
		"append":    map[string]any{"ok": skill.AppendNotes(text, notes)},
		"dedupe":    map[string]any{"ok": anyList(skill.DedupeNotes(notes))},
		"canonical": map[string]any{"ok": anyList(keys)},
	})
}

func TestSemanticDensity(t *testing.T) {
	t.Parallel()
	run(t, "semantic_density", func(in, out map[string]any) string {
		var words []string
		if list, ok := in["leading_words"].([]any); ok {
			words = textList(list)
		}
		want, err := out["ok"].(json.Number).Float64()
		if err != nil {
			return err.Error()
		}
		got := skill.Density(in["skill"].(string), words)
		if math.Abs(got-want) > 1e-12 {
			return cmp.Diff(want, got)
		}
		return ""
	})
}

func textList(v any) []string {
	list := make([]string, 0)
	for _, item := range v.([]any) {
		list = append(list, item.(string))
	}
	return list
}

func anyList(list []string) []any {
	out := make([]any, 0)
	for _, s := range list {
		out = append(out, s)
	}
	return out
}

// TestEditOracle holds the plain model of the reference's edit rules, by which
// the deliberate differences of the edit families are told, against what was
// recorded.
func TestEditOracle(t *testing.T) {
	t.Parallel()
	for family, protect := range map[string]bool{"edits_skillopt": true, "edits_skillrl": false} {
		for _, c := range load(t, family) {
			got := editOracle{protect: protect}.run(c.in)
			if diff := cmp.Diff(recordedEdits(c.out), got); diff != "" {
				t.Errorf("%s line %d: %s", family, c.line, diff)
			}
		}
	}
}
