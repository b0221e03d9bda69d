package transcript

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBack(t *testing.T) {
	t.Parallel()
	b := (&Reading{Clean: same{}}).Builder("x")
	words := func() []string {
		out := []string{}
		for _, turn := range b.transcript().Turns {
			out = append(out, turn.User)
		}
		return out
	}
	for _, id := range []string{"a", "b", "c"} {
		b.User(id, id, ofMillis(1e12))
	}
	b.Back(2)
	b.Agent("said to nobody", ofMillis(1e12))
	if diff := cmp.Diff([]string{"a"}, words()); diff != "" {
		t.Error(diff)
	}
	if got := b.t.Turns[0].Agent; got != "" {
		t.Errorf("words after a turn that was taken back: %q", got)
	}
	b.Back(-1)
	b.Back(5)
	if diff := cmp.Diff([]string{}, words()); diff != "" {
		t.Error(diff)
	}
}

func TestSkillsRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"cat /s/house-rules/SKILL.md":               {"house-rules"},
		`C:\s\house-rules\SKILL.md`:                 {"house-rules"},
		"cat a/SKILL.md 'b/SKILL.md'":               {"a", "b"},
		"SKILL.md":                                  nil,
		"./SKILL.md":                                nil,
		"../SKILL.md":                               nil,
		"rg x /s/*/SKILL.md":                        nil,
		"for d in s; do cat $d/SKILL.md; done":      nil,
		"cat s/{a,b}/SKILL.md s/v1.2/SKILL.md":      {"v1.2"},
		"cat <skill>/SKILL.md":                      nil,
		"ls /s/houseSKILL.md && cat house.SKILL.md": nil,
	} {
		if diff := cmp.Diff(want, skillsRead(text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

type same struct{}

func (same) Text(s string) string { return s }
