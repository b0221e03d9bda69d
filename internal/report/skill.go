package report

import (
	"fmt"
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/seed-f4525e22/skillopt/internal/provenance"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/skill"
)

// skillFile is a file of the annotated skill.
type skillFile struct {
	Path  string // "" where SKILL.md is alone
	Hunks []hunk
}

// annotatedFiles shows SKILL.md and, behind it, the other files that edits may change.
func annotatedFiles(seed skill.Skill, b record.Blame) []skillFile {
	out := []skillFile{{Hunks: annotateLines(seed.Text(), b.Lines)}}
	for _, f := range b.Files {
		before, _ := seed.File(f.Path)
		out = append(out, skillFile{Path: line(f.Path, idLength), Hunks: annotateLines(before, f.Lines)})
	}
	if len(out) > 1 {
		out[0].Path = skill.Main
	}
	return out
}

// hunk is a stretch of the annotated skill. A long one that is as it was before
// training is folded.
type hunk struct {
	Fold  string // what a folded hunk says, "" if it is shown
	Lines []skillLine
}

// skillLine is a line of the best skill, or one of the seed skill that is gone.
type skillLine struct {
	Class  string // same, new, gone
	Sign   string
	Who    string // what wrote a new line: "step 2.1"
	Title  string // in full
	Anchor string
	Text   string
}

const (
	foldFrom   = 12   // unchanged lines in a row that are folded
	foldKeep   = 3    // of them that stay in sight at each end
	lineLength = 2000 // of the skill, in code points
)

// annotateLines returns the best skill with the origin of its lines, and what is gone of the seed
// skill where it was.
func annotateLines(seed string, blame []provenance.Line) []hunk {
	var all []skillLine
	before, after := splitText(seed), make([]string, len(blame))
	for i, l := range blame {
		after[i] = l.Text
	}
	m := difflib.NewMatcherWithJunk(before, after, false, nil)
	before, after = redact.Lines(before), redact.Lines(after) // a key may go over several
	for _, op := range m.GetOpCodes() {
		if op.Tag == 'e' {
			for _, text := range after[op.J1:op.J2] {
				all = append(all, skillLine{Class: "same", Text: clean(text, lineLength)})
			}
			continue
		}
		for _, text := range before[op.I1:op.I2] {
			all = append(all, skillLine{Class: "gone", Sign: "−", Text: clean(text, lineLength)})
		}
		for i, text := range after[op.J1:op.J2] {
			all = append(all, newSkillLine(text, blame[op.J1+i]))
		}
	}
	return foldLines(all)
}

// newSkillLine returns a new line, as text shows it.
func newSkillLine(text string, l provenance.Line) skillLine {
	out := skillLine{Class: "new", Sign: "+", Text: clean(text, lineLength)}
	if strings.TrimSpace(text) == "" {
		return out
	}
	out.Title = record.Describe(l.Origin)
	switch l.Origin.Kind {
	case provenance.Outside:
		out.Who = out.Title
		return out
	case provenance.Seed:
		out.Who = "moved"
		return out
	case provenance.Edit:
		out.Who = fmt.Sprintf("step %d.%d", l.Origin.Step, l.Origin.Edit)
	case provenance.SlowUpdate:
		out.Who = fmt.Sprintf("epoch %d", l.Origin.Epoch)
	default:
		out.Who = fmt.Sprintf("step %d", l.Origin.Step)
	}
	out.Anchor = anchor(l.Origin)
	return out
}

func splitText(text string) []string {
	out := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// foldLines puts long unchanged stretches into hunks of their own.
func foldLines(all []skillLine) []hunk {
	var out []hunk
	show := func(lines []skillLine) {
		if len(lines) == 0 {
			return
		}
		if n := len(out); n > 0 && out[n-1].Fold == "" {
			out[n-1].Lines = append(out[n-1].Lines, lines...)
			return
		}
		out = append(out, hunk{Lines: append([]skillLine(nil), lines...)})
	}
	for from := 0; from < len(all); {
		to := from
		for to < len(all) && (all[to].Class == "same") == (all[from].Class == "same") {
			to++
		}
		run := all[from:to]
		if len(run) < foldFrom || run[0].Class != "same" {
			show(run)
		} else {
			inner := run[foldKeep : len(run)-foldKeep]
			show(run[:foldKeep])
			out = append(out, hunk{Fold: wording.Plural(len(inner), "unchanged line", "unchanged lines"), Lines: inner})
			show(run[len(run)-foldKeep:])
		}
		from = to
	}
	return out
}

// group explains what one step, or one slow update, wrote.
type group struct {
	Anchor  string
	Head    string
	Verdict verdict
	Gate    string
	Edits   []writing
}

// writing is one edit, rewrite or note that wrote lines.
type writing struct {
	Head     string // "edit 1, append"
	Content  string
	Asked    string
	Tasks    string
	Patterns []string
}

// groups explains the origins of a skill's lines, but for those of the seed.
func groups(b record.Blame) []group {
	var out []group
	for _, s := range b.Sources {
		if s.Origin.Kind == provenance.Seed || s.Origin.Kind == provenance.Outside {
			continue
		}
		id := anchor(s.Origin)
		if n := len(out); n == 0 || out[n-1].Anchor != id {
			out = append(out, newGroup(id, s))
		}
		g := &out[len(out)-1]
		g.Edits = append(g.Edits, newWriting(s))
	}
	return out
}

func newGroup(id string, s record.Source) group {
	g := group{Anchor: id, Head: fmt.Sprintf("Step %d", s.Origin.Step), Gate: "not judged"}
	if s.Origin.Kind == provenance.SlowUpdate {
		g.Head = fmt.Sprintf("Slow update of epoch %d", s.Origin.Epoch)
	}
	if j := s.Gate; j != nil {
		g.Verdict, g.Gate = newVerdict(j.Action), strings.ReplaceAll(j.Measured(), "->", "→")
	}
	return g
}

func newWriting(s record.Source) writing {
	w := writing{Head: strings.ReplaceAll(string(s.Origin.Kind), "_", " "), Patterns: lines(s.Summary, reasonLength)}
	if s.Edit != nil {
		w.Head = fmt.Sprintf("edit %d, %s", s.Origin.Edit, line(strings.ReplaceAll(string(s.Edit.Op), "_", " "), idLength))
		if s.Edit.File != "" && s.Edit.File != skill.Main {
			w.Head += ", " + line(s.Edit.File, idLength)
		}
		w.Content = clean(s.Edit.Content, reasonLength)
	}
	if s.Reason != nil {
		w.Asked, w.Tasks = s.Reason.String(), few(s.Reason.Tasks, 12)
		for _, p := range s.Reason.Patterns[:min(4, len(s.Reason.Patterns))] {
			w.Patterns = append(w.Patterns, line(p.String(), reasonLength))
		}
	}
	if w.Content == "" {
		w.Content = wording.Plural(s.CountLines(), "line", "lines")
	}
	return w
}
