package certificate

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// exactMargin is how far the simulated power may be from that of the exact test.
const exactMargin = 0.02

// findings hold the results against what is promised, with three standard errors of
// what is promised for the luck of the simulation.
func (r Report) findings() []Finding {
	slack := 3 * (Study{Runs: r.Runs}).share(int(r.Alpha*float64(r.Runs))).SE
	over := func(of func(Row) Estimate) Finding {
		worst, at := 0.0, ""
		for _, row := range r.Rows {
			if e := of(row); e.Mean >= worst {
				worst, at = e.Mean, row.name()
			}
		}
		return Finding{Holds: worst <= r.Alpha+slack, Why: fmt.Sprintf("%.4f at most, %s", worst, at)}
	}
	wrong, far := over(func(c Row) Estimate { return c.Wrong }), over(func(c Row) Estimate { return c.TooFar })
	wrong.Claim = fmt.Sprintf("of %d siblings that are no better one or more is certified in at most %.4g %% of cases", siblings, 100*r.Alpha)
	far.Claim = fmt.Sprintf("a certificate says \"at least\" more than is so in at most %.4g %% of cases", 100*r.Alpha)
	exact := Finding{Claim: fmt.Sprintf("the power for hard scores is within %.2f of that of McNemar's exact test", exactMargin), Holds: true}
	apart, behind := 0.0, []string(nil)
	for _, row := range r.Rows {
		if row.Exact != nil {
			d := math.Abs(row.First.Mean - *row.Exact)
			apart = max(apart, d)
			exact.Holds = exact.Holds && d <= exactMargin+3*math.Sqrt(*row.Exact*(1-*row.Exact)/float64(r.Runs))
		}
		if row.First.Mean < row.Evidence.Mean-2*row.First.SE {
			behind = append(behind, row.name())
		}
	}
	exact.Why = fmt.Sprintf("%.3f apart at most", apart)
	return []Finding{wrong, far, exact, {
		"one look finds no less than evidence that may be looked at any number of times", len(behind) == 0, inWords(len(r.Rows)-len(behind), len(r.Rows), behind),
	}}
}

// name is the kind of split in words.
func (s TestSplit) name() string {
	return fmt.Sprintf("%s, %s, %d tasks", s.Scores, s.target(), s.Tasks)
}

func (s TestSplit) target() string {
	text := "deterministic"
	if s.Noisy {
		text = "noisy"
	}
	if s.Clustered {
		text += ", clusters"
	}
	return text
}

