package lab

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/stats"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// What gate.keep costs and errs: single decisions on candidates of which it is known whether
// they lose what the current skill solves, and whole runs in a world where edits help some
// items and harm others.
const (
	keepTrials  = 10  // decisions for each run of a row
	keepSolved  = 0.6 // share of the items that the current skill solves
	keepGained  = 0.2 // share of them that the candidate solves besides
	keepItems   = 40
	solvedFrom  = 0.8 // chance from which on an item counts as solved,
	lostTo      = 0.3 // and to which it has to fall to count as lost
	keepRunCost = 20  // passes over the selection items of a whole run
)

// keepCase is a kind of candidate.
type keepCase struct {
	name  string
	flips float64 // chance of an answer to come out otherwise than it mostly does
	lost  int     // items that the current skill solves and the candidate does not
	to    float64 // chance that it passes one of them all the same; below 0: flips
}

// keepCases are those that are tried. Of the first ones each rejection for a loss is wrong.
func keepCases() []keepCase {
	return []keepCase{
		{"nothing lost, no flips", 0, 0, -1},
		{"nothing lost, 5 % flips", 0.05, 0, -1},
		{"nothing lost, 10 % flips", 0.1, 0, -1},
		{"nothing lost, 20 % flips", 0.2, 0, -1},
		{"nothing lost, 35 % flips", 0.35, 0, -1},
		{"1 lost, no flips", 0, 1, -1},
		{"1 lost, 5 % flips", 0.05, 1, -1},
		{"1 lost, 10 % flips", 0.1, 1, -1},
		{"1 lost, 20 % flips", 0.2, 1, -1},
		{"3 lost, 10 % flips", 0.1, 3, -1},
		{"1 at half, 5 % flips", 0.05, 1, 0.5},
	}
}

// KeepRow is what keep does with one kind of candidates. Shares are of the decisions in which
// the gate alone would have accepted.
type KeepRow struct {
	Candidates string   `json:"candidates"`
	Rule       string   `json:"rule"`
	Accepted   Estimate `json:"accepted"` // share of all decisions, by the gate alone
	Rejected   Estimate `json:"rejected"` // share of these, for a loss
	Asked      Estimate `json:"asked"`    // fresh answers of a decision, both arms together
}

// keepRules are the gates that are held to what was won.
func keepRules() []Rule {
	return []Rule{{strictRule, gate.Strict{}}, {measuredRule, gate.Race{Confirm: gate.ConfirmMeasured}}}
}

// keepCells lists the cells of single decisions.
func (g Gates) keepCells() []*cell {
	var out []*cell
	for _, k := range keepCases() {
		for _, r := range keepRules() {
			out = append(out, &cell{
				world: World{Name: k.name}, items: keepItems, rule: r, runs: keepTrials * g.Runs,
				train: func(ctx context.Context, c *cell, seed uint64) (history, error) { return k.decide(ctx, c, seed) },
			})
		}
	}
	return out
}

// decide has a gate that is held to what was won decide on one candidate.
func (k keepCase) decide(ctx context.Context, c *cell, seed uint64) (history, error) {
	incumbent, candidate := k.arms(c.items)
	t := &trainer{rule: gate.Keep{Policy: c.rule.Policy}, seed: seed, items: make([]string, c.items)}
	t.take(incumbent, t.firstPass(incumbent))
	res, err := t.trial(ctx, candidate, 1)
	h := history{steps: 1, asked: len(res.Kept), rollouts: len(res.Readings)}
	if v := res.Verdict; v.Phase == gate.PhaseKeep {
		h.vetoed = true
	} else if v.Action.Accepted() {
		h.accepts = 1
	}
	return h, err
}

// arms are the two skills.
func (k keepCase) arms(n int) (incumbent, candidate *skillState) {
	before, after := make([]float64, n), make([]float64, n)
	logit := func(p float64) float64 {
		p = min(1-1e-9, max(1e-9, p))
		return math.Log(p / (1 - p))
	}
	solves := int(keepSolved * float64(n))
	for i := range before {
		before[i], after[i] = logit(k.flips), logit(k.flips)
		if i < solves {
			before[i], after[i] = logit(1-k.flips), logit(1-k.flips)
		} else if i < solves+int(keepGained*float64(n)) {
			after[i] = logit(1 - k.flips)
		}
		if to := k.to; i < k.lost {
			if to < 0 {
				to = k.flips
			}
			after[i] = logit(to)
		}
	}
	return newSkill(0, before), newSkill(1, after)
}

