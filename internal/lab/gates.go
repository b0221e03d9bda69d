package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Worlds are the regimes that gates are compared in. Where most edits help or
// harm much a gate has little to decide; it matters where gains are rare.
func Worlds() []World {
	return []World{
		{Name: "rich", Good: 0.33, GoodShift: 0.86, Bad: 0.57, BadShift: 0.54, Spread: 0.2},
		{Name: "poor", Good: 0.15, GoodShift: 0.6, Bad: 0.5, BadShift: 0.67},
		{Name: "late", Good: 0.03, GoodShift: 0.48, Bad: 0.63, BadShift: 0.32, Spread: 0.14},
	}
}

// Gates is an experiment. The zero value of a field takes the default beside it.
type Gates struct {
	Runs   int   // simulated training runs a cell; 120
	Seed   int64 // equal seeds give equal results, however much runs at once
	Budget int   // of a run under an equal budget, in passes over the selection items; 20. With the batches counted it is twice as much.
	Steps  int   // of a run under equal steps; 6
	Sizes  []int // of the selection split; 40 and 100
	Worlds []World
	Rules  []Rule

	Null    int // runs of an optimizer that does nothing, for the certificate; 100
	Workers int // runs at once; as many as there are cores
}

// defaults of Gates
const (
	DefaultRuns   = 120
	DefaultBudget = 20
	DefaultSteps  = 6

	DefaultNull = 100

	nothingSteps = 20 // edits in the runs of an optimizer that does nothing
	nothingItems = 40 // selection in those that are certified
)

func (g Gates) withDefaults() Gates {
	set := func(n *int, value int) {
		if *n == 0 {
			*n = value
		}
	}
	set(&g.Runs, DefaultRuns)
	set(&g.Budget, DefaultBudget)
	set(&g.Steps, DefaultSteps)
	set(&g.Null, DefaultNull)
	set(&g.Workers, runtime.GOMAXPROCS(0))
	if g.Sizes == nil {
		g.Sizes = []int{40, 100}
	}
	if g.Worlds == nil {
		g.Worlds = Worlds()
	}
	if g.Rules == nil {
		g.Rules = Rules()
	}
	return g
}

func (g Gates) validate() error {
	var errs []error
	if g.Runs < 2 {
		errs = append(errs, fmt.Errorf("%d runs: use at least 2, there is no standard error with fewer", g.Runs))
	}
	if g.Budget < 1 || g.Steps < 1 {
		errs = append(errs, fmt.Errorf("a budget of %d passes and %d steps: use at least 1", g.Budget, g.Steps))
	}
	for _, n := range g.Sizes {
		if n < 2 {
			errs = append(errs, fmt.Errorf("a selection of %d items: use at least 2", n))
		}
	}
	return errors.Join(errs...)
}

// Estimate is a mean over runs with its standard error.
type Estimate struct {
	Mean float64 `json:"mean"`
	SE   float64 `json:"se"`
}

// Row is what one rule came to in one world. Scores go from 0 to 1.
type Row struct {
	World string `json:"world"`
	Items int    `json:"items"`
	Rule  string `json:"rule"`

	Gain      Estimate `json:"gain"`      // true mean of the last skill minus that of the first, on the selection items
	Worse     Estimate `json:"worse"`     // share of runs whose last skill is truly worse than the first
	Excess    Estimate `json:"excess"`    // reported minus true score of the last skill
	Cost      Estimate `json:"cost"`      // selection rollouts a step, in passes over the selection items
	Steps     Estimate `json:"steps"`     // steps a run
	Accepts   Estimate `json:"accepts"`   // share of steps whose edit was accepted
	First     Estimate `json:"first"`     // share of runs whose first edit was accepted
	Certified Estimate `json:"certified"` // share of runs whose gain is certified on a test split of 100 items

	// Ahead is the gain minus that of strict in the same worlds, run by run.
	Ahead Estimate `json:"ahead"`
}

// Report holds the results of an experiment.
type Report struct {
	Runs   int     `json:"runs"`
	Seed   int64   `json:"seed"`
	Budget int     `json:"budget"`
	Steps  int     `json:"steps"`
	Sizes  []int   `json:"sizes"`
	Worlds []World `json:"worlds"`

	// EqualBudget ends runs by their selection rollouts, EqualSteps by their steps.
	// EqualTotal is in between: each step costs as much again for its batch.
	EqualBudget []Row `json:"equal_budget"`
	EqualTotal  []Row `json:"equal_total"`
	EqualSteps  []Row `json:"equal_steps"`

	// Nothing is the same under edits that do nothing, over 20 steps and for
	// selections of other sizes.
	Nothing []Row `json:"nothing"`

	// Guidance tries ways to judge the text of slow updates.
	Guidance []GuidanceRow `json:"guidance"`

	// Keep and Trade try gate.keep, on single decisions and over whole runs.
	Keep  []KeepRow  `json:"keep"`
	Trade []TradeRow `json:"trade"`

	// NullRuns and NullCertified: of that many runs of an optimizer that does
	// nothing, so many were certified to be better under the default rule.
	NullRuns      int `json:"null_runs"`
	NullCertified int `json:"null_certified"`

	Findings []Finding `json:"findings"`
}

// cell is one row of a table in the making.
type cell struct {
	world World
	items int
	rule  Rule
	until limit
	runs  int
	out   []history

	train func(ctx context.Context, c *cell, seed uint64) (history, error) // nil: edits until the limit
}

// run is one training run.
func (c *cell) run(ctx context.Context, seed uint64) (history, error) {
	if c.train != nil {
		return c.train(ctx, c, seed)
	}
	return train(ctx, c.world, c.items, c.rule.Policy, c.until, seed)
}

