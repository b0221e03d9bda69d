package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/lab/bench"
)

// labPruneOptions are the flags of lab prune.
type labPruneOptions struct {
	study bench.PruneStudy
	files labFiles
}

func labPruneCommand(a *app) *cobra.Command {
	o := labPruneOptions{study: bench.DefaultPruneStudy()}
	s := &o.study
	c := &cobra.Command{
		Use:   "prune",
		Short: "Measure which rules pruning removes when answers change by chance",
		Long: `Prune skills of which it is known which rules their tasks need, in simulated worlds
of several kinds, with targets that forget the skill in 5, 10 and 20 % of their
answers: how many useful, useless and harmful rules go, and how many evaluations it
takes, against removing one rule after the other as older builds did.

No model is called.

` + exitHelp,
		Example: `  skillopt lab prune                        minutes on two cores
  skillopt lab prune --worlds 3 --seed 7    a quick look
  skillopt lab prune --csv p.csv
  skillopt lab prune --out docs/pruning-figures.md`,
		Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), a) },
	}
	f := c.Flags()
	f.IntVar(&s.Worlds, "worlds", s.Worlds, "worlds of each kind and share of flips, 2 or more")
	f.Uint64Var(&s.Seed, "seed", s.Seed, "seed of everything that is drawn")
	f.StringVar(&s.Kind, "kind", s.Kind, "one kind of worlds, such as \"few tasks\"; default: all")
	f.StringVar(&o.files.csv, "csv", "", "write the figures to this file as CSV")
	f.StringVar(&o.files.page, "out", "", "write the page to this file")
	addRunFlag(c, &o.files)
	return c
}

// run measures which rules pruning removes.
func (o *labPruneOptions) run(ctx context.Context, a *app) error {
	s := o.study
	if err := s.Validate(); err != nil {
		return usagef("--%v; `skillopt lab prune --help` lists the flags", err)
	}
	command := fmt.Sprintf("skillopt lab prune --worlds %d --seed %d", s.Worlds, s.Seed)
	if s.Kind != "" {
		command += fmt.Sprintf(" --kind %q", s.Kind)
	}
	r, err := studied(ctx, a, o.files, command, s.Run)
	if err != nil {
		return err
	}
	return printStudy(a, r, command+" --out docs/pruning-figures.md", o.files)
}
