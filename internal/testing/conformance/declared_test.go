package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/skill"
)

// declaration is a variation of a recorded case with what the reference's rules make
// of it, and why ours differs; "" if it does not.
type declaration struct{ family, in, out, reason string }

// TestDeclaredDifferences: variations that differ on purpose are known as such by
// their reason, and their neighbours are compared.
func TestDeclaredDifferences(t *testing.T) {
	t.Parallel()
	checks := map[string]comparison{
		"lr_coerce": checkLRCoerce, "optimizer_reply": checkOptimizerReply, "load_json_or_jsonl": checkLoadJSON,
		"json_extract": checkJSONExtract, "config_load": checkConfigLoad, "edits_skillopt": checkEditsSkillOpt,
		"appendix_region": checkAppendixRegion,
	}
	for _, tt := range slices.Concat(declaredValues(), declaredEdits(), declaredRegions(t)) {
		f := family{name: tt.family, cap: 1, differences: differences[tt.family], gaps: gaps[tt.family]}
		f.cases = []vector{{in: decoded(t, tt.in), out: decoded(t, tt.out)}}
		got, faults := f.compare(checks[tt.family])
		if len(faults) > 0 {
			t.Errorf("%s %s: %s", tt.family, tt.in, faults)
		}
		reason := strings.Join(slices.Collect(maps.Keys(got.reasons)), "")
		if (tt.reason == "") != (reason == "") || !strings.Contains(reason, tt.reason) {
			t.Errorf("%s %s: differs because %q, want %q", tt.family, tt.in, reason, tt.reason)
		}
	}
}

// declaredValues are replies, files and configurations.
func declaredValues() []declaration {
	number := func(v string) string { return fmt.Sprintf(`{"value": %s}`, v) }
	ok := func(v string) string { return fmt.Sprintf(`{"ok": %s}`, v) }
	reply := func(meta string) string {
		return fmt.Sprintf(`{"meta_skill": {"ok": %s}, "rewrite": {"ok": null}, "slow_update": {"ok": null}}`, meta)
	}
	rows := func(content string) string { return fmt.Sprintf(`{"content": %q}`, content) }
	failed := `{"error": "JSONDecodeError", "message": "m"}`
	extracted := func(array, skillrl, spans string) string {
		return fmt.Sprintf(`{"skillopt_object": {"ok": {"a": 1}}, "skillopt_array": {"ok": %s}, "skillrl_object": {"ok": %s},
			"brace_spans": {"ok": ["{\"a\":1}"]}, "bracket_spans": {"ok": %s}, "repair_candidate": null}`, array, skillrl, spans)
	}
	file := func(yaml string) string { return fmt.Sprintf(`{"files": {"main.yaml": %q}, "overrides": []}`, yaml) }
	loaded := func(v string) string { return fmt.Sprintf(`{"ok": {"config": {"k": %s}, "flat": {"k": %s}}}`, v, v) }
	return []declaration{
		{"lr_coerce", number(`[3]`), ok("3"), "a list or a mapping"},
		{"lr_coerce", number(`["about 4"]`), ok("4"), "a list or a mapping"},
		{"lr_coerce", number(`{"n": 7}`), ok("7"), "a list or a mapping"},
		{"lr_coerce", number(`{"n": "x"}`), ok("null"), ""},
		{"lr_coerce", number(`[]`), ok("null"), ""},
		{"lr_coerce", number(`{"$nonfinite": "nan"}`), ok("null"), ""},
		{"lr_coerce", number(`1e+20`), ok("100000000000000000000"), "beyond 64 bits"},
		{"lr_coerce", number(`-1e+20`), ok("0"), ""},
		{"lr_coerce", number(`1e+18`), ok("1000000000000000000"), ""},
		{"lr_coerce", number(`1e-07`), ok("1"), "a fraction near 0"},
		{"optimizer_reply", `{"response": "{\"meta_skill_content\": \" \\n\", \"reasoning\": \"r\"}"}`, reply(`{"meta_skill_content": "", "reasoning": "r"}`), "a blank memory"},
		{"optimizer_reply", `{"response": "{\"meta_skill_content\": \"\", \"reasoning\": \"r\"}"}`, reply(`null`), ""},
		{"optimizer_reply", `{"response": "{\"meta_skill_content\": \"m\", \"reasoning\": \" r \"}"}`, reply(`{"meta_skill_content": "m", "reasoning": "r"}`), ""},
		{"load_json_or_jsonl", rows("1\v2"), ok("[1, 2]"), "a line ends with a line feed"},
		{"load_json_or_jsonl", rows("\"a\u2028b\"\n2"), failed, "a line ends with a line feed"},
		{"load_json_or_jsonl", rows("1\n\u2028\n2"), ok("[1, 2]"), ""},
		{"load_json_or_jsonl", rows("\"a\u2028b\""), ok(`["a` + "\u2028" + `b"]`), ""},
		{"json_extract", `{"text": "[{\"a\":1}]"}`, extracted(`[{"a":1}]`, "null", `["[{\"a\":1}]"]`), "a list of one object"},
		{"json_extract", `{"text": "x [{\"a\":1}] y"}`, extracted(`[{"a":1}]`, `{"a":1}`, `["[{\"a\":1}]"]`), ""},
		{"config_load", file("k: 2024-01-31\n"), loaded(`{"$date": "2024-01-31"}`), "a date stays"},
		{"config_load", file("k: [2024-01-31 10:00:00, 1]\n"), loaded(`["2024-01-31T10:00:00", 1]`), "a date stays"},
		{"config_load", file("k: 2024-13-31\n"), `{"error": "ValueError", "message": "month must be in 1..12"}`, "a date stays"},
		{"config_load", file("k: a\u0085j: 2\n"), `{"ok": {"config": {"j": 2, "k": "a"}, "flat": {"j": 2, "k": "a"}}}`, "in YAML too"},
		{"config_load", file("k: a\u2028b\n"), `{"error": "ScannerError", "message": "m"}`, "in YAML too"},
		{"config_load", file("k: '2024-01-31'\n"), loaded(`"2024-01-31"`), ""},
		{"config_load", file("k: 2024-01\n"), loaded(`"2024-01"`), ""},
	}
}

