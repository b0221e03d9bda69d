package bench

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Claim is one thing that the defaults are to hold, and whether they do.
type Claim struct {
	Claim string `json:"claim"`
	Holds bool   `json:"holds"`
	Why   string `json:"why"`
}

// farBehind is by how much the defaults may be behind another way in a cell, if that is no
// chance.
const farBehind = 0.02

// claims compares the defaults with the loop of the published protocol.
func (r LoopReport) claims() []Claim {
	all := LoopCell{Rows: r.Pooled}
	def, ref := all.row(defaultWay), all.row(referenceWay)
	var behind []string
	r.byCells(func(name string, cells []LoopCell) {
		if a := (LoopCell{Rows: pooled(cells)}).row(referenceWay).Ahead; a.Mean > farBehind && a.Mean > 2*a.SE {
			behind = append(behind, name+": "+a.turned())
		}
	})
	why := "nowhere"
	if len(behind) > 0 {
		why = strings.Join(behind, ", ")
	}
	return []Claim{
		{"the defaults gain more than the reference loop, by more than two standard errors", ref.Ahead.Mean < -2*ref.Ahead.SE, ref.Ahead.turned()},
		{"in no kind of world, with no optimizer and at no size are they behind it by more than 2 points and two standard errors", len(behind) == 0, why},
		{"no larger share of runs ends worse than it began", def.Worse.Mean <= ref.Worse.Mean, def.Worse.text() + " against " + ref.Worse.text()},
		{"the reported score is within a point of the true one", math.Abs(def.Excess.Mean) <= 0.01, def.Excess.points()},
	}
}

func (f Figure) text() string   { return fmt.Sprintf("%.3f (%.3f)", f.Mean, f.SE) }
func (f Figure) signed() string { return fmt.Sprintf("%+.3f (%.3f)", f.Mean, f.SE) }

// turned is signed the other way around.
func (f Figure) turned() string { return Figure{Mean: 0 - f.Mean, SE: f.SE}.signed() }

func (f Figure) points() string {
	if f.N == 0 {
		return "-"
	}
	return fmt.Sprintf("%+.1f (%.1f)", 100*f.Mean, 100*f.SE)
}

// CSV writes one line a cell and gate.
func (r LoopReport) CSV(w io.Writer) error {
	lines := [][]string{{
		"world", "selection", "ceiling", "way", "gain", "gain_se", "ahead", "ahead_se", "calls", "worse", "worse_se", "excess", "excess_se", "excess_runs", "lost", "worlds", "seed", "simulated",
	}}
	for _, c := range r.Cells {
		for _, row := range c.Rows {
			line := []string{c.World, strconv.Itoa(c.Selection), strconv.Itoa(c.Calls), row.Way}
			for _, v := range []float64{row.Gain.Mean, row.Gain.SE, row.Ahead.Mean, row.Ahead.SE, row.Calls.Mean, row.Worse.Mean, row.Worse.SE, row.Excess.Mean, row.Excess.SE} {
				line = append(line, number(&v))
			}
			lines = append(lines, append(line, strconv.Itoa(row.Excess.N), number(&row.Lost.Mean), strconv.Itoa(r.Study.Worlds), strconv.FormatUint(r.Study.Seed, 10), "true"))
		}
	}
	return writeTable(w, lines)
}

// Text is the report for a terminal: what is pooled, and the findings.
func (r LoopReport) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "simulated: %d worlds in each of %d cells, seed %d; (standard error)\n", r.Study.Worlds, len(r.Cells), r.Study.Seed)
	for _, row := range r.Pooled {
		fmt.Fprintf(&b, "  %-26s gain %s  ahead of the defaults %s  calls %.0f  worse %.3f  reported too high %s  lost %.2f\n", row.Way, row.Gain.text(), row.Ahead.signed(), row.Calls.Mean, row.Worse.Mean, row.Excess.points(), row.Lost.Mean)
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s: %s\n", f.verdict(), f.Claim+" ("+f.Why+")")
	}
	return b.String()
}

func (c Claim) verdict() string {
	if c.Holds {
		return "holds"
	}
	return "does not hold"
}

