package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/lab/bench"
)

// loopOptions are the flags of loop.
type loopOptions struct {
	study bench.LoopStudy
	files files
}

func loopCommand(a *app) *cobra.Command {
	o := loopOptions{study: bench.DefaultLoopStudy()}
	s := &o.study
	c := &cobra.Command{
		Use:   "loop",
		Short: "Measure what training gains, whole loop and all calls counted",
		Long: `Run the whole training loop in simulated worlds of several kinds, with optimizers that
tire, and with 12, 30 and 100 selection tasks: with the defaults, with the loop of the
published protocol, and with parts of the loop changed. A run may make so many calls, of
target and optimizer together. Its gain is the expected score of what it ships, minus that of
the starting skill, on tasks that no decision saw. Every figure has a standard error.

No model is called. The numbers in lab/docs/loop.md are made by this command.
`,
		Example: `  go run . loop                        minutes on two cores
  go run . loop --worlds 3 --seed 7    a quick look
  go run . loop --large --csv l.csv    with 400 selection tasks as well
  go run . loop --out docs/loop.md`,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), a) },
	}
	f := c.Flags()
	f.IntVar(&s.Worlds, "worlds", s.Worlds, "worlds of each kind and number of selection tasks, 2 or more")
	f.IntVar(&s.Calls, "calls", s.Calls, "ceiling of a run's calls; 0: a short one and a long one, 240 and 4 for each selection task, 700 and 10")
	f.Uint64Var(&s.Seed, "seed", s.Seed, "seed of everything that is drawn")
	f.BoolVar(&s.Large, "large", s.Large, "400 selection tasks as well")
	addPageFlags(c, &o.files)
	return c
}

// run measures what training gains.
func (o *loopOptions) run(ctx context.Context, a *app) error {
	s := o.study
	if err := s.Validate(); err != nil {
		return usagef("--%v; `lab loop --help` lists the flags", err)
	}
	command := loopLine(s)
	r, err := s.Run(ctx)
	if err != nil {
		return err
	}
	return a.printStudy(r, command+" --out docs/loop.md", o.files)
}

// loopLine is the command that makes the same figures again.
func loopLine(s bench.LoopStudy) string {
	command := fmt.Sprintf("go run . loop --worlds %d --seed %d", s.Worlds, s.Seed)
	if s.Calls != 0 {
		command += fmt.Sprintf(" --calls %d", s.Calls)
	}
	if s.Large {
		command += " --large"
	}
	return command
}
