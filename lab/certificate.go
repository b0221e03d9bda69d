package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/lab/certificate"
)

// certificateOptions are the flags of certificate.
type certificateOptions struct {
	study certificate.Study
	files files
}

func certificateCommand(a *app) *cobra.Command {
	var o certificateOptions
	c := &cobra.Command{
		Use:   "certificate",
		Short: "Simulate how often certificates err, and what they find",
		Long: `Simulate certificates: how often one or more of three sibling runs that read the same
test tasks is certified though no skill is better, and how often a skill that is
better by 10 points is certified; for hard and soft scores, targets that answer
alike every time and those that do not, declared clusters, and few and many test
tasks. The tests are the real ones, the tasks are made up, and no model is asked.
Equal seeds give equal results.

The numbers in lab/docs/certificate.md are made by this command.`,
		Example: `  go run . certificate                      minutes on two cores
  go run . certificate --runs 500 --seed 7  a quick look
  go run . certificate --csv c.csv
  go run . certificate --out docs/certificate.md`,
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c.Context(), a) },
	}
	c.Flags().IntVar(&o.study.Runs, "runs", certificate.DefaultRuns, "simulated test splits for each row, 2 or more")
	c.Flags().Int64Var(&o.study.Seed, "seed", 1, "seed of all that is drawn")
	addPageFlags(c, &o.files)
	return c
}

// run simulates certificates.
func (o *certificateOptions) run(ctx context.Context, a *app) error {
	if o.study.Runs < 2 {
		return usagef("--runs is %d: use 2 or more, one run has no standard error", o.study.Runs)
	}
	command := fmt.Sprintf("go run . certificate --runs %d --seed %d", o.study.Runs, o.study.Seed)
	r, err := o.study.Run(ctx)
	if err != nil {
		return err
	}
	return a.printStudy(r, command+" --out docs/certificate.md", o.files)
}