// CSV writes every row, one a line, with a header.
func (r Report) CSV(w io.Writer) error {
	lines := [][]string{{"scores", "target", "tasks", "test", "wrong", "wrong_se", "beyond", "beyond_se", "first", "first_se", "second", "second_se", "evidence", "evidence_se", "exact"}}
	for _, row := range r.Rows {
		line := []string{string(row.Scores), row.target(), strconv.Itoa(row.Tasks), string(row.Test)}
		for _, e := range []Estimate{row.Wrong, row.TooFar, row.First, row.Second, row.Evidence} {
			line = append(line, number(e.Mean), number(e.SE))
		}
		exact := ""
		if row.Exact != nil {
			exact = number(*row.Exact)
		}
		lines = append(lines, append(line, exact))
	}
	if err := csv.NewWriter(w).WriteAll(lines); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// Text is the report for a terminal of 72 columns.
func (r Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Simulated: %d test splits a row, seed %d, levels %s.\n", r.Runs, r.Seed, r.levels())
	last := ""
	for _, row := range r.Rows {
		if at := fmt.Sprintf("%s, %s", row.Scores, row.target()); at != last {
			last = at
			fmt.Fprintf(&b, "\n%s\n%6s  %-5s  %5s  %6s  %5s  %6s  %8s  %5s\n", at, "tasks", "test", "wrong", "beyond", "first", "second", "evidence", "exact")
		}
		exact := "-"
		if row.Exact != nil {
			exact = fmt.Sprintf("%.3f", *row.Exact)
		}
		fmt.Fprintf(&b, "%6d  %-5s  %5.3f  %6.3f  %5.3f  %6.3f  %8.3f  %5s\n", row.Tasks, row.Test, row.Wrong.Mean, row.TooFar.Mean, row.First.Mean, row.Second.Mean, row.Evidence.Mean, exact)
	}
	b.WriteString(`
wrong     one or more of three siblings that are no better is certified
beyond    "at least X points" is more than is so
first     a skill that is better by 10 points is certified, first reading
second    the same, second reading
evidence  the same by evidence for any number of looks, at all of alpha
exact     computed for McNemar's exact test at the level of a first reading

`)
	for _, f := range r.Findings {
		mark := "holds"
		if !f.Holds {
			mark = "DOES NOT HOLD"
		}
		fmt.Fprintf(&b, "%s:\n  %s (%s)\n", f.Claim, mark, f.Why)
	}
	return b.String()
}

func (r Report) levels() string {
	out := make([]string, len(r.Levels))
	for i, l := range r.Levels {
		out[i] = fmt.Sprintf("%.3g %%", 100*l)
	}
	return strings.Join(out, ", ")
}

// Markdown is the report as a page. command is what makes it again.
func (r Report) Markdown(command string) string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(intro, "{{command}}", command))
	fmt.Fprintf(&b, splitsText, 100*otherwise, 100*gain, 100*lossShare, 100*smallGain, 100*largeLoss, checksEach, inCluster, 100*following, r.Runs, r.Seed, r.levels())
	b.WriteString("## What is to hold\n\n")
	for _, f := range r.Findings {
		mark := "holds"
		if !f.Holds {
			mark = "**does not hold**"
		}
		fmt.Fprintf(&b, "- %s: %s (%s).\n", f.Claim, mark, f.Why)
	}
	b.WriteString(columnsText)
	for _, row := range r.Rows {
		exact := "-"
		if row.Exact != nil {
			exact = fmt.Sprintf("%.3f", *row.Exact)
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %s | %s | %s | %s | %s | %s | %s |\n", row.Scores, row.target(), row.Tasks, row.Test,
			row.Wrong.tenThousandths(), row.TooFar.tenThousandths(), row.First.thousandths(), row.Second.thousandths(), row.Evidence.thousandths(), exact)
	}
	return b.String()
}

func (e Estimate) tenThousandths() string { return fmt.Sprintf("%.4f (%.4f)", e.Mean, e.SE) }

const intro = `# How often certificates err, and what they find

Simulated: no model was asked. This page is written by

` + "```sh\n{{command}}\n```" + `

and takes minutes on two cores. The tests and levels in it are those of the certificate
at the end of a run ([statistics.md](../../docs/statistics.md#what-a-certificate-says)); only the
test tasks are made up, so that the truth is known. Equal seeds give equal pages.

## The test splits

`

const splitsText = `The seed skill has a chance of its own on each task, drawn from Beta(0.6, 0.4). Another
skill does otherwise on %.0f %% of the tasks, drawn anew from the same distribution: it is
no better and no worse on average over all tasks that might have been drawn. One that
is better does a quarter of what is missing besides, which is %.0f points on average. A hard
score is 1 with that chance: where the target is deterministic it is drawn once for a task
and skill, where it is noisy at each reading. A soft score is the chance itself, or the share
of checks that pass at a reading. In "rare losses" a skill loses on %.1f %% of the tasks and gains
%.0f points on the others: each loss is %.0f points, so that nothing is gained on average, and a
small sample without a loss looks like a sure gain. Noisy soft scores have %d checks. In
clusters, %d tasks share their chance, and what another skill does on it, but for those that
do not follow theirs (%.0f %% do); they are declared (` + "`gate.group`" + `).

Each row is %d test splits from seed %d. Three sibling runs, each with a skill of its own that
is no better, read one and the same split at the levels %s. Standard errors are in brackets.

`

const columnsText = `
*Wrong*: one or more of the three siblings is certified. *Beyond*: a better skill is certified
by a first reading to be better by at least more than it is. The others are shares of skills
that are better by 10 points: certified by a *first* and by a *second* reading; by *evidence*
that may be looked at any number of times, at all of alpha, which was the certificate
before; and *exact*, computed and not drawn, what McNemar's exact test finds at the level of a
first reading.

| scores | target | tasks | test | wrong | beyond | first | second | evidence | exact |
|---|---|---|---|---|---|---|---|---|---|
`
