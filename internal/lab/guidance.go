package lab

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/gate"
)

// Training with guidance: epochs of edits under the default rule, and from the
// second epoch on a text of many small lessons at its end (the slow update), which
// the rule that is tried judges.
const (
	guidedEpochs = 4
	guidedEdits  = 4 // an epoch
)

// guidanceWorlds are what such texts do. One is worth little, and the same to every
// item but for chance.
func guidanceWorlds() []World {
	return []World{
		{Name: "mostly helps", Good: 0.7, GoodShift: 0.15, Bad: 0.15, BadShift: 0.15, Spread: 0.1},
		{Name: "helps or harms", Good: 0.4, GoodShift: 0.15, Bad: 0.4, BadShift: 0.15, Spread: 0.1},
		{Name: "mostly harms", Good: 0.15, GoodShift: 0.15, Bad: 0.7, BadShift: 0.3, Spread: 0.1},
	}
}

// Names of the rules for guidance.
const (
	noWorseRule  = "no worse" // the default
	likeEditRule = "like an edit"
	tiesPassRule = "strict, ties pass"
	forcedRule   = "forced in"
)

// guidanceRules are the ways to judge it. The default comes first.
func guidanceRules() []Rule {
	return []Rule{
		{noWorseRule, gate.Race{Risk: 0.5, NonInferior: true}},
		{likeEditRule, gate.Race{Risk: 0.5, Confirm: gate.ConfirmFull}},
		{tiesPassRule, gate.Strict{OrEqual: true}},
		{forcedRule, gate.Off{}},
	}
}

// GuidanceRow is what one way to judge guidance came to. Scores go from 0 to 1.
type GuidanceRow struct {
	World string `json:"world"` // of the guidance
	Items int    `json:"items"`
	Rule  string `json:"rule"`

	Gain  Estimate `json:"gain"`  // true mean of the last skill minus that of the first, on the selection items
	Ahead Estimate `json:"ahead"` // the gain minus that of the default in the same worlds, run by run
	Worse Estimate `json:"worse"` // share of runs whose last skill is truly worse than the first
	Taken Estimate `json:"taken"` // share of the texts that became part of the skill
	Cost  Estimate `json:"cost"`  // selection rollouts of a run, in passes over the selection items
}

// guidedEditWorld is where the edits come from: gains are rare in it.
func (g Gates) guidedEditWorld() World { return g.Worlds[min(1, len(g.Worlds)-1)] }

// guidanceCells lists the runs with guidance.
func (g Gates) guidanceCells() []*cell {
	var out []*cell
	for _, w := range guidanceWorlds() {
		for _, n := range g.Sizes {
			for _, r := range guidanceRules() {
				out = append(out, &cell{world: w, items: n, rule: r, runs: g.Runs, train: g.guided})
			}
		}
	}
	return out
}

// guided is one training run in which the cell's rule judges the cell's guidance.
func (g Gates) guided(ctx context.Context, c *cell, seed uint64) (history, error) {
	edits := gate.Race{Risk: 0.5, Confirm: gate.ConfirmFull}
	t, h := begin(g.guidedEditWorld(), c.items, edits, seed)
	for epoch := 1; epoch <= guidedEpochs; epoch++ {
		for range guidedEdits {
			h.steps++
			if err := t.step(ctx, &h); err != nil {
				return h, err
			}
		}
		if epoch == 1 {
			continue
		}
		t.world, t.rule = c.world, c.rule.Policy
		if c.rule.Name == forcedRule && epoch == guidedEpochs {
			t.rule = edits // text that nobody measured is not shipped
		}
		h.steps++
		accepts := h.accepts
		if err := t.step(ctx, &h); err != nil {
			return h, err
		}
		h.guided += h.accepts - accepts
		t.world, t.rule = g.guidedEditWorld(), edits
	}
	h.end = t.current.truth(c.items)
	return h, nil
}