// Run carries out the experiment on all cores. The context ends it early, with
// its error.
func (g Gates) Run(ctx context.Context) (Report, error) {
	g = g.withDefaults()
	if err := g.validate(); err != nil {
		return Report{}, fmt.Errorf("lab: %w", err)
	}
	budget, total, steps := g.cells(g.budget), g.cells(g.total), g.cells(g.steps)
	nothing, guidance := g.nothing(), g.guidanceCells()
	keep, trade := g.keepCells(), g.tradeCells()
	all := slices.Concat(budget, total, steps, nothing, guidance, keep, trade)
	if err := runCells(ctx, g, all); err != nil {
		return Report{}, err
	}
	r := Report{
		Runs: g.Runs, Seed: g.Seed, Budget: g.Budget, Steps: g.Steps, Sizes: g.Sizes, Worlds: g.Worlds,
		EqualBudget: rows(budget), EqualTotal: rows(total), EqualSteps: rows(steps), Nothing: rows(nothing),
		Guidance: guidanceRows(guidance), Keep: keepRowsOf(keep), Trade: tradeRows(trade),
	}
	r.NullRuns, r.NullCertified = certified(nothing, g.Null)
	r.Findings = findings(r)
	return r, nil
}

func (g Gates) budget(n int, _ string) (limit, bool) { return limit{rollouts: g.Budget * n}, true }
func (g Gates) steps(int, string) (limit, bool)      { return limit{steps: g.Steps}, true }

// total is tried for the rules between which the choice is.
func (g Gates) total(n int, rule string) (limit, bool) {
	return limit{rollouts: 2 * g.Budget * n, overhead: n}, slices.Contains(mainRules(), rule)
}

// cells lists the cells of a table: every rule that has a limit, in every regime.
func (g Gates) cells(until func(n int, rule string) (limit, bool)) []*cell {
	var out []*cell
	for _, w := range g.Worlds {
		for _, n := range g.Sizes {
			for _, r := range g.Rules {
				if l, ok := until(n, r.Name); ok {
					out = append(out, &cell{world: w, items: n, rule: r, until: l, runs: g.Runs})
				}
			}
		}
	}
	return out
}

// nothing lists those of an optimizer whose edits do nothing.
func (g Gates) nothing() []*cell {
	var out []*cell
	for _, n := range []int{10, 20, 40, 100, 140} {
		for _, r := range Rules() {
			if slices.Contains([]string{strictRule, fullRule, measuredRule, discordantRule}, r.Name) {
				c := &cell{world: World{Name: "nothing"}, items: n, rule: r, until: limit{steps: nothingSteps}, runs: g.Runs}
				if n == nothingItems {
					c.runs = max(g.Runs, g.Null)
				}
				out = append(out, c)
			}
		}
	}
	return out
}

// runCells fills the cells. Which goroutine makes a run does not matter: each
// has a seed and a place of its own.
func runCells(ctx context.Context, g Gates, cells []*cell) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(g.Workers)
	for _, c := range cells {
		c.out = make([]history, c.runs)
		for i := range c.out {
			if groupCtx.Err() != nil {
				break
			}
			group.Go(func() error {
				if groupCtx.Err() != nil {
					return context.Cause(groupCtx)
				}
				var err error
				c.out[i], err = c.run(groupCtx, mix(uint64(g.Seed), uint64(c.items), uint64(i)))
				if err != nil {
					return fmt.Errorf("lab: %s, %d items, %s, run %d: %w", c.world.Name, c.items, c.rule.Name, i, err)
				}
				return nil
			})
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// rows sums up cells. Strict must come before the rules that are compared with
// it in each world.
func rows(cells []*cell) []Row {
	var out []Row
	var strict *cell
	for _, c := range cells {
		if c.rule.Name == strictRule {
			strict = c
		}
		out = append(out, c.row(strict))
	}
	return out
}

func (c *cell) row(strict *cell) Row {
	r := Row{World: c.world.Name, Items: c.items, Rule: c.rule.Name}
	r.Gain = c.estimate(func(_ int, h history) float64 { return h.end - h.start })
	r.Worse = c.estimate(func(_ int, h history) float64 { return share(h.end < h.start-1e-9) })
	r.Excess = c.estimate(func(_ int, h history) float64 { return h.reported - h.end })
	r.Cost = c.estimate(func(_ int, h history) float64 { return float64(h.rollouts) / float64(h.steps*c.items) })
	r.Steps = c.estimate(func(_ int, h history) float64 { return float64(h.steps) })
	r.Accepts = c.estimate(func(_ int, h history) float64 { return float64(h.accepts) / float64(h.steps) })
	r.First = c.estimate(func(_ int, h history) float64 { return share(h.first) })
	r.Certified = c.estimate(func(_ int, h history) float64 { return share(h.certified) })
	if strict != nil {
		r.Ahead = c.estimate(func(i int, h history) float64 { return h.end - strict.out[i].end })
	}
	return r
}

func share(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func (c *cell) estimate(of func(i int, h history) float64) Estimate {
	xs := make([]float64, len(c.out))
	for i, h := range c.out {
		xs[i] = of(i, h)
	}
	mean, se := meanAndError(xs)
	if math.Abs(mean) < 1e-12 { // rounding of sums of equal numbers
		mean = 0
	}
	return Estimate{Mean: mean, SE: se}
}

// certified counts certificates under the default rule over edits that do
// nothing, in the first runs at 40 items.
func certified(nothing []*cell, first int) (runs, wrong int) {
	for _, c := range nothing {
		if c.items != nothingItems || c.rule.Name != measuredRule {
			continue
		}
		for _, h := range c.out[:first] {
			runs++
			if h.certified {
				wrong++
			}
		}
	}
	return runs, wrong
}