func keepRowsOf(cells []*cell) []KeepRow {
	var out []KeepRow
	for _, c := range cells {
		passed := func(h history) bool { return h.vetoed || h.accepts > 0 }
		r := KeepRow{Candidates: c.world.Name, Rule: c.rule.Name}
		r.Accepted = c.estimate(func(_ int, h history) float64 { return share(passed(h)) })
		r.Asked = c.estimate(func(_ int, h history) float64 { return float64(h.asked) })
		var vetoed []float64
		for _, h := range c.out {
			if passed(h) {
				vetoed = append(vetoed, share(h.vetoed))
			}
		}
		r.Rejected.Mean, r.Rejected.SE = meanAndError(vetoed)
		out = append(out, r)
	}
	return out
}

// tradeWorlds are worlds in which an edit that helps most items harms others.
func tradeWorlds() []World {
	return []World{
		{Name: "trade-offs", Good: 0.33, GoodShift: 0.86, Bad: 0.57, BadShift: 0.54, Spread: 1.5},
		{Name: "steep trade-offs", Good: 0.33, GoodShift: 1, Bad: 0.57, BadShift: 0.54, Spread: 3},
	}
}

// tradeCells lists whole runs with and without keep, each rule alone first.
func (g Gates) tradeCells() []*cell {
	var out []*cell
	for _, w := range tradeWorlds() {
		for _, r := range keepRules() {
			for _, rule := range []Rule{r, {r.Name + ", keep", gate.Keep{Policy: r.Policy}}} {
				out = append(out, &cell{world: w, items: keepItems, rule: rule, until: limit{rollouts: keepRunCost * keepItems}, runs: g.Runs})
			}
		}
	}
	return out
}

// TradeRow is what a rule comes to over whole runs in a world of trade-offs.
type TradeRow struct {
	World string   `json:"world"`
	Rule  string   `json:"rule"`
	Gain  Estimate `json:"gain"`  // true mean of the last skill minus that of the first
	Lost  Estimate `json:"lost"`  // items that the first skill solves and the last one does not
	Ahead Estimate `json:"ahead"` // of the gain, of the same rule without keep
	Fewer Estimate `json:"fewer"` // items lost by the same rule without keep, minus Lost
	Steps Estimate `json:"steps"`
}

func tradeRows(cells []*cell) []TradeRow {
	var out []TradeRow
	for i, c := range cells {
		alone := cells[i-i%2]
		r := TradeRow{World: c.world.Name, Rule: c.rule.Name}
		r.Gain = c.estimate(func(_ int, h history) float64 { return h.end - h.start })
		r.Lost = c.estimate(func(_ int, h history) float64 { return float64(h.lost) })
		r.Ahead = c.estimate(func(i int, h history) float64 { return h.end - alone.out[i].end })
		r.Fewer = c.estimate(func(i int, h history) float64 { return float64(alone.out[i].lost - h.lost) })
		r.Steps = c.estimate(func(_ int, h history) float64 { return float64(h.steps) })
		out = append(out, r)
	}
	return out
}

// lostItems counts those of the first n items that one skill solves and another has lost.
func lostItems(before, after *skillState, n int) int {
	lost := 0
	for i := range n {
		if before.chance[i] >= solvedFrom && after.chance[i] <= lostTo {
			lost++
		}
	}
	return lost
}

// keepFinding holds keep against what it promises of candidates that lose nothing.
func keepFinding(rows []KeepRow) Finding {
	n, all, not := 0, 0, []string(nil)
	for _, r := range rows {
		if !strings.HasPrefix(r.Candidates, "nothing lost") {
			continue
		}
		if all++; r.Rejected.Mean-2*r.Rejected.SE <= keepFalse {
			n++
		} else {
			not = append(not, r.Candidates+", "+r.Rule)
		}
	}
	return Finding{"gate.keep rejects at most 5 % of the candidates that lose nothing", n == all, inWords(n, all, not)}
}

// keepFalse is the share of such candidates that may be rejected for a loss.
const keepFalse = 0.05

const keepText = `## What was won is kept

With ` + "`gate.keep: true`" + ` a candidate that the gate would accept is rejected if it loses an item
that the current skill wins. An item is won where at least three of four answers read of the
current skill pass, lost where at most half of the candidate's do. That is mostly luck where
answers vary, so each such loss is asked afresh, one answer of both skills at a time, and it is
confirmed only if Fisher's exact test finds by the fresh answers alone that the candidate passes
less, at 5 %% shared by all losses of the candidate. That takes at most %d answers of each skill about
one loss, %d with up to 3, %d with up to 9, %d with up to 29, %d with up to 91; what is left is not asked
when it can change nothing any more. Fresh answers that could not be measured neither confirm nor dismiss a loss: then the
verdict says that it is not known, and the candidate is in.

So of candidates that pass each item as often as the current skill, however often that is, at most 5 %%
are rejected. An item that the current skill passes in 80 %% of its answers, and the candidate too,
does so in %.2g %% of the decisions when it is the only such item. Here the current skill solves
%.0f %% of %d items, the candidate %.0f %% more, and an answer comes out otherwise in the given share;
%d decisions a row. *Accepted* is by the gate alone, *rejected* the share of these that keep rejects,
*asked* the fresh answers of a decision, both skills together.

`