// guidanceRows sums up cells, each next to the default in the same world.
func guidanceRows(cells []*cell) []GuidanceRow {
	var out []GuidanceRow
	var shipped *cell
	for _, c := range cells {
		if c.rule.Name == noWorseRule {
			shipped = c
		}
		r := GuidanceRow{World: c.world.Name, Items: c.items, Rule: c.rule.Name}
		r.Gain = c.estimate(func(_ int, h history) float64 { return h.end - h.start })
		r.Ahead = c.estimate(func(i int, h history) float64 { return h.end - shipped.out[i].end })
		r.Worse = c.estimate(func(_ int, h history) float64 { return share(h.end < h.start-1e-9) })
		r.Taken = c.estimate(func(_ int, h history) float64 { return float64(h.guided) / (guidedEpochs - 1) })
		r.Cost = c.estimate(func(_ int, h history) float64 { return float64(h.rollouts) / float64(c.items) })
		out = append(out, r)
	}
	return out
}

// guidanceFinding holds the default for guidance against what it is made for.
func guidanceFinding(rows []GuidanceRow) Finding {
	helps := guidanceWorlds()[0].Name
	taken := map[int]float64{} // by the default, of what mostly helps
	n, all, not := 0, 0, []string(nil)
	for _, r := range rows {
		switch {
		case r.World != helps:
		case r.Rule == noWorseRule:
			taken[r.Items] = r.Taken.Mean
		case r.Rule == likeEditRule:
			if all++; taken[r.Items] > r.Taken.Mean {
				n++
			} else {
				not = append(not, fmt.Sprintf("%d items", r.Items))
			}
		}
	}
	return Finding{"helpful guidance is taken more often than if judged like an edit", n == all, inWords(n, all, not)}
}

// overtaken lists where another rule gains more than the default by over two
// standard errors.
func overtaken(rows []GuidanceRow) []string {
	var out []string
	for _, r := range rows {
		if r.Ahead.Mean > 2*r.Ahead.SE {
			out = append(out, fmt.Sprintf("%s %d, %s", r.World, r.Items, r.Rule))
		}
	}
	return out
}

const guidanceText = `## Guidance from the end of an epoch

A slow update writes a text of many small lessons. By itself it would rarely be ahead
by half a standard error, so the default asks only that it is no worse: it refuses what
the race rejects or what is more than a standard error behind, and confirms nothing.
Here %d epochs of %d edits each, from the world "%s" and under the default rule, are
followed by such a text from the second epoch on; the rules below judge these texts
alone. *Taken* is the share of them that became part of the skill, *cost* the selection
rollouts of a whole run in passes. What is forced in is measured by the next comparison,
and the last text of a run is raced all the same before it can be shipped.

`

const guidanceTrade = `No way to judge such texts is the best everywhere: what is easily taken is worth most
where they mostly help and costs most where they mostly harm. A run cannot tell which
of these worlds it is in.`

// guidance writes the section about it.
func (r Report) guidance(b *strings.Builder) {
	if len(r.Guidance) == 0 {
		return
	}
	fmt.Fprintf(b, guidanceText, guidedEpochs, guidedEdits, Gates{Worlds: r.Worlds}.guidedEditWorld().Name)
	b.WriteString("| texts | that help | by | that harm | by | deviation between items |\n|---|---|---|---|---|---|\n")
	for _, w := range guidanceWorlds() {
		fmt.Fprintf(b, "| %s | %.0f %% | +%g | %.0f %% | -%g | %g |\n", w.Name, 100*w.Good, w.GoodShift, 100*w.Bad, w.BadShift, w.Spread)
	}
	b.WriteString("\n| texts, items | rule | gain | ahead of the default | worse | taken | cost |\n|---|---|---|---|---|---|---|\n")
	for _, row := range r.Guidance {
		fmt.Fprintf(b, "| %s %d | %s | %s | %s | %s | %s | %s |\n", row.World, row.Items, row.Rule,
			row.Gain.thousandths(), row.Ahead.thousandths(), row.Worse.hundredths(), row.Taken.hundredths(), row.Cost.hundredths())
	}
	b.WriteString("\nMore than two standard errors ahead of the default:")
	where := overtaken(r.Guidance)
	if len(where) == 0 {
		b.WriteString(" none.\n\n")
		return
	}
	fmt.Fprintf(b, "\n\n- %s\n\n%s\n\n", strings.Join(where, "\n- "), guidanceTrade)
}