// Markdown writes the report as a page. command is what makes it.
func (r LoopReport) Markdown(command string) string {
	var b strings.Builder
	b.WriteString(strings.NewReplacer("{{command}}", command, "{{worlds}}", strconv.Itoa(r.Study.Worlds), "{{cells}}", strconv.Itoa(len(r.Cells)), "{{budget}}", r.Study.budget()).Replace(loopIntro))
	b.WriteString("| world | what is special |\n|---|---|\n")
	for _, k := range r.Kinds {
		fmt.Fprintf(&b, "| %s | %s |\n", k.Name, k.What)
	}
	b.WriteString("\n## What is to hold\n\n")
	for _, f := range r.Findings {
		verdict := f.verdict()
		if !f.Holds {
			verdict = "**" + verdict + "**"
		}
		fmt.Fprintf(&b, "- %s: %s (%s).\n", f.Claim, verdict, f.Why)
	}
	b.WriteString("\n## All cells together\n\n| way | gain | ahead of the defaults | calls | worse | too high | lost |\n|---|---|---|---|---|---|---|\n")
	for _, row := range r.Pooled {
		fmt.Fprintf(&b, "| %s |\n", row.line())
	}
	b.WriteString("\n| way | what differs |\n|---|---|\n")
	for _, w := range loopWays() {
		fmt.Fprintf(&b, "| %s | %s |\n", w.name, w.what)
	}
	r.aheadTable(&b)
	return b.String()
}

func (r LoopRow) line() string {
	ahead := r.Ahead.signed()
	if r.Way == defaultWay {
		ahead = ""
	}
	return fmt.Sprintf("%s | %s | %s | %.0f | %.2f (%.2f) | %s | %.2f", r.Way, r.Gain.text(), ahead, r.Calls.Mean, r.Worse.Mean, r.Worse.SE, r.Excess.points(), r.Lost.Mean)
}

func (s LoopStudy) budget() string {
	var texts []string
	for _, c := range s.loopCeilings() {
		text := fmt.Sprintf("%d calls", c.base)
		if c.each > 0 {
			text = fmt.Sprintf("%s: %s and %d for each selection task", c.name, text, c.each)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

// aheadTable shows the gain of the defaults, and how far the other ways are ahead of them: by
// kind of world and of optimizer, by ceiling and by size.
func (r LoopReport) aheadTable(b *strings.Builder) {
	b.WriteString("\n## By kind of world and of optimizer, by ceiling and by selection tasks\n\n| cells | gain of the defaults |")
	ways := loopWays()[1:]
	for _, w := range ways {
		fmt.Fprintf(b, " %s |", w.name)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(ways)) + "\n")
	write := func(name string, cells []LoopCell) {
		all := LoopCell{Rows: pooled(cells)}
		fmt.Fprintf(b, "| %s | %s |", name, all.row(defaultWay).Gain.text())
		for _, w := range ways {
			fmt.Fprintf(b, " %s |", all.row(w.name).Ahead.signed())
		}
		b.WriteString("\n")
	}
	r.byCells(write)
	write("all", r.Cells)
}

// byCells passes the cells of each kind of world, of each ceiling and of each size.
func (r LoopReport) byCells(see func(name string, cells []LoopCell)) {
	line := func(name string, in func(LoopCell) bool) {
		var cells []LoopCell
		for _, c := range r.Cells {
			if in(c) {
				cells = append(cells, c)
			}
		}
		see(name, cells)
	}
	for _, k := range r.Kinds {
		line(k.Name, func(c LoopCell) bool { return c.World == k.Name })
	}
	for _, l := range r.Study.loopCeilings() {
		line(l.name+" ceiling", func(c LoopCell) bool { return c.Ceiling == l.name })
	}
	for _, n := range r.Study.sizes() {
		line(strconv.Itoa(n)+" selection tasks", func(c LoopCell) bool { return c.Selection == n })
	}
}

const loopIntro = `# What training gains

SIMULATED: no model was asked. This page is written by

    {{command}}

in minutes on two cores; equal seeds give equal pages. Training is the real loop with
today's defaults, in worlds made as by ` + "`skillopt init --world`" + `. It holds for these worlds.

## What is compared

A run has a ceiling of calls, those of target and optimizer together ({{budget}}). What it
reports of its result is paid from that too. As in a real run, what the end takes is
reserved, the batch follows from the ceiling, a step is cut to what there is room for, and a
step that passes the ceiling is lost.

*Gain* is the expected score of the shipped skill minus that of the seed skill on 200 test
tasks that no decision saw; it has no noise of answers. *Ahead* is the gain minus that of the
defaults in the same world. *Calls* is what a run made of its ceiling. *Worse* is the share of
runs whose gain is negative. *Too high* is the reported score (the fresh pass; of the
reference loop the pass that chose the skill) minus the expected one on the same selection
tasks, in points. *Lost* is the share of runs that passed the ceiling in a part that had
brought a better skill. Standard errors are in parentheses, over {{worlds}} worlds in each of
{{cells}} cells: a kind of world or of optimizer, a number of selection tasks and a ceiling.

All worlds have 60 train tasks, 20 rules of unequal frequency of which an answer needs up to two, a quarter of the
tasks solved without any, 3 % that no one solves, 10 % of answers that forget the skill, and 20 % of
analyses of failures that propose a harmful rule as well. The kinds differ in one thing. The last
seven are optimizers that tire; with the perfect one of the other worlds they are the standard
mixture.

`
