package provenance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/skill"
)

// said writes a blame as one word a line: "seed", "2.1" for edit 1 of step 2,
// "s4" for the slow update after step 4.
func said(lines []Line) []string {
	var out []string
	for _, l := range lines {
		if strings.TrimSpace(l.Text) != "" {
			out = append(out, trimmed(word(l.Origin)+" "+l.Text))
		}
	}
	return out
}

func word(o Origin) string {
	switch o.Kind {
	case Edit:
		return fmt.Sprintf("%d.%d", o.Step, o.Edit)
	case SlowUpdate:
		return fmt.Sprintf("s%d", o.Step)
	case Rewrite:
		return fmt.Sprintf("r%d", o.Step)
	case Note:
		return fmt.Sprintf("n%d", o.Step)
	}
	return string(o.Kind)
}

func trimmed(text string) string { return strings.TrimRight(text, " ") }

func apply(text string, edits ...skill.Edit) string {
	s, _ := skill.Apply(skill.New(text), edits, skill.ApplyOptions{})
	return s.Text()
}

func numbered(edits ...skill.Edit) []Applied {
	var out []Applied
	for i, e := range edits {
		out = append(out, Applied{Number: i + 1, Edit: e})
	}
	return out
}

// blamed is Blame of a SKILL.md alone.
func blamed(seed string, changes []Change, doc string) []Line {
	return Blame(skill.New(seed), changes, skill.New(doc), skill.Scope{})[0].Lines
}

func TestBlame(t *testing.T) {
	t.Parallel()
	const seed = "---\nname: x\n---\n# Desk\n\n- a\n- b\n"
	appendA := skill.Edit{Op: skill.Append, Content: "- a"}
	insertB := skill.Edit{Op: skill.InsertAfter, Target: "- a", Content: "- b"}
	one := apply(seed, appendA)
	two := apply(one, insertB)
	change := func(step int, before string, edits ...skill.Edit) Change {
		return Change{Origin: Origin{Kind: Rewrite, Step: step}, Edits: numbered(edits...), Skill: skill.New(apply(before, edits...))}
	}
	slow := skill.New(two).WithSlow("be calm\nand exact").Text()
	slower := skill.New(slow).WithSlow("be quick\nand exact").Text()
	noted := skill.New(slower).WithNotes([]string{"look twice"}).Text()
	history := []Change{
		change(1, seed, appendA), change(3, one, insertB),
		{Origin: Origin{Kind: SlowUpdate, Step: 4, Epoch: 2}, Skill: skill.New(slow)},
		{Origin: Origin{Kind: SlowUpdate, Step: 8, Epoch: 3}, Skill: skill.New(slower)},
		{Origin: Origin{Kind: Note, Step: 9}, Skill: skill.New(noted)},
	}
	tests := []struct {
		name    string
		changes []Change
		doc     string
		want    []string
	}{
		{"nothing happened", nil, seed, []string{"seed ---", "seed name: x", "seed ---", "seed # Desk", "seed - a", "seed - b"}},
		{"an equal line is appended", history[:1], one, []string{"seed ---", "seed name: x", "seed ---", "seed # Desk", "seed - a", "seed - b", "1.1 - a"}},
		{"an equal line is inserted", history[:2], two, []string{"seed ---", "seed name: x", "seed ---", "seed # Desk", "seed - a", "3.1 - b", "seed - b", "1.1 - a"}},
		{"an earlier version", history, one, []string{"seed ---", "seed name: x", "seed ---", "seed # Desk", "seed - a", "seed - b", "1.1 - a"}},
		{"regions", history, noted, []string{
			"seed ---", "seed name: x", "seed ---", "seed # Desk", "seed - a", "3.1 - b", "seed - b", "1.1 - a",
			"s4 " + skill.SlowStart, "s8 be quick", "s4 and exact", "s4 " + skill.SlowEnd,
			"n9 " + skill.AppendixStart, "n9 ## Execution Notes Appendix", "n9 - look twice", "n9 " + skill.AppendixEnd,
		}},
		{
			"a line is changed in part, and one by a delete",
			[]Change{change(1, seed, skill.Edit{Op: skill.Replace, Target: "a\n", Content: "z\n- y"}, skill.Edit{Op: skill.Delete, Target: "# "})},
			apply(seed, skill.Edit{Op: skill.Replace, Target: "a\n", Content: "z\n- y"}, skill.Edit{Op: skill.Delete, Target: "# "}),
			nil,
		},
		{"the file was changed by hand", history[:1], one + "- mine\n", []string{"seed ---", "seed name: x", "seed ---", "seed # Desk", "seed - a", "seed - b", "1.1 - a", "outside - mine"}},
		{
			"the record of edits does not fit",
			[]Change{{Origin: Origin{Kind: Rewrite, Step: 2}, Edits: numbered(skill.Edit{Op: skill.Replace, Target: "gone", Content: "x"}, appendA), Skill: skill.New(one)}},
			one,
			[]string{"seed ---", "seed name: x", "seed ---", "seed # Desk", "seed - a", "seed - b", "r2 - a"},
		},
		{"written anew", []Change{{Origin: Origin{Kind: Rewrite, Step: 2}, Skill: skill.New("# Desk\n\n- b\n- new\n")}}, "# Desk\n\n- b\n- new\n", []string{"seed # Desk", "seed - b", "r2 - new"}},
		{"empty", nil, "", nil},
	}
	tests[5].want = []string{"seed ---", "seed name: x", "seed ---"}
	tests[5].want = append(tests[5].want, "1.2 Desk", "1.1 - z", "1.1 - y- b")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, said(blamed(seed, tt.changes, tt.doc))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBlameKeepsTheText(t *testing.T) {
	t.Parallel()
	const doc = "one\r\ntwo\r\n\r\nno end"
	var texts []string
	for i, l := range blamed(doc, nil, doc) {
		texts = append(texts, l.Text)
		if l.Number != i+1 {
			t.Errorf("line %d has number %d", i+1, l.Number)
		}
	}
	if diff := cmp.Diff([]string{"one", "two", "", "no end"}, texts); diff != "" {
		t.Error(diff)
	}
}

// book is the oracle: it keeps lines and their writers by what an operation
// means, and learns from skill.Apply's report which operation it was. It knows
// documents without front matter, and replacements within a line.
type book struct {
	lines []Line
}

func bookOf(text string) *book {
	b := &book{}
	for _, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		b.lines = append(b.lines, Line{Text: l, Origin: Origin{Kind: Seed}})
	}
	return b
}

