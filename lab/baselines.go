package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/worlds"
	"github.com/seed-f4525e22/skillopt/lab/bench"
)

// baselinesOptions are the flags of baselines.
type baselinesOptions struct {
	setup bench.Setup
	files files
}

func baselinesCommand(a *app) *cobra.Command {
	o := baselinesOptions{setup: bench.Default()}
	c := &cobra.Command{
		Use:   "baselines",
		Short: "Compare training with what costs as much or less",
		Long: `Let five ways to get a skill compete in simulated worlds, each with the same budget
of model calls: no skill; the starting skill; one that the optimizer writes in one
reply from all train tasks; the best on selection of as many such one-shots as the
budget allows, each from half of the train tasks; and the skill that training makes.
All are scored on the same test tasks, outside of the budget. The column "calls"
says what was used; the last step of training can pass the budget by a few calls.

The optimizer of the simulation reads a rule off a single failure, and one-shots
may make as many changes as they like: they are at their best here.

No model is called: the figures are about methods in these worlds.
`,
		Example: `  go run . baselines
  go run . baselines --worlds 20 --calls 600 --svg baselines.svg
  go run . baselines --rules 40 --depth 3 --harm 0.5 --json`,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd, a) },
	}
	addSetupFlags(c, &o.setup)
	addFigureFlags(c, &o.files)
	return c
}

// addSetupFlags adds the flags that say what contestants share.
func addSetupFlags(c *cobra.Command, s *bench.Setup) {
	f := c.Flags()
	f.IntVar(&s.Worlds, "worlds", s.Worlds, "worlds to compete in; they differ by their seed alone")
	addCompetitionFlags(c, &s.World)
	f.IntVar(&s.Train, "train", s.Train, "tasks to learn from")
	f.IntVar(&s.Selection, "selection", s.Selection, "tasks to select by")
	f.IntVar(&s.Test, "test", s.Test, "tasks to score on")
	f.IntVar(&s.Calls, "calls", s.Calls, "budget of model calls of each contestant in one world")
	f.IntVar(&s.Epochs, "epochs", s.Epochs, "epochs of training, as far as the budget reaches")
	f.IntVar(&s.Batch, "batch", s.Batch, "tasks of a train batch")
}

// addCompetitionFlags adds the flags that say what the worlds are like.
func addCompetitionFlags(c *cobra.Command, p *worlds.Params) {
	f := c.Flags()
	f.Uint64Var(&p.Seed, "seed", p.Seed, "seed of everything that is drawn")
	f.IntVar(&p.Rules, "rules", p.Rules, "rules that are to be learnt")
	f.IntVar(&p.Depth, "depth", p.Depth, "rules that one answer needs, at most (1 to 3)")
	f.StringVar(&p.Optimizer, "optimizer", p.Optimizer, "what the optimizer cannot do: "+strings.Join(worlds.OptimizerNames(), ", "))
	f.Float64Var(&p.Plain, "plain", p.Plain, "share of tasks that no rule concerns: always solved")
	f.Float64Var(&p.Skew, "skew", p.Skew, "0: kinds of tasks are alike in number; above: some are rare")
	f.Float64Var(&p.Noise, "noise", p.Noise, "share of tasks that can never be solved")
	f.Float64Var(&p.Flip, "flip", p.Flip, "share of answers that forget the skill")
	f.Float64Var(&p.Harm, "harm", p.Harm, "share of failure analyses that propose a harmful rule as well")
	f.Float64Var(&p.Fooled, "fooled", p.Fooled, "share of harmful rules that ranking takes for good ones")
	f.Float64Var(&p.Note, "note", p.Note, "share of success analyses that propose a useless note")
}

// run has the baselines compete.
func (o *baselinesOptions) run(cmd *cobra.Command, a *app) error {
	s := o.setup
	s.Seed = s.World.Seed
	if err := s.Validate(); err != nil {
		return usagef("--%v; --help lists the flags", err)
	}
	r, err := bench.Run(cmd.Context(), s, bench.Baselines())
	if err != nil {
		return err
	}
	csv, err := csvOf(r)
	if err != nil {
		return err
	}
	chart := r.Scores("Test score under one budget, by how the skill was made")
	if err := o.files.write(texts{csv: csv, svg: chart.SVG()}); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(r)
	}
	return printStandings(a.out, r)
}

// printStandings prints the scores of the contestants.
func printStandings(out io.Writer, r bench.Result) error {
	s := r.Setup
	fmt.Fprintf(out, "simulated: %d worlds, seed %d; at most %d model calls each\n", s.Worlds, s.Seed, s.Calls)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "  \ttest\t95 %%\tcalls\tvs %s\n", r.Rows[0].Name)
	for _, row := range r.Rows {
		versus := ""
		if row.Difference != nil {
			versus = pointsText(*row.Difference)
		}
		fmt.Fprintf(w, "  %s\t%.3f\t%s\t%.0f\t%s\n", row.Name, row.Score.Mean, intervalText(row.Score), row.Calls, versus)
	}
	return w.Flush()
}

func intervalText(e bench.Estimate) string {
	if e.Low == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f-%.3f", *e.Low, *e.High)
}

// pointsText renders a difference in points of the score.
func pointsText(e bench.Estimate) string {
	if e.Low == nil {
		return fmt.Sprintf("%+.1f", 100*e.Mean)
	}
	return fmt.Sprintf("%+.1f (%+.1f to %+.1f)", 100*e.Mean, 100**e.Low, 100**e.High)
}
