package provenance

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/skill"
)

// marked finds which edit a line says that it is of.
var marked = regexp.MustCompile(`~(\d+)\.(\d+)`)

// Where edits are fitted in, blame names the edit that each line is of: they bear its name.
func TestBlameOfTidyEdits(t *testing.T) {
	t.Parallel()
	scope := skill.Scope{}.WithTidy(true)
	rapid.Check(t, func(t *rapid.T) {
		block := rapid.SampledFrom([]string{"# T", "- a", "* b\n  more", "1. c", "- d\n  - e", "Text", "```\nx\n\n\ny\n```", "| f |\n|---|"})
		seed := strings.Join(rapid.SliceOfN(block, 1, 6).Draw(t, "seed"), rapid.SampledFrom([]string{"\n", "\n\n", "\n\n\n"}).Draw(t, "gap")) + "\n"
		text, changes := seed, []Change(nil)
		for step := range rapid.IntRange(1, 4).Draw(t, "steps") {
			c := Change{Origin: Origin{Kind: Rewrite, Step: step}}
			for n := range rapid.IntRange(1, 4).Draw(t, "edits") {
				mark := fmt.Sprintf(" ~%d.%d", step, n)
				e := skill.Edit{
					Op:      rapid.SampledFrom([]skill.Op{skill.Append, skill.InsertAfter, skill.Replace, skill.Delete}).Draw(t, "op"),
					Target:  rapid.SampledFrom(strings.SplitAfter(text, "\n")).Draw(t, "target"),
					Content: strings.ReplaceAll(rapid.SampledFrom([]string{"- n@", "- n@\n\n- m@", "  - n@\n  - m@", "3. n@", "Text@", "## H@\n\n\nText@", "| n@ |"}).Draw(t, "content"), "@", mark),
				}
				if strings.TrimSpace(e.Target) == "" {
					e.Target = "absent"
				}
				s, reports := skill.Apply(skill.New(text), []skill.Edit{e}, skill.ApplyOptions{Scope: scope})
				if reports[0].Status.Applied() {
					text = s.Text()
					c.Edits = append(c.Edits, Applied{Number: n, Edit: e})
				}
			}
			c.Skill = skill.New(text)
			changes = append(changes, c)
		}
		for _, l := range Blame(skill.New(seed), changes, skill.New(text), skill.Scope{}.WithTidy(true))[0].Lines {
			want := Origin{Kind: Seed}
			if m := marked.FindStringSubmatch(l.Text); m != nil {
				want.Kind = Edit
				_, _ = fmt.Sscanf(m[0], "~%d.%d", &want.Step, &want.Edit)
			}
			if strings.TrimSpace(l.Text) != "" && l.Origin != want {
				t.Fatalf("line %q of %q (from %q) is of %+v, want %+v", l.Text, text, seed, l.Origin, want)
			}
		}
	})
}