func (b *book) written(text string, o Origin) []Line {
	var out []Line
	for _, l := range strings.Split(text, "\n") {
		out = append(out, Line{Text: l, Origin: o})
	}
	return out
}

func (b *book) put(at, drop int, lines []Line) {
	b.lines = append(append(append([]Line(nil), b.lines[:at]...), lines...), b.lines[at+drop:]...)
}

// after puts a paragraph behind the first lines, without white space at their end.
func (b *book) after(at int, lines []Line) {
	for i := at - 1; i >= 0; i-- {
		if b.lines[i].Text = trimmed(b.lines[i].Text); b.lines[i].Text != "" {
			break
		}
	}
	b.put(at, 0, lines)
}

// first is the first line that holds text.
func (b *book) first(text string) int {
	for i, l := range b.lines {
		if strings.Contains(l.Text, text) {
			return i
		}
	}
	return -1
}

func (b *book) edit(e skill.Edit, status skill.ApplyStatus, o Origin) {
	switch status {
	case skill.AppliedAppend, skill.AppliedInsertAfterFallbackAppend:
		b.after(len(b.lines), b.written(e.Content, o))
	case skill.AppliedAppendBeforeRegion, skill.AppliedInsertAfterFallbackBeforeRegion:
		b.after(b.first(skill.SlowStart), b.written(e.Content, o))
	case skill.AppliedInsertAfter:
		b.put(b.first(e.Target)+1, 0, b.written(e.Content, o))
	case skill.AppliedReplace, skill.AppliedDelete:
		if whole, ok := strings.CutSuffix(e.Target, "\n"); ok {
			b.put(slices.IndexFunc(b.lines, func(l Line) bool { return l.Text == whole }), 1, nil)
			return
		}
		at := b.first(e.Target)
		now := b.written(strings.Replace(b.lines[at].Text, e.Target, e.Content, 1), o)
		// What comes out as it was has not been written.
		if i := slices.IndexFunc(now, func(l Line) bool { return trimmed(l.Text) == trimmed(b.lines[at].Text) }); i >= 0 {
			now[i] = b.lines[at]
		}
		b.put(at, 1, now)
	}
}

