package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/lab/bench"
)

// labLoopOptions are the flags of lab loop.
type labLoopOptions struct {
	study bench.LoopStudy
	files labFiles
}

func labLoopCommand(a *app) *cobra.Command {
	o := labLoopOptions{study: bench.DefaultLoopStudy()}
	s := &o.study
	c := &cobra.Command{
		Use:   "loop",
		Short: "Measure what training gains, whole loop and all calls counted",
		Long: `Run the whole training loop in simulated worlds of several kinds, with optimizers that
tire, and with 12, 30 and 100 selection tasks: with the defaults, with the loop of the
published protocol, and with parts of the loop changed. A run may make so many calls, of
target and optimizer together. Its gain is the expected score of what it ships, minus that of
the starting skill, on tasks that no decision saw. Every figure has a standard error.

No model is called. The numbers in docs/loop.md are made by this command.

` + exitHelp,
		Example: `  skillopt lab loop                        minutes on two cores
  skillopt lab loop --worlds 3 --seed 7    a quick look
  skillopt lab loop --large --csv l.csv    with 400 selection tasks as well
  skillopt lab loop --worlds 3 --run runs/loop-1 && skillopt serve
  skillopt lab loop --out docs/loop.md`,
		Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), a) },
	}
	f := c.Flags()
	f.IntVar(&s.Worlds, "worlds", s.Worlds, "worlds of each kind and number of selection tasks, 2 or more")
	f.IntVar(&s.Calls, "calls", s.Calls, "ceiling of a run's calls; 0: a short one and a long one, 240 and 4 for each selection task, 700 and 10")
	f.Uint64Var(&s.Seed, "seed", s.Seed, "seed of everything that is drawn")
	f.BoolVar(&s.Large, "large", s.Large, "400 selection tasks as well")
	f.StringVar(&o.files.csv, "csv", "", "write the figures to this file as CSV")
	f.StringVar(&o.files.page, "out", "", "write the page to this file")
	addRunFlag(c, &o.files)
	return c
}

// run measures what training gains.
func (o *labLoopOptions) run(ctx context.Context, a *app) error {
	s := o.study
	if err := s.Validate(); err != nil {
		return usagef("--%v; `skillopt lab loop --help` lists the flags", err)
	}
	command := loopCommand(s)
	r, err := studied(ctx, a, o.files, command, s.Run)
	if err != nil {
		return err
	}
	return printStudy(a, r, command+" --out docs/loop.md", o.files)
}

// loopCommand is the command that makes the same figures again.
func loopCommand(s bench.LoopStudy) string {
	command := fmt.Sprintf("skillopt lab loop --worlds %d --seed %d", s.Worlds, s.Seed)
	if s.Calls != 0 {
		command += fmt.Sprintf(" --calls %d", s.Calls)
	}
	if s.Large {
		command += " --large"
	}
	return command
}
