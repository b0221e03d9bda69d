package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/lab/bench"
)

// fewOptions are the flags of few.
type fewOptions struct {
	study bench.FewStudy
	files files
}

func fewCommand(a *app) *cobra.Command {
	o := fewOptions{study: bench.DefaultFewStudy()}
	s := &o.study
	c := &cobra.Command{
		Use:   "few",
		Short: "Measure what training gains with 8 to 40 tasks, split, in folds or as one pool",
		Long: `Run the whole training loop in simulated worlds with 8 to 40 tasks: with a fixed
split into train and selection tasks, with both as one pool in folds, of which one judges
each step (split.cross_fit), and with one pool that teaches and judges. A run has a ceiling of calls, of target and optimizer
together. Its gain is the expected score of what it ships, minus that of the starting
skill, on tasks that no decision saw. Every figure has a standard error.

No model is called. The numbers in lab/docs/few.md are made by this command.
`,
		Example: `  go run . few                        minutes on two cores
  go run . few --worlds 3 --seed 7    a quick look
  go run . few --out docs/few.md`,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), a) },
	}
	f := c.Flags()
	f.IntVar(&s.Worlds, "worlds", s.Worlds, "worlds of each kind, number of tasks and ceiling, 2 or more")
	f.Uint64Var(&s.Seed, "seed", s.Seed, "seed of everything that is drawn")
	addPageFlags(c, &o.files)
	return c
}

// run measures what training gains with few tasks.
func (o *fewOptions) run(ctx context.Context, a *app) error {
	s := o.study
	if err := s.Validate(); err != nil {
		return usagef("--%v; `lab few --help` lists the flags", err)
	}
	command := fmt.Sprintf("go run . few --worlds %d --seed %d", s.Worlds, s.Seed)
	r, err := s.Run(ctx)
	if err != nil {
		return err
	}
	return a.printStudy(r, command+" --out docs/few.md", o.files)
}
