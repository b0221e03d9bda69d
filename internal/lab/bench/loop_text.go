package bench

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Claim is one thing that the default gate is to hold, and whether it does.
type Claim struct {
	Claim string `json:"claim"`
	Holds bool   `json:"holds"`
	Why   string `json:"why"`
}

// claims holds the default against strict.
func (r LoopReport) claims() []Claim {
	all := LoopCell{Rows: r.Pooled}
	def, strict, cold := all.row(defaultGate), all.row("strict"), all.row(coldGate)
	var behind []string
	for _, c := range r.Cells {
		if a := c.row(defaultGate).Ahead; a.Mean < -2*a.SE {
			behind = append(behind, fmt.Sprintf("%s %d, %d calls: %s", c.World, c.Selection, c.Calls, a.signed()))
		}
	}
	why := fmt.Sprintf("0 of %d cells", len(r.Cells))
	if len(behind) > 0 {
		why = fmt.Sprintf("%d of %d cells; %s", len(behind), len(r.Cells), strings.Join(behind, ", "))
	}
	return []Claim{
		{"the default is nowhere more than two standard errors below strict", len(behind) == 0, why},
		{"pooled over all cells the default gains at least as much as strict", def.Ahead.Mean >= 0, def.Ahead.signed()},
		{"under the default no larger share of runs ends worse than it began", def.Worse.Mean <= strict.Worse.Mean, def.Worse.text() + " against " + strict.Worse.text()},
		{"pooled, the warm start adds more than two standard errors", cold.Beside.Mean < -2*cold.Beside.SE, cold.Beside.turned()},
		{"pooled, the default's reported score is within 2 points of the true one", math.Abs(def.Excess.Mean) <= 0.02, def.Excess.points()},
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
		"world", "selection", "ceiling", "gate", "gain", "gain_se", "ahead", "ahead_se", "calls", "worse", "worse_se", "excess", "excess_se", "excess_runs", "lost", "worlds", "seed", "simulated",
	}}
	for _, c := range r.Cells {
		for _, row := range c.Rows {
			line := []string{c.World, strconv.Itoa(c.Selection), strconv.Itoa(c.Calls), row.Gate}
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
		fmt.Fprintf(&b, "  %-26s gain %s  ahead of strict %s  calls %.0f  worse %.3f  reported too high %s  lost %.2f\n", row.Gate, row.Gain.text(), row.Ahead.signed(), row.Calls.Mean, row.Worse.Mean, row.Excess.points(), row.Lost.Mean)
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
	b.WriteString(loopChance)
	b.WriteString("## All cells together\n\n| gate | gain | ahead of strict | calls | worse | too high | lost |\n|---|---|---|---|---|---|---|\n")
	for _, row := range r.Pooled {
		fmt.Fprintf(&b, "| %s |\n", row.line())
	}
	r.aheadTable(&b)
	r.partsTable(&b)
	b.WriteString("\n## Every cell\n\n| world | selection tasks | ceiling | gate | gain | ahead of strict | calls | worse | too high | lost |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, c := range r.Cells {
		for _, row := range c.Rows {
			fmt.Fprintf(&b, "| %s | %d | %d | %s |\n", c.World, c.Selection, c.Calls, row.line())
		}
	}
	return b.String()
}

func (r LoopRow) line() string {
	ahead := r.Ahead.signed()
	if r.Gate == "strict" {
		ahead = ""
	}
	return fmt.Sprintf("%s | %s | %s | %.0f | %.2f (%.2f) | %s | %.2f", r.Gate, r.Gain.text(), ahead, r.Calls.Mean, r.Worse.Mean, r.Worse.SE, r.Excess.points(), r.Lost.Mean)
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

// aheadTable shows where which gate is ahead: by kind of world, then by size.
func (r LoopReport) aheadTable(b *strings.Builder) {
	b.WriteString("\n## Ahead of strict, by kind of world, by ceiling and by selection tasks\n\n")
	r.table(b, func(g loopGate) (string, func(LoopRow) string) {
		if g.name == "strict" || g.feature != nil {
			return "", nil
		}
		return g.name, func(row LoopRow) string { return row.Ahead.signed() }
	})
}

// partsTable shows what parts of the loop add.
func (r LoopReport) partsTable(b *strings.Builder) {
	b.WriteString(loopParts)
	r.table(b, func(g loopGate) (string, func(LoopRow) string) {
		switch {
		case g.feature == nil:
			return "", nil
		case g.feature.without:
			return g.feature.name, func(row LoopRow) string { return row.Beside.turned() }
		}
		return g.feature.name, func(row LoopRow) string { return row.Beside.signed() }
	})
}

// table writes a figure of some gates by cells; column names it, nil leaves the gate out.
func (r LoopReport) table(b *strings.Builder, column func(loopGate) (name string, figure func(LoopRow) string)) {
	b.WriteString("| cells |")
	n := 1
	for _, g := range loopGates() {
		if name, figure := column(g); figure != nil {
			fmt.Fprintf(b, " %s |", name)
			n++
		}
	}
	b.WriteString("\n|" + strings.Repeat("---|", n) + "\n")
	write := func(name string, cells []LoopCell) {
		fmt.Fprintf(b, "| %s |", name)
		all := LoopCell{Rows: pooled(cells)}
		for _, g := range loopGates() {
			if _, figure := column(g); figure != nil {
				fmt.Fprintf(b, " %s |", figure(all.row(g.name)))
			}
		}
		b.WriteString("\n")
	}
	r.byCells(write)
	write("all", r.Cells)
}

// byCells hands over the cells of each kind of world, of each ceiling and of each size.
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

const loopParts = `
## What parts of the loop add

Each column is the gain with a part of the loop minus that without it in the same world, all else
equal. *Warm start*: by its first step the default learns from the whole train split, or from as
much of it as the ceiling has room for, and makes as many edits as it likes (` + "`train.warm.drafts: 1`" + `);
*two drafts*: two candidates of that step. *Wide reflection* is the default without a warm start minus
batches of at most 40, minibatches of 8 and 4 edits a step. *Second try*: what of a rejected bundle the
optimizer would keep is judged once more (` + "`train.second_try`" + `). *Memory of the run*: analysts are told
of the steps of the whole run, by type of task what a rejected bundle won and lost, and which failures
stay (` + "`reflect.memory: run`" + `). *Three candidates*: ` + "`train.population.size: 3`" + `. *Batches of 20* are compared
with those of the default without a warm start, and *20 failures* with those: a batch grows until it
shows 20 failures (` + "`train.failures`" + `). Warm start and wide reflection are on by default, the others off.

`

const loopIntro = `# What training gains under each gate

SIMULATED: no model was asked. This page is written by

    {{command}}

in minutes on two cores; equal seeds give equal pages. Training is the real loop with
today's defaults, in worlds made as by ` + "`skillopt lab worlds`" + `; only the gate differs, or one part of the loop. It
holds for these worlds: their optimizer reads prompts without mistakes but those that the
world prescribes, and never tires.

## What is compared

*strict* is the published rule: one pass, any higher mean. It scores what it ships by the pass
that chose it; with a fresh pass (` + "`gate.fresh`" + `) it pays for another one. The others are
` + "`gate.mode: race`" + ` with the named ` + "`gate.confirm`" + `; ` + "`measured`" + ` is the default, which
confirms nothing in runs of fewer than 12 steps, as those here are; *bar and confirmation* is it as it was before:
confirmed as in longer runs, and at ` + "`gate.risk: 0.5`" + `. The last rows are the default with a part of the loop changed.

A run has a ceiling of calls, those of target and optimizer together ({{budget}}), and
what it tells of its result is paid from that too. As in a real run, what the end takes is
reserved, the batch follows from the ceiling, a step is cut to what there is room for, and a
step that passes the ceiling is lost. What a race cancels or does not read is not counted.

*Gain* is the expected score of the shipped skill minus that of the seed skill on 200 test
tasks that no decision saw; it has no noise of answers. *Ahead* is the gain minus that of strict in
the same world. *Calls* is what a run made of its ceiling. *Worse* is the share of runs
whose gain is negative. *Too high* is the reported score (the fresh pass; of race where none was made the shrunken
mean, of strict the pass that chose the skill) minus the expected one on the same selection tasks, in
points. *Lost* is the share of runs that passed the ceiling in a part that had brought a better
skill: they ship what they had before, and tell no score of it. In parentheses stand standard errors, over {{worlds}} worlds in each of
{{cells}} cells: a kind of world, a number of selection tasks and a ceiling.

All worlds have 60 train tasks, 20 rules of unequal frequency of which an answer needs up to two, a quarter of the
tasks solved without any, 3 % that nobody solves, 10 % of answers that forget the skill, and 20 % of
analyses of failures that propose a harmful rule as well, but:

`

const loopChance = `
Of cells without any difference about one in 44 is two standard errors below by chance.

`