// guide replaces the guidance: lines that it had before stay what they were.
func (b *book) guide(guidance []string, o Origin) {
	before := map[string]Origin{}
	if from := b.first(skill.SlowStart); from >= 0 {
		for _, l := range b.lines[from:] {
			before[l.Text] = l.Origin
		}
		b.lines = b.lines[:from]
	}
	b.after(len(b.lines), nil)
	for _, text := range append(append([]string{skill.SlowStart}, guidance...), skill.SlowEnd) {
		origin, old := before[text]
		if !old {
			origin = o
		}
		b.lines = append(b.lines, Line{Text: text, Origin: origin})
	}
}

// Random histories of accepted and rejected steps, with edits that repeat lines
// that stand elsewhere: blame names the step and the edit that the oracle names,
// for every line of every version.
func TestBlameNamesTheRightStep(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rule := rapid.SampledFrom([]string{"- a", "- b", "- c", "## part", "- a\n- b", "- b\n\n- b"})
		seed := strings.Join(rapid.SliceOfN(rule, 1, 6).Draw(t, "seed"), "\n") + "\n"
		text, oracle := seed, bookOf(seed)
		var changes []Change
		steps := rapid.IntRange(1, 6).Draw(t, "steps")
		for step := 1; step <= steps; step++ {
			if rapid.IntRange(0, 4).Draw(t, "slow") == 0 {
				text = guided(t, text, oracle, step, &changes)
				continue
			}
			candidate, draft := text, &book{lines: slices.Clone(oracle.lines)}
			c := Change{Origin: Origin{Kind: Rewrite, Step: step}}
			edits := rapid.IntRange(1, 4).Draw(t, "edits")
			for n := 1; n <= edits; n++ {
				e := drawEdit(t, candidate, rule, fmt.Sprintf("~%d.%d", step, n))
				s, reports := skill.Apply(skill.New(candidate), []skill.Edit{e}, skill.ApplyOptions{})
				if !reports[0].Status.Applied() {
					continue
				}
				candidate = s.Text()
				draft.edit(e, reports[0].Status, Origin{Kind: Edit, Step: step, Edit: n})
				c.Edits = append(c.Edits, Applied{Number: n, Edit: e})
			}
			if c.Skill = skill.New(candidate); rapid.Bool().Draw(t, "accepted") {
				text, oracle = candidate, draft
				changes = append(changes, c)
			}
		}
		if diff := cmp.Diff(said(oracle.lines), said(blamed(seed, changes, text))); diff != "" {
			t.Fatalf("document %q (-oracle +blame):\n%s", text, diff)
		}
	})
}

// guided gives the document guidance whose lines are drawn in a fixed order.
func guided(t *rapid.T, text string, oracle *book, step int, changes *[]Change) string {
	var guidance []string
	for _, l := range []string{"keep calm", "be exact", "answer in one line"} {
		if rapid.Bool().Draw(t, l) {
			guidance = append(guidance, l)
		}
	}
	guidance = append(guidance, fmt.Sprintf("lesson %d", step))
	text = skill.New(text).WithSlow(strings.Join(guidance, "\n")).Text()
	o := Origin{Kind: SlowUpdate, Step: step, Epoch: step}
	oracle.guide(guidance, o)
	*changes = append(*changes, Change{Origin: o, Skill: skill.New(text)})
	return text
}

// drawEdit draws an edit whose target stands in the document more often than not.
func drawEdit(t *rapid.T, text string, rule *rapid.Generator[string], mark string) skill.Edit {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	target := rapid.SampledFrom(append(lines, "absent")).Draw(t, "target")
	if len(target) > 1 && rapid.Bool().Draw(t, "part") {
		target = target[len(target)/2:]
	}
	if strings.TrimSpace(target) == "" {
		target = "absent"
	}
	switch rapid.IntRange(0, 4).Draw(t, "op") {
	case 0:
		return skill.Edit{Op: skill.Append, Content: rule.Draw(t, "content")}
	case 1:
		return skill.Edit{Op: skill.InsertAfter, Target: target, Content: rule.Draw(t, "content")}
	case 2:
		return skill.Edit{Op: skill.Replace, Target: target, Content: rule.Draw(t, "content") + mark}
	case 3:
		return skill.Edit{Op: skill.Delete, Target: target}
	}
	// A whole line, unless its text ends another line before.
	whole := rapid.SampledFrom(lines).Draw(t, "line") + "\n"
	if at := strings.Index("\n"+text, "\n"+whole); whole == "\n" || at != strings.Index(text, whole) {
		return skill.Edit{Op: skill.Append, Content: rule.Draw(t, "content")}
	}
	return skill.Edit{Op: skill.Delete, Target: whole}
}
