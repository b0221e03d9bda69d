package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/provenance"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/skill"
)

// lineBlame is one line of a skill with the grounds of what wrote it, as --json prints it.
type lineBlame struct {
	Run     string          `json:"run"`
	Version string          `json:"version"`
	File    string          `json:"file"`
	Line    provenance.Line `json:"line"`
	Source  record.Source   `json:"source"`
	Grounds *record.Grounds `json:"grounds"` // null: no trajectory of a step asked for it
}

// mostGrounds is how many of the tasks that asked for a line are printed.
const mostGrounds = 20

// hintLine says how one line is explained, if there is one that analysts asked for.
func hintLine(out printer, b record.Blame, path string) error {
	for _, s := range b.Sources {
		if s.Reason != nil && len(s.Lines) > 0 {
			_, err := fmt.Fprintf(out, "\nskillopt runs blame %s --line %d lists the tasks that asked for that line\n", shellWord(path), s.Lines[0])
			return err
		}
	}
	return nil
}

// runLine explains one line.
func (o *runsBlameOptions) runLine(ctx context.Context, a *app, path string) error {
	b, err := readBlame(a, path, o.at)
	if err != nil {
		return err
	}
	found, err := o.find(b)
	if err != nil {
		return err
	}
	r, err := openRecord(ctx, a, path)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it was only read
	if found.Grounds, err = r.Grounds(ctx, found.Source); err != nil {
		return err
	}
	text := found.Line.Text // masked already, as a line among others
	found = shareable(found)
	found.Line.Text = text
	if a.json {
		return printAnswer(a.Out, found)
	}
	return o.printLine(a.printer(a.Out), found, path)
}

// find finds the line, and what wrote it.
func (o *runsBlameOptions) find(b record.Blame) (lineBlame, error) {
	lines := b.Lines
	if o.file != skill.Main {
		i := slices.IndexFunc(b.Files, func(f provenance.File) bool { return f.Path == o.file })
		if i < 0 {
			return lineBlame{}, usagef("--file %s: the skill has no such file that edits may change", o.file)
		}
		lines = b.Files[i].Lines
	}
	if o.line < 1 || o.line > len(lines) {
		return lineBlame{}, usagef("--line %d: %s has lines 1 to %d", o.line, o.file, len(lines))
	}
	out := lineBlame{Run: b.Run, Version: b.Version, File: o.file, Line: lines[o.line-1]}
	out.Source.Origin = out.Line.Origin
	for _, s := range b.Sources {
		if s.Origin == out.Line.Origin {
			out.Source = s
		}
	}
	return out, nil
}

func (o *runsBlameOptions) printLine(out printer, l lineBlame, path string) error {
	out.hang(fmt.Sprintf("%s  %d  ", originLabel(l.Line.Origin), l.Line.Number), oneLine(l.Line.Text))
	fmt.Fprintln(out)
	if k := l.Line.Origin.Kind; k == provenance.Seed || k == provenance.Outside {
		_, err := fmt.Fprintf(out, "no step wrote it: %s\n", map[bool]string{true: "it was in the seed skill", false: "somebody has changed the file"}[k == provenance.Seed])
		return err
	}
	out.hang("", fmt.Sprintf("step %d: %s", l.Line.Origin.Step, l.Source.Gate))
	printSource(out, l.Source)
	g := l.Grounds
	if g == nil {
		_, err := fmt.Fprintln(out, "\nno trajectories of a step asked for it")
		return err
	}
	for _, why := range g.Why {
		out.hang("    ", "because "+oneLine(why))
	}
	for _, key := range g.Replies {
		fmt.Fprintf(out, "\nskillopt runs calls %s --key %s shows the reply\n", shellWord(path), shellWord(oneLine(key)))
	}
	fmt.Fprintf(out, "\nthey read %s of step %d:\n", wording.Plural(len(g.Tasks), "task", "tasks"), g.Step)
	for _, t := range g.Tasks[:min(len(g.Tasks), mostGrounds)] {
		printGround(out, t)
	}
	if more := len(g.Tasks) - mostGrounds; more > 0 {
		fmt.Fprintf(out, "\nand %s (--json lists all)\n", wording.Plural(more, "more task", "more tasks"))
	}
	if len(g.Tasks) > 0 {
		_, err := fmt.Fprintf(out, "\n%s shows all of one\n", askTask(path, g.Tasks[0].ID, fmt.Sprintf("--step %d --prompt", g.Step)))
		return err
	}
	return nil
}

func printGround(out printer, t record.ReadTask) {
	fmt.Fprintf(out, "\n%s: %s\n", oneLine(t.ID), scoredText(t.Outcome))
	if t.Outcome == nil {
		return
	}
	out.hang("  answer    ", oneLine(t.Outcome.Answer))
	out.hang("  reference ", oneLine(t.Outcome.Reference))
	if t.Outcome.FailReason != "" {
		out.hang("  why       ", oneLine(t.Outcome.FailReason))
	}
}
