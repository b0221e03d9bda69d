package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/lab/bench"
)

// pruneOptions are the flags of prune.
type pruneOptions struct {
	study bench.PruneStudy
	files files
}

func pruneCommand(a *app) *cobra.Command {
	o := pruneOptions{study: bench.DefaultPruneStudy()}
	s := &o.study
	c := &cobra.Command{
		Use:   "prune",
		Short: "Measure which rules pruning removes when answers change by chance",
		Long: `Prune skills of which it is known which rules their tasks need, in simulated worlds
of several kinds, with targets that forget the skill in 5, 10 and 20 % of their
answers: how many useful, useless and harmful rules go, and how many evaluations it
takes, against removing one rule after the other by itself.

No model is called.
`,
		Example: `  go run . prune                        minutes on two cores
  go run . prune --worlds 3 --seed 7    a quick look
  go run . prune --csv p.csv
  go run . prune --out docs/pruning-figures.md`,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), a) },
	}
	f := c.Flags()
	f.IntVar(&s.Worlds, "worlds", s.Worlds, "worlds of each kind and share of flips, 2 or more")
	f.Uint64Var(&s.Seed, "seed", s.Seed, "seed of everything that is drawn")
	f.StringVar(&s.Kind, "kind", s.Kind, "one kind of worlds, such as \"few tasks\"; default: all")
	addPageFlags(c, &o.files)
	return c
}

// run measures which rules pruning removes.
func (o *pruneOptions) run(ctx context.Context, a *app) error {
	s := o.study
	if err := s.Validate(); err != nil {
		return usagef("--%v; `lab prune --help` lists the flags", err)
	}
	command := fmt.Sprintf("go run . prune --worlds %d --seed %d", s.Worlds, s.Seed)
	if s.Kind != "" {
		command += fmt.Sprintf(" --kind %q", s.Kind)
	}
	r, err := s.Run(ctx)
	if err != nil {
		return err
	}
	return a.printStudy(r, command+" --out docs/pruning-figures.md", o.files)
}
