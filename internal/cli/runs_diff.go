package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
)

// runsDiffOptions are the flags of runs diff.
type runsDiffOptions struct{ from, to string }

func runsDiffCommand(a *app) *cobra.Command {
	var o runsDiffOptions
	c := &cobra.Command{
		Use:   "diff RUN [OTHER_RUN]",
		Short: "Show how the skill changed: seed to best, or best of two runs",
		Example: `  skillopt runs diff runs/quickstart-1
  skillopt runs diff runs/quickstart-1 --from 2 --to 3     between two steps
  skillopt runs diff runs/quickstart-1 runs/quickstart-2`,
		Args: rangeArgs(1, 2, "one run directory, or two"),
		RunE: func(_ *cobra.Command, args []string) error { return o.run(a, args) },
	}
	c.Flags().StringVar(&o.from, "from", "", "a step, or best")
	c.Flags().StringVar(&o.to, "to", "", "a step, or best")
	return c
}

// run shows how the skill changed within a run, or from one to another.
func (o *runsDiffOptions) run(a *app, runs []string) error {
	runA, runB := runs[0], runs[len(runs)-1]
	d, err := ask.Diff(ask.Side{Dir: a.absolute(runA), Path: a.relative(runA), Version: o.from}, ask.Side{Dir: a.absolute(runB), Path: a.relative(runB), Version: o.to})
	if err != nil {
		return err
	}
	if a.json {
		return printAnswer(a.Out, d)
	}
	if d.Equal {
		_, err = fmt.Fprintln(a.Out, "no difference")
		return err
	}
	return a.writeDiff(d.Diff)
}
