package bench

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/worlds"
)

// CSV writes one line a cell and way.
func (r FewReport) CSV(w io.Writer) error {
	lines := [][]string{{
		"world", "tasks", "ceiling", "way", "gain", "gain_se", "ahead", "ahead_se", "calls", "worse", "worse_se", "false", "false_se",
		"same", "same_se", "unseen", "unseen_se", "lost", "worlds", "seed", "simulated",
	}}
	for _, c := range r.Cells {
		for _, row := range c.Rows {
			line := []string{c.World, strconv.Itoa(c.Tasks), strconv.Itoa(c.Calls), row.Way}
			for _, v := range []float64{
				row.Gain.Mean, row.Gain.SE, row.Ahead.Mean, row.Ahead.SE, row.Calls.Mean, row.Worse.Mean, row.Worse.SE, row.False.Mean, row.False.SE,
				row.Same.Mean, row.Same.SE, row.Unseen.Mean, row.Unseen.SE, row.Lost.Mean,
			} {
				line = append(line, number(&v))
			}
			lines = append(lines, append(line, strconv.Itoa(r.Study.Worlds), strconv.FormatUint(r.Study.Seed, 10), "true"))
		}
	}
	return writeTable(w, lines)
}

// Text is the report for a terminal: what is pooled.
func (r FewReport) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "simulated: %d worlds in each of %d cells, seed %d; (standard error)\n", r.Study.Worlds, len(r.Cells), r.Study.Seed)
	for _, row := range pooledFew(r.Cells) {
		fmt.Fprintf(&b, "  %-30s gain %s  ahead of one pool %s  calls %.0f  too high on unseen tasks %s\n", row.Way, row.Gain.text(), row.Ahead.signed(), row.Calls.Mean, row.Unseen.points())
	}
	return b.String()
}

func (r FewRow) line() string {
	ahead := r.Ahead.signed()
	if r.Way == fewDefault {
		ahead = ""
	}
	return fmt.Sprintf("%s | %s | %s | %.0f | %s | %s | %s | %s | %.2f", r.Way, r.Gain.text(), ahead, r.Calls.Mean, r.Worse.text(), r.False.text(), r.Same.points(), r.Unseen.points(), r.Lost.Mean)
}

const fewColumns = " way | gain | ahead | calls | worse | false | too high, same tasks | too high, unseen tasks | lost |\n"

// Markdown writes the report as a page. command is what makes it.
func (r FewReport) Markdown(command string) string {
	var b strings.Builder
	b.WriteString(strings.NewReplacer("{{command}}", command, "{{worlds}}", strconv.Itoa(r.Study.Worlds), "{{cells}}", strconv.Itoa(len(r.Cells)),
		"{{behind}}", r.standing(false), "{{ahead}}", r.standing(true), "{{folds}}", pooledFew(r.Cells)[2].Ahead.turned(), "{{memory}}", r.memory()).Replace(fewIntro))
	b.WriteString("## All cells together\n\n|" + fewColumns + "|" + strings.Repeat("---|", 9) + "\n")
	for _, row := range pooledFew(r.Cells) {
		fmt.Fprintf(&b, "| %s |\n", row.line())
	}
	r.aheadTable(&b)
	return b.String()
}

// memory returns how much too high the reported score is with an optimizer that memorizes.
func (r FewReport) memory() string {
	rows := pooledFew(slices.DeleteFunc(slices.Clone(r.Cells), func(c FewCell) bool { return c.World != worlds.Memorizer().Name }))
	return fmt.Sprintf("%s points with one pool and %s in folds", rows[0].Unseen.points(), rows[2].Unseen.points())
}

// standing counts the cells in which the fixed split is ahead of one pool by two standard
// errors, or behind it.
func (r FewReport) standing(ahead bool) string {
	n := 0
	for _, c := range r.Cells {
		for _, row := range c.Rows {
			switch a := row.Ahead; {
			case row.Way != fewFixed:
			case ahead && a.Mean > 2*a.SE:
				n++
			case !ahead && a.Mean < -2*a.SE:
				n++
			}
		}
	}
	return fmt.Sprintf("%d of %d cells", n, len(r.Cells))
}

// aheadTable shows where which way is ahead: by kind of world, by ceiling, by number.
func (r FewReport) aheadTable(b *strings.Builder) {
	b.WriteString("\n## Ahead of one pool, by kind of world, by ceiling and by number of tasks\n\n| cells |")
	var columns []int
	for j, w := range fewWays() {
		if w.name != fewDefault {
			columns = append(columns, j)
			fmt.Fprintf(b, " %s |", w.name)
		}
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	line := func(name string, in func(FewCell) bool) {
		var cells []FewCell
		for _, c := range r.Cells {
			if in(c) {
				cells = append(cells, c)
			}
		}
		rows := pooledFew(cells)
		fmt.Fprintf(b, "| %s |", name)
		for _, j := range columns {
			fmt.Fprintf(b, " %s |", rows[j].Ahead.signed())
		}
		b.WriteString("\n")
	}
	for _, k := range r.Kinds {
		line(k.Name, func(c FewCell) bool { return c.World == k.Name })
	}
	for _, n := range fewTasks() {
		for _, l := range fewCeilings() {
			line(fmt.Sprintf("%d tasks, %s ceiling", n, l.name), func(c FewCell) bool { return c.Tasks == n && c.Ceiling == l.name })
		}
	}
}

const fewIntro = `# What training gains where tasks are few

SIMULATED: no model was asked. This page is written by

    {{command}}

in minutes on two cores; equal seeds give equal pages. Training is the real loop with
today's defaults, in the kinds of worlds of [loop.md](loop.md); what differs is how the tasks
are used that are not sealed for the test. It holds for these worlds.

## What is compared

Of 8 to 40 tasks a fifth is sealed for the test, which no run here opens. The rest is
*one pool*, all of which teaches and judges, the default (` + "`split.cross_fit`" + `); or it is split
into train and selection tasks in halves (*fixed split*, 2:2:1); or it is in *4 folds*: a
step learns from three of them, its candidate is judged by the fourth, and the folds take
turns. Each ends with a fresh pass.

A run has a ceiling of calls of target and optimizer together (short: 60 and 6 for each task;
long: 120 and 16). Everything is paid from it.

*Gain* is the expected score of the shipped skill minus that of the seed skill on 200 tasks
that no decision saw. *Ahead* is the gain minus that of one pool in the same world.
*Worse* is the share of runs whose gain is negative. *False* is the share of the accepted
candidates of a run that are worse on those 200 tasks than what they replaced. *Too high* is
the reported score (the fresh pass) minus the expected one, in points: on the same tasks, and
on the unseen ones. *Lost* is the share of runs that passed the ceiling in a part that had
brought a better skill. Standard errors are in parentheses, over {{worlds}} worlds in each of
{{cells}} cells.

## Results

- The fixed split is more than two standard errors behind one pool in {{behind}}, and ahead
  of it in {{ahead}}. Of cells without any difference about one in 44 is by chance.
- One pool is {{folds}} ahead of 4 folds. It cannot notice an edit that helps only the task
  that it was made from: if the optimizer memorizes, the reported score is too high for
  unseen tasks by {{memory}}.
- The score that a run reports of its pool is too high for unseen tasks: the skill was
  made from the pool. The test split shows the true score.

`
