package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/lab"
)

// labGatesOptions are the flags of lab gates.
type labGatesOptions struct {
	study lab.Gates
	files labFiles
}

func labGatesCommand(a *app) *cobra.Command {
	var o labGatesOptions
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
  skillopt lab gates --runs 10 --run runs/gates-1 && skillopt runs show runs/gates-1
  skillopt lab gates --out docs/gates.md`,
		Args: exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c.Context(), a) },
	}
	c.Flags().IntVar(&o.study.Runs, "runs", lab.DefaultRuns, "simulated training runs for each row, 2 or more")
	c.Flags().Int64Var(&o.study.Seed, "seed", 1, "seed of all that is drawn")
	addFigureFlags(c, &o.files)
	c.Flags().StringVar(&o.files.page, "out", "", "write the page with all tables to this file")
	addRunFlag(c, &o.files)
	return c
}

// run simulates training under gates.
func (o *labGatesOptions) run(ctx context.Context, a *app) error {
	if o.study.Runs < 2 {
		return usagef("--runs is %d: use 2 or more, one run has no standard error", o.study.Runs)
	}
	command := fmt.Sprintf("skillopt lab gates --runs %d --seed %d", o.study.Runs, o.study.Seed)
	report, err := studied(ctx, a, o.files, command, o.study.Run)
	if err != nil {
		return err
	}
	var table strings.Builder
	if err := report.CSV(&table); err != nil {
		return err
	}
	if err := o.files.write(a, labTexts{csv: table.String(), svg: report.SVG(), page: report.Markdown(command + " --out docs/gates.md")}); err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, report)
	}
	fmt.Fprint(a.Out, report.Text())
	return nil
}
