package lab

import (
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/gate"
)

// Markdown is the report as a page. command is what makes it again.
func (r Report) Markdown(command string) string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(intro, "{{command}}", command))
	r.worlds(&b)
	r.findingsList(&b)
	b.WriteString(mainText)
	mainTable(&b, tableOf(r.EqualBudget))
	r.earlier(&b)
	fmt.Fprintf(&b, "## When the batches count as well\n\n%s\n\n", fmt.Sprintf(totalText, 2*r.Budget))
	fullTable(&b, r.EqualTotal)
	fmt.Fprintf(&b, "## Equal steps\n\nAll rules for %d steps, whatever they cost.\n\n", r.Steps)
	fullTable(&b, r.EqualSteps)
	b.WriteString(nothingText)
	r.nothingTable(&b)
	r.guidance(&b)
	r.keepSection(&b)
	fmt.Fprintf(&b, "## Every rule under an equal budget\n\n%s\n\n", ruleText)
	fullTable(&b, r.EqualBudget)
	return b.String()
}

const intro = `# What the gates cost and err

This page is about the gate alone: it is fed edits that are made up, so that each world is a few
numbers and a gate's errors can be counted. What the whole training loop gains under each
gate, with reflection, batches and all calls counted, is measured in [loop.md](loop.md), and
where the two differ that page is the one that counts.

Simulated: no model was asked. This page is written by

` + "```sh\n{{command}}\n```" + `

and takes minutes on two cores. The gate in it is the one that training uses; only
the world is made up, so that the truth is known. Equal seeds give equal pages.

## The worlds

An item succeeds with a chance of its own, at the start from Beta(0.6, 0.4): many are
nearly always right or nearly always wrong. An edit adds to, or takes from, the logit
of every item.

`

func (r Report) worlds(b *strings.Builder) {
	b.WriteString("| world | edits that help | by | edits that harm | by | deviation between items |\n|---|---|---|---|---|---|\n")
	for _, w := range r.Worlds {
		fmt.Fprintf(b, "| %s | %.0f %% | +%g | %.0f %% | -%g | %g |\n", w.Name, 100*w.Good, w.GoodShift, 100*w.Bad, w.BadShift, w.Spread)
	}
	fmt.Fprintf(b, `
The rest of the edits does nothing. Each row below is the mean of %d runs from seed
%d; the noise, the items and the edits of a run are the same for every rule. Under an
equal budget a run ends when it has spent %d passes over the selection items. All
numbers are followed by their standard error.

`, r.Runs, r.Seed, r.Budget)
}

func (r Report) findingsList(b *strings.Builder) {
	b.WriteString("## What is to hold\n\n")
	for _, f := range r.Findings {
		verdict := "holds"
		if !f.Holds {
			verdict = "**does not hold**"
		}
		fmt.Fprintf(b, "- %s: %s (%s).\n", f.Claim, verdict, f.Why)
	}
	b.WriteString(`
The default is ` + "`gate.confirm: measured` at `gate.risk: 0`" + `: no confirmation where the
race itself is more than two standard errors ahead, nor where no answer changed of several
that were asked twice, and else full confirmation. The runs here are long. One of fewer than
12 steps confirms nothing: there each candidate is a large share of all that will be tried,
and [loop.md](loop.md) shows what its calls bring elsewhere.

`)
}

const mainText = `## Strict and race under an equal budget

*Gain* is the true gain on the selection items. *Worse* is the share of runs that end
truly worse than they began. *Too high* is the reported score minus the true one, in
points. *Cost* is the rollouts of a step, in passes over the selection items.

`

func mainTable(b *strings.Builder, t table) {
	rules := []string{strictRule, exploreRule, fullRule, measuredRule, discordantRule}
	b.WriteString("| world, items | rule | gain | worse | too high | cost |\n|---|---|---|---|---|---|\n")
	for _, at := range t.regimes {
		for _, rule := range rules {
			if row, ok := t.rows[at][rule]; ok {
				fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", at, rule, row.Gain.thousandths(), row.Worse.hundredths(), row.Excess.points(), row.Cost.hundredths())
			}
		}
	}
	b.WriteString("\n")
}

const totalText = `A step costs more than its gate: the rollouts of the batch, the analysts, the merge.
Here each step is charged one more pass over as many items, and a run ends after %d
passes. Between equal selection rollouts and equal steps this is the fairer budget,
and what decides which confirmation is the default. "None" spends least on each step
and so gets most of them, but it goes by one lucky pass: what it reports is too high
and it ends worse more often where gains are rare.`

const ruleText = `Dead band, standard error, sign test and median compare fixed passes with the cached
pass of the incumbent, as strict does. A classical test is safe because it hardly ever
accepts anything.`

const nothingText = `## Edits that do nothing

Twenty steps with edits that change no chance at all. *First* is the share of runs in
which the very first of them was accepted.

`

func (r Report) nothingTable(b *strings.Builder) {
	b.WriteString("| items | rule | first | accepted a step | too high | cost |\n|---|---|---|---|---|---|\n")
	for _, row := range r.Nothing {
		fmt.Fprintf(b, "| %d | %s | %s | %s | %s | %s |\n", row.Items, row.Rule, row.First.hundredths(), row.Accepts.hundredths(), row.Excess.points(), row.Cost.hundredths())
	}
	fmt.Fprintf(b, `
At the end of each run the last skill and the first are measured once on %d test items
that no decision went by. Of %d runs under the default rule, %d are certified to be better
at the level %g of a first reading.

`, testItems, r.NullRuns, r.NullCertified, gate.LevelOf(alpha, 1))
}

func fullTable(b *strings.Builder, rows []Row) {
	b.WriteString("| world, items | rule | gain | ahead of strict | worse | too high | cost | steps | certified |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %.0f | %.2f |\n", regime{r.World, r.Items}, r.Rule,
			r.Gain.thousandths(), r.Ahead.thousandths(), r.Worse.hundredths(), r.Excess.points(), r.Cost.hundredths(), r.Steps.Mean, r.Certified.Mean)
	}
	fmt.Fprintf(b, "\n*Certified* is the share of runs whose gain is certified on %d test items at the level %g of a first reading.\n\n", testItems, gate.LevelOf(alpha, 1))
}

// earlier says how the results stand to the figures that the gate was designed by.
func (r Report) earlier(b *strings.Builder) {
	compared, out := departures(tableOf(r.EqualBudget))
	if compared == 0 {
		return
	}
	fmt.Fprintf(b, `### The figures that the gate was designed by

They came from other programs, and their worlds are told in words only. The worlds
above were fitted to them, so they show that one set of plain worlds explains the
figures, not that they are right by themselves. Of %d figures that can be compared
(gain, runs ending worse, rollouts a step), %d are more than two standard errors of both
apart`, compared, len(out))
	if len(out) == 0 {
		b.WriteString(".\n\n")
		return
	}
	b.WriteString(":\n\n")
	for _, d := range out {
		fmt.Fprintf(b, "- %s\n", d)
	}
	b.WriteString(`
Where they differ the figures on this page are the ones that count. The budget of 20
passes and the sizes of the edits are ours: no single one fits the strict column of
the rich world at 40 items together with the others.

`)
}

func (e Estimate) thousandths() string { return fmt.Sprintf("%.3f (%.3f)", e.Mean, e.SE) }
func (e Estimate) hundredths() string  { return fmt.Sprintf("%.2f (%.2f)", e.Mean, e.SE) }
func (e Estimate) points() string      { return fmt.Sprintf("%.1f (%.1f)", 100*e.Mean, 100*e.SE) }
