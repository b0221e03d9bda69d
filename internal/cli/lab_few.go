package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/lab/bench"
)

// labFewOptions are the flags of lab few.
type labFewOptions struct {
	study bench.FewStudy
	files labFiles
}

func labFewCommand(a *app) *cobra.Command {
	o := labFewOptions{study: bench.DefaultFewStudy()}
	s := &o.study
	c := &cobra.Command{
		Use:   "few",
		Short: "Measure what training gains with 8 to 40 tasks, split, in folds or as one pool",
		Long: `Run the whole training loop in simulated worlds with 8 to 40 tasks: with a fixed
split into train and selection tasks, with both as one pool in folds, of which one judges
each step (split.cross_fit), and with one pool that teaches and judges. A run has a ceiling of calls, of target and optimizer
together. Its gain is the expected score of what it ships, minus that of the starting
skill, on tasks that no decision saw. Every figure has a standard error.

No model is called. The numbers in docs/few.md are made by this command.

` + exitHelp,
		Example: `  skillopt lab few                        minutes on two cores
  skillopt lab few --worlds 3 --seed 7    a quick look
  skillopt lab few --out docs/few.md`,
		Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), a) },
	}
	f := c.Flags()
	f.IntVar(&s.Worlds, "worlds", s.Worlds, "worlds of each kind, number of tasks and ceiling, 2 or more")
	f.Uint64Var(&s.Seed, "seed", s.Seed, "seed of everything that is drawn")
	f.StringVar(&o.files.csv, "csv", "", "write the figures to this file as CSV")
	f.StringVar(&o.files.page, "out", "", "write the page to this file")
	addRunFlag(c, &o.files)
	return c
}

// run measures what training gains with few tasks.
func (o *labFewOptions) run(ctx context.Context, a *app) error {
	s := o.study
	if err := s.Validate(); err != nil {
		return usagef("--%v; `skillopt lab few --help` lists the flags", err)
	}
	command := fmt.Sprintf("skillopt lab few --worlds %d --seed %d", s.Worlds, s.Seed)
	r, err := studied(ctx, a, o.files, command, s.Run)
	if err != nil {
		return err
	}
	return printStudy(a, r, command+" --out docs/few.md", o.files)
}
