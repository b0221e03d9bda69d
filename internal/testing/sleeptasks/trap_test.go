package sleeptasks

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func passes(t *testing.T, op string, arg any, answer string) bool {
	t.Helper()
	v, err := Judge(map[string]any{"kind": "rule", "checks": []any{map[string]any{"op": op, "arg": arg}}}, answer, nil)
	if err != nil {
		t.Fatalf("%s=%v: %v", op, arg, err)
	}
	return v.Hard == 1
}

func TestTrap19SectionsByName(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]struct{ present, contains bool }{
		"### 1. Key Risks":             {true, true},
		"### 1. Key Risks (X)":         {false, true},
		"text\n\n## KEY RISKS\ntext":   {true, true},
		"**Key Risks:**":               {true, false},
		"Key Risks: none":              {true, false},
		"## Key Risks ##":              {false, true},
		"## Risks of Keys":             {false, false},
		"There are Key Risks in this.": {false, false},
		"":                             {false, false},
	} {
		if got := passes(t, "section_present", "Key Risks", answer); got != want.present {
			t.Errorf("section_present of %q: %t", answer, got)
		}
		if got := passes(t, "section_contains", "Key Risks", answer); got != want.contains {
			t.Errorf("section_contains of %q: %t", answer, got)
		}
	}
}

func TestTrap20WhatIsNoHeading(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		"    ## Key Risks", "\t## Key Risks", "##Key Risks", "####### Key Risks", "**Key Risks**", "Key Risks\n=========", "> ## Key Risks",
		"#Key Risks", "   \t## Key Risks", "- ## Key Risks", "text ## Key Risks", "\\## Key Risks", "##\u00a0Key Risks", "Key Risks", "##\nKey Risks",
	} {
		if passes(t, "section_contains", "Key Risks", answer) {
			t.Errorf("%q is taken for a heading", answer)
		}
	}
	for _, answer := range []string{
		"   ## Key Risks", "# Key Risks", "###### Key Risks", "##\tKey Risks", "## Key Risks ##", "a\n\n## The key risks of it\nb", "## Key Risks\r\nb",
	} {
		if !passes(t, "section_contains", "Key Risks", answer) {
			t.Errorf("%q is no heading", answer)
		}
	}
}

func TestTrap21RefusalsOfImportedChecks(t *testing.T) {
	t.Parallel()
	explained := "I cannot use the library, since it is not installed. " + strings.Repeat("Here is the same by hand, step by step. ", 20)
	for answer, want := range map[string]bool{
		"": false, "  \n": false, "> I cannot do that.": false, "> > - **I can't** help": false, "1. I cannot do that.": false, "12) unable to complete": false,
		explained: true, "> " + explained: true, "I cannot " + strings.Repeat("\u0130", 300): false, "I cannot " + strings.Repeat("\u0130", 600): true,
		"It is due on Monday.": true, "Here is what I cannot do.": true,
		// What the other program knows is English with straight apostrophes; its checks mean no more than that here. What
		// mining goes by knows more, see mine.TestTrap21Refusals.
		"I can\u2019t help.": true, "Ich kann das nicht.": true,
	} {
		if got := passes(t, "no_refusal", nil, answer); got != want {
			t.Errorf("no_refusal of %.40q: %t", answer, got)
		}
	}
}

// A pattern that is none is named when it is read.
func TestTrap22PatternOfAnImportedCheck(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"(", "[a", "a**", "(?P<n", `\`} {
		faults, _ := Validate(map[string]any{"checks": []any{map[string]any{"op": "regex", "arg": pattern}}})
		quoted, _ := json.Marshal(pattern)
		if len(faults) != 1 || !strings.HasPrefix(faults[0], "check #0 regex does not compile") || !strings.Contains(faults[0], pattern) && !strings.Contains(faults[0], string(quoted)) {
			t.Errorf("%q: %q", pattern, faults)
		}
	}
}

func TestTrap23BoundsOfCharacters(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"max_chars", "min_chars"} {
		for name, tt := range map[string]struct {
			arg any
			ok  bool
		}{
			"true": {true, false}, "false": {false, false}, "1.5": {json.Number("1.5"), false}, "inf": {math.Inf(1), false}, "NaN": {math.NaN(), false},
			"-1": {json.Number("-1"), false}, "null": {nil, false}, "a list": {[]any{json.Number("1")}, false}, "an object": {map[string]any{}, false},
			`"12.0"`: {"12.0", false}, `"1e3"`: {"1e3", false}, `"twelve"`: {"twelve", false}, `""`: {"", false}, `"-1"`: {"-1", false}, "1e-3": {json.Number("1e-3"), false},
			`"12"`: {"12", true}, `" 12 "`: {" 12 ", true}, "12.0": {json.Number("12.0"), true}, "12": {json.Number("12"), true}, "1e3": {json.Number("1e3"), true}, "0": {json.Number("0"), true},
		} {
			faults, _ := Validate(map[string]any{"checks": []any{map[string]any{"op": op, "arg": tt.arg}}})
			if ok := len(faults) == 0; ok != tt.ok || !ok && !strings.HasPrefix(faults[0], "check #0 "+op) {
				t.Errorf("%s %s: %q", op, name, faults)
			}
		}
	}
}
