package prune

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/skill"
)

func texts(rules []Rule) []string {
	var out []string
	for _, r := range rules {
		out = append(out, r.Text)
	}
	return out
}

func TestRules(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"a paragraph and a list", "# Desk\n\nYou are at a desk.\nBe kind.\n\n- One.\n- Two,\n  and more.\n- Three\nlazily.\n", []string{"You are at a desk.\nBe kind.", "- One.", "- Two,\n  and more.", "- Three\nlazily."}},
		{"nested items belong to theirs", "- A\n  - B\n\n  C\n- D\n", []string{"- A\n  - B\n\n  C", "- D"}},
		{"numbers", "1. A\n2) B\n10. C\n1985 was\n", []string{"1. A", "2) B", "10. C\n1985 was"}},
		{"no rule", "Title\n=====\n\nOther\n---\n\n***\n\n<!-- a\nremark -->\n\n###### six\n", nil},
		{"seven is text", "####### seven\n", []string{"####### seven"}},
		{"front matter and regions", "---\nname: a\n---\n\n- A\n\n" + skill.SlowStart + "\n- kept\n" + skill.SlowEnd + "\n\nB\n", []string{"- A", "B"}},
		{"a list touches a region", "- A\n" + skill.AppendixStart + "\n- kept\n" + skill.AppendixEnd + "\n", []string{"- A"}},
		{"a fence belongs to what it follows", "Answer so:\n\n```\n- no item\n\n# no heading\n```\n\n- A\n  ~~~~\n- B\n  ~~~~\n", []string{"Answer so:\n\n```\n- no item\n\n# no heading\n```", "- A\n  ~~~~\n- B\n  ~~~~"}},
		{"a fence by itself", "# H\n\n```\nx\n```\n\nP\n", []string{"```\nx\n```", "P"}},
		{"an open fence", "A\n```\nx\n\n\n", []string{"A\n```\nx"}},
		{"a table", "| a | b |\n|---|---|\n| 1 | 2 |\n", []string{"| a | b |\n|---|---|\n| 1 | 2 |"}},
		{"carriage returns", "- A\r\n- B\r\n", []string{"- A", "- B"}},
		{"no line break at the end", "- A\n- B", []string{"- A", "- B"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			rules := Rules(tc.text)
			if diff := cmp.Diff(tc.want, texts(rules)); diff != "" {
				t.Error(diff)
			}
			for _, r := range rules {
				if got := strings.Join(strings.Split(tc.text, "\n")[r.Line-1:r.LastLine], "\n"); strings.TrimRight(got, "\r") != r.Text {
					t.Errorf("rule %d stands in lines %d to %d, which hold %q", r.Number, r.Line, r.LastLine, got)
				}
			}
		})
	}
}

func TestWithout(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text string
		gone int
		want string
	}{
		{"- A\n- B\n- C\n", 2, "- A\n- C\n"},
		{"A\n\nB\n\nC\n", 2, "A\n\nC\n"},
		{"A\r\n\r\nB\r\n\r\nC\r\n", 2, "A\r\n\r\nC\r\n"},
		{"A\n\nB\n", 2, "A\n"},
		{"A\n\nB", 2, "A\n"},
		{"A\n\nB\n", 1, "B\n"},
		{"# H\n\n- A\n", 1, "# H\n"},
		{"A\n- B\n\nC\n", 2, "A\n\nC\n"},
		{"A", 1, ""},
		{"---\nname: a\n---\n\nA\n", 1, "---\nname: a\n---\n"},
	} {
		if got := Without(tc.text, Rules(tc.text)[tc.gone-1]); got != tc.want {
			t.Errorf("%q without rule %d is %q, want %q", tc.text, tc.gone, got, tc.want)
		}
	}
}

// document draws documents of blocks that stand apart, and what a rule of each is.
func document(t *rapid.T) string {
	blocks := []string{
		"# Head %d", "Some text %d,\nsecond line.", "- item %d", "- item %d\n  - inner\n\n  more", "2. number %d\nlazy", "```\ncode %d\n\n- x\n```",
		"<!-- remark %d -->", "***", skill.SlowStart + "\n- guard %d\n" + skill.SlowEnd, "Under %d\n---", "| a %d |\n|---|",
	}
	var b strings.Builder
	if rapid.Bool().Draw(t, "front") {
		b.WriteString("---\nname: x\n---\n")
	}
	for i := range rapid.IntRange(0, 8).Draw(t, "blocks") {
		text := rapid.SampledFrom(blocks).Draw(t, "block")
		if strings.Contains(text, "%d") {
			text = fmt.Sprintf(text, i)
		}
		b.WriteString(text + rapid.SampledFrom([]string{"\n\n", "\n\n\n"}).Draw(t, "gap"))
	}
	return b.String()
}

func TestTheRestStaysAsItIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := document(t)
		rules := Rules(text)
		var gone []Rule
		var left []string
		for _, r := range rules {
			if rapid.Bool().Draw(t, "gone") {
				gone = append(gone, r)
			} else {
				left = append(left, r.Text)
			}
		}
		got := Without(text, gone...)
		if !skill.RegionsEqual(text, got) {
			t.Fatalf("regions changed:\n%s\n--\n%s", text, got)
		}
		// A fence that loses the text it belonged to follows what stood before it.
		if !strings.Contains(text, "```") {
			if diff := cmp.Diff(left, texts(Rules(got))); diff != "" {
				t.Fatalf("of %q is left %q: %s", text, got, diff)
			}
		}
		for _, l := range strings.Split(got, "\n") {
			if !strings.Contains(text, l) {
				t.Fatalf("%q is new", l)
			}
		}
	})
}

func FuzzRules(f *testing.F) {
	f.Add("# A\n\n- b\n  - c\n\n```\nd\n")
	f.Add("---\na: b\n---\n" + skill.SlowStart + "x" + skill.SlowEnd + "\n- y")
	f.Fuzz(func(t *testing.T, text string) {
		rules := Rules(text)
		end := 0
		for i, r := range rules {
			if r.from < end || r.to <= r.from || r.Number != i+1 {
				t.Fatalf("rule %+v after byte %d", r, end)
			}
			end = r.to
			for _, g := range skill.Protected(text) {
				if r.from < g[1] && g[0] < r.to {
					t.Fatalf("rule %+v reaches into %v", r, g)
				}
			}
			_ = Without(text, r)
		}
		_ = Without(text, rules...)
	})
}
