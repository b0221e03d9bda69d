package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/lab"
)

func (a *app) labGatesCommand() *cobra.Command {
	var g lab.Gates
	var files labFiles
	c := &cobra.Command{
		Use:   "gates",
		Short: "Simulate training under different gates and compare what they are worth",
		Long: `Simulate training under different gates: how much better the skill truly becomes,
how often it ends worse than it began, how far the reported score is from the
truth, and what each step costs. The gates are the real ones, the worlds are made
up, and no model is asked. Equal seeds give equal results.

The numbers in docs/gates.md are made by this command.`,
		Example: `  skillopt lab gates                          minutes on two cores
  skillopt lab gates --runs 10 --seed 7       a quick look
  skillopt lab gates --csv g.csv --svg g.svg
  skillopt lab gates --out docs/gates.md`,
		Args: exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if g.Runs < 2 {
				return usagef("--runs is %d: use 2 or more, one run has no standard error", g.Runs)
			}
			return a.runLabGates(c.Context(), g, files)
		},
	}
	c.Flags().IntVar(&g.Runs, "runs", lab.DefaultRuns, "simulated training runs for each row, 2 or more")
	c.Flags().Int64Var(&g.Seed, "seed", 1, "seed of all that is drawn")
	addFigureFlags(c, &files)
	c.Flags().StringVar(&files.page, "out", "", "write the page with all tables to this file")
	return c
}

func (a *app) runLabGates(ctx context.Context, g lab.Gates, files labFiles) error {
	report, err := reading(ctx, a.Signals, g.Run)
	if err != nil {
		return err
	}
	var table strings.Builder
	if err := report.CSV(&table); err != nil {
		return err
	}
	command := fmt.Sprintf("skillopt lab gates --runs %d --seed %d --out docs/gates.md", g.Runs, g.Seed)
	if err := a.writeLab(files, labTexts{csv: table.String(), svg: report.SVG(), page: report.Markdown(command)}); err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, report)
	}
	fmt.Fprint(a.Out, report.Text())
	return nil
}