// keepSection writes the section about it.
func (r Report) keepSection(b *strings.Builder) {
	if len(r.Keep) == 0 {
		return
	}
	most := func(losses int) int { return gate.KeepMost(losses) / (2 * losses) }
	fmt.Fprintf(b, keepText, most(1), most(3), most(9), most(29), most(91), 100*flakyVeto(0.8), 100*keepSolved, keepItems, 100*keepGained, keepTrials*r.Runs)
	b.WriteString("| candidates | rule | accepted | rejected | asked |\n|---|---|---|---|---|\n")
	for _, row := range r.Keep {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", row.Candidates, row.Rule, row.Accepted.hundredths(), row.Rejected.thousandths(), row.Asked.tenths())
	}
	b.WriteString(tradeText)
	b.WriteString("| world | rule | gain | ahead of the rule alone | items lost | fewer than the rule alone | steps |\n|---|---|---|---|---|---|---|\n")
	for _, row := range r.Trade {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %.0f |\n", row.World, row.Rule, row.Gain.thousandths(), row.Ahead.thousandths(), row.Lost.hundredths(), row.Fewer.hundredths(), row.Steps.Mean)
	}
	b.WriteString("\n")
}

const tradeText = `
A loss can be confirmed only where the first answers show it: with 10 % flips that is in 81 of 100
decisions. An item that fell to half is mostly let through: the means have to speak of it. Whole runs, under a budget of
20 passes over 40 items that pays for the fresh answers too, in worlds where an edit shifts each item
by its own amount (deviation 1.5 and 3 around the mean shift), so that what helps most items harms some.
*Items lost* are those with a chance of .8 or more for the first skill and of .3 or less for the last.
It is a choice: to keep what was won costs edits that would have gained more than they lose.

`

// flakyVeto is the chance that an item which both skills pass with chance p rejects a
// candidate, if it is the only one that seems to be lost.
func flakyVeto(p float64) float64 {
	m := gate.KeepMost(1) / 2
	chance := func(k int) float64 {
		return math.Exp(lchoose(m, k)) * math.Pow(p, float64(k)) * math.Pow(1-p, float64(m-k))
	}
	sum := 0.0
	for won := range m + 1 {
		for kept := range m + 1 {
			if stats.FisherExact(won, m, kept, m).Greater <= keepFalse {
				sum += chance(won) * chance(kept)
			}
		}
	}
	return p * (1 - p) * sum
}

func lchoose(n, k int) float64 {
	of := func(n int) float64 {
		v, _ := math.Lgamma(float64(n + 1))
		return v
	}
	return of(n) - of(k) - of(n-k)
}

// passedIn are how many evaluations passed, of sums of hard scores.
func passedIn(pooled []gate.Pooled) []int {
	out := make([]int, len(pooled))
	for i, p := range pooled {
		out[i] = int(math.Round(p.Sum))
	}
	return out
}

// trial has the gate decide on a candidate.
func (t *trainer) trial(ctx context.Context, candidate *skillState, number uint64) (gate.Result, error) {
	trial := gate.Trial{
		Items: t.items, Incumbent: t.outcomes,
		Projection: score.Projection{Metric: score.Hard},
		Seed:       int64(mix(t.seed, purposeOrder, number)),
		Past:       map[gate.Arm][]gate.Pooled{gate.Incumbent: t.pooled},
		Passed:     map[gate.Arm][]int{gate.Incumbent: passedIn(t.pooled)},
		Next:       map[gate.Arm][]int{gate.Incumbent: t.next},
	}
	return gate.Run(ctx, trial, t.rule, func(_ context.Context, item int, arm gate.Arm, sample int) (trajectory.Outcome, error) {
		if arm == gate.Incumbent {
			return t.draw(t.current, item, sample), nil
		}
		return t.draw(candidate, item, sample), nil
	})
}

func (e Estimate) tenths() string { return fmt.Sprintf("%.1f (%.1f)", e.Mean, e.SE) }