func declaredEdits() []declaration {
	edit := func(text, op, target, content string) string {
		return fmt.Sprintf(`{"skill": %q, "edits": [{"op": %q, "target": %q, "content": %q}]}`, text, op, target, content)
	}
	edited := func(text, op, target, content, status string) string {
		return fmt.Sprintf(`{"ok": {"skill": %q, "reports": [{"index": 1, "op": %q, "target": %q, "content_preview": %q, "status": %q}]}}`,
			text, op, target, content, status)
	}
	s := skill.AppendixStart
	return []declaration{
		{"edits_skillopt", edit("a\nb\nc\n", "insert_after", "a\n", "x"), edited("a\nb\n\nx\nc\n", "insert_after", "a\n", "x", "applied_insert_after"), "insert_after goes"},
		{"edits_skillopt", edit("a\nb\nc\n", "insert_after", "a", "x"), edited("a\n\nx\nb\nc\n", "insert_after", "a", "x", "applied_insert_after"), ""},
		{"edits_skillopt", edit("a\n", "append", "", " "), edited("a\n\n\n", "append", "", "", "applied_append"), "an edit that is empty"},
		{"edits_skillopt", edit("a\n", "replace", "a", "a"), edited("a\n", "replace", "a", "a", "applied_replace"), "an edit that is empty"},
		{"edits_skillopt", edit("a\n", "append", "", "x\vy"), edited("a\n\nx\vy\n", "append", "", "x\vy", "applied_append"), "what steers"},
		{"edits_skillopt", edit("a\n", "append", "", "x\u2028y"), edited("a\n\nx\u2028y\n", "append", "", "x\u2028y", "applied_append"), "what steers"},
		{
			"edits_skillopt", edit("a\n", "append", "", "<!-- APPENDIX_"+s+"START -->"),
			edited("a\n\n"+s+"\n", "append", "", s, "applied_append"), "a marker that comes about",
		},
	}
}

// declaredRegions are told by the oracle of the reference's rules, which is held
// against what was recorded.
func declaredRegions(t *testing.T) (list []declaration) {
	t.Helper()
	s, e := skill.AppendixStart, skill.AppendixEnd
	for text, reason := range map[string]string{
		"a <!-- APPENDIX_" + e + "START --> b\n":              "every marker is taken out",
		"a" + s + "b" + s + "c\n":                             "every marker is taken out",
		"a\n\n\n\nb\n\n" + s + "\nx\n" + e:                    "blank lines collapse",
		"---\nname: x\n---\n" + s + "x" + e:                   "front matter stays",
		"a\n\n" + s + "\nb\n\n" + s + "\nc\n" + e + "\n\nd\n": "",
	} {
		in := map[string]any{"skill": text, "notes": []any{}}
		given, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		out, err := json.Marshal(regionOracle{}.appendix(in))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, declaration{"appendix_region", string(given), string(out), reason})
	}
	return list
}

// decoded reads JSON that may have escapes of Go.
func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	text = strings.NewReplacer(`\v`, `\u000b`, `\x1f`, `\u001f`).Replace(text)
	v, err := oneValue(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v.(map[string]any)
}
