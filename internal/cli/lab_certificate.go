package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/lab"
)

func (a *app) labCertificateCommand() *cobra.Command {
	var e lab.Certificates
	var files labFiles
	c := &cobra.Command{
		Use:   "certificate",
		Short: "Simulate how often certificates err, and what they find",
		Long: `Simulate certificates: how often one or more of three sibling runs that read the same
test tasks is certified though no skill is better, and how often a skill that is
better by 10 points is certified; for hard and soft scores, targets that answer
alike every time and those that do not, declared clusters, and few and many test
tasks. The tests are the real ones, the tasks are made up, and no model is asked.
Equal seeds give equal results.

The numbers in docs/certificate.md are made by this command.`,
		Example: `  skillopt lab certificate                      minutes on two cores
  skillopt lab certificate --runs 500 --seed 7  a quick look
  skillopt lab certificate --csv c.csv
  skillopt lab certificate --out docs/certificate.md`,
		Args: exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if e.Runs < 2 {
				return usagef("--runs is %d: use 2 or more, one run has no standard error", e.Runs)
			}
			return a.runLabCertificate(c.Context(), e, files)
		},
	}
	c.Flags().IntVar(&e.Runs, "runs", lab.DefaultCertificateRuns, "simulated test splits for each row, 2 or more")
	c.Flags().Int64Var(&e.Seed, "seed", 1, "seed of all that is drawn")
	c.Flags().StringVar(&files.csv, "csv", "", "write the figures to this file as CSV")
	c.Flags().StringVar(&files.page, "out", "", "write the page with all figures to this file")
	return c
}

func (a *app) runLabCertificate(ctx context.Context, e lab.Certificates, files labFiles) error {
	report, err := reading(ctx, a.Signals, e.Run)
	if err != nil {
		return err
	}
	return a.tellLab(report, fmt.Sprintf("skillopt lab certificate --runs %d --seed %d --out docs/certificate.md", e.Runs, e.Seed), files)
}
