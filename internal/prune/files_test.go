package prune

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-f4525e22/skillopt/skill"
)

// Rules of several files are numbered through, and leaving some out changes nothing else.
func TestRulesOfSeveralFiles(t *testing.T) {
	t.Parallel()
	s := skill.New("# A\n\n- One.\n- Two.\n").WithFile("references/b.md", "- Three.\r\n- Four.\r\n").
		WithFile("references/c.txt", "- No rule.\n").WithFile("scripts/run.sh", "#!/bin/sh\n").WithExecutable("scripts/run.sh")
	if diff := cmp.Diff([]string{"- One.", "- Two."}, texts(ParseRules(s, nil, skill.Scope{}))); diff != "" {
		t.Error(diff)
	}
	rules := ParseRules(s, []string{"SKILL.md", "gone.md", "references/b.md", "references/c.txt"}, skill.Scope{})
	want := []Rule{
		{Number: 1, Line: 3, LastLine: 3, Text: "- One."},
		{Number: 2, Line: 4, LastLine: 4, Text: "- Two."},
		{Number: 3, File: "references/b.md", Line: 1, LastLine: 1, Text: "- Three."},
		{Number: 4, File: "references/b.md", Line: 2, LastLine: 2, Text: "- Four."},
	}
	if diff := cmp.Diff(want, rules, cmpopts.IgnoreUnexported(Rule{})); diff != "" {
		t.Fatal(diff)
	}
	left := Leave(s, rules[3], rules[0])
	if !left.Equal(s.WithText("# A\n\n- Two.\n").WithFile("references/b.md", "- Three.\r\n")) {
		t.Errorf("%q, %q", left.Text(), left.Files())
	}
	if !Leave(s).Equal(s) {
		t.Error("without any rule gone it is another skill")
	}
	none := Leave(s, rules[2], rules[3])
	if text, there := none.File("references/b.md"); text != "" || !there {
		t.Errorf("a file whose rules all go: %q, %v", text, there)
	}
}
