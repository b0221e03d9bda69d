package provenance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/skill"
)

// library is the oracle of a folder: a book for each file, and for the front matter of
// SKILL.md one of its own.
type library map[string]*book

const (
	head    = "head"
	theHead = "---\nname: q\ndescription: Q\n---\n"
)

func (l library) copy() library {
	out := library{}
	for name, b := range l {
		out[name] = &book{lines: slices.Clone(b.lines)}
	}
	return out
}

// edit does what an applied edit means.
func (l library) edit(e skill.Edit, status skill.ApplyStatus, o Origin) {
	switch {
	case e.Op == skill.Describe:
		l[head].lines[2] = Line{Text: fmt.Sprintf("description: %q", e.Content), Origin: o}
	case e.Op == skill.Move:
		l[skill.Main].edit(skill.Edit{Op: skill.Replace, Target: e.Target, Content: e.Content}, skill.AppliedReplace, o)
		l.append(e.File, e.Target, o)
	case status == skill.AppliedNewFile:
		l.append(e.File, e.Content, o)
	default:
		l[e.File].edit(e, status, o)
	}
}

// append puts a paragraph at the end of a file, which it begins if there is none.
func (l library) append(file, text string, o Origin) {
	b, ok := l[file]
	if !ok {
		b = &book{}
		l[file] = b
	}
	b.after(len(b.lines), b.written(text, o))
}

// Random histories of steps that edit, move between and add files, and replace the
// description: blame names the step and
// the edit that the oracle names, for every line of every file.
func TestBlameNamesTheRightStepOfEveryFile(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rule := rapid.SampledFrom([]string{"- a", "- b", "- c", "## part", "- a\n- b", "- b\n\n- b"})
		text := func(label string) string {
			return strings.Join(rapid.SliceOfN(rule, 1, 5).Draw(t, label), "\n") + "\n"
		}
		seed := skill.New(theHead+text("main")).WithFile("references/a.md", text("a")).WithFile("assets/x", "\xff\x00")
		scope, err := skill.NewScope(seed, []string{skill.Main, "references/*.md"}, 2)
		if err != nil {
			t.Fatal(err)
		}
		scope = scope.WithDescription()
		now, oracle := seed, library{head: bookOf(theHead)}
		for _, name := range []string{skill.Main, "references/a.md"} {
			content, _ := seed.File(name)
			oracle[name] = bookOf(strings.TrimPrefix(content, theHead))
		}
		var changes []Change
		for step := 1; step <= rapid.IntRange(1, 6).Draw(t, "steps"); step++ {
			candidate, draft := now, oracle.copy()
			c := Change{Origin: Origin{Kind: Rewrite, Step: step}}
			for n := 1; n <= rapid.IntRange(1, 4).Draw(t, "edits"); n++ {
				e := drawFileEdit(t, candidate, rule, fmt.Sprintf("~%d.%d", step, n))
				next, reports := skill.Apply(candidate, []skill.Edit{e}, skill.ApplyOptions{Scope: scope})
				if !reports[0].Status.Applied() {
					continue
				}
				candidate = next
				draft.edit(e, reports[0].Status, Origin{Kind: Edit, Step: step, Edit: n})
				c.Edits = append(c.Edits, Applied{Number: n, Edit: e})
			}
			if c.Skill = candidate; rapid.Bool().Draw(t, "accepted") {
				now, oracle = candidate, draft
				changes = append(changes, c)
			}
		}
		for _, f := range Blame(seed, changes, now, skill.Scope{}) {
			if f.Path == "assets/x" {
				continue
			}
			want := oracle[f.Path].lines
			if f.Path == skill.Main {
				want = slices.Concat(oracle[head].lines, want)
			}
			if diff := cmp.Diff(said(want), said(f.Lines)); diff != "" {
				t.Fatalf("%s (-oracle +blame):\n%s", f.Path, diff)
			}
		}
	})
}

func drawFileEdit(t *rapid.T, s skill.Skill, rule *rapid.Generator[string], mark string) skill.Edit {
	file := rapid.SampledFrom([]string{skill.Main, "references/a.md", "references/n.md", "references/m.md"}).Draw(t, "file")
	text, there := s.File(file)
	if file == skill.Main {
		if rapid.IntRange(0, 3).Draw(t, "describe") == 0 {
			return skill.Edit{Op: skill.Describe, Content: "Q" + mark}
		}
		doc, _ := skill.Parse(text)
		text = doc.Body
	}
	if file != skill.Main && rapid.IntRange(0, 2).Draw(t, "move") == 0 {
		doc, _ := skill.Parse(s.Text())
		lines := strings.Split(doc.Body, "\n")
		target := rapid.SampledFrom(lines).Draw(t, "moved")
		if strings.TrimSpace(target) != "" && lines[slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, target) })] == target {
			return skill.Edit{Op: skill.Move, File: file, Target: target, Content: rapid.SampledFrom([]string{"", "see" + mark}).Draw(t, "left")}
		}
	}
	if !there {
		return skill.Edit{Op: skill.Append, File: file, Content: rule.Draw(t, "content")}
	}
	e := drawEdit(t, text, rule, mark)
	e.File = file
	return e
}

// What edits of a record do not explain is compared, file by file.
func TestBlameOfFilesWithoutEdits(t *testing.T) {
	t.Parallel()
	seed := skill.New("- a\n").WithFile("r.md", "one\ntwo\n").WithFile("gone.md", "x\n")
	after := skill.New("- a\n- b\n").WithFile("r.md", "one\n2\n").WithFile("new.md", "n\n")
	got := map[string][]string{}
	for _, f := range Blame(seed, []Change{{Origin: Origin{Kind: Rewrite, Step: 1}, Skill: after}}, after.WithFile("hand.md", "h\n"), skill.Scope{}) {
		got[f.Path] = said(f.Lines)
	}
	want := map[string][]string{
		skill.Main: {"seed - a", "r1 - b"}, "r.md": {"seed one", "r1 2"}, "new.md": {"r1 n"}, "hand.md": {"outside h"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files %v (-want +got):\n%s", slices.Sorted(maps.Keys(got)), diff)
	}
}
