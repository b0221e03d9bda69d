package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/lab"
)

// labCertificateOptions are the flags of lab certificate.
type labCertificateOptions struct {
	study lab.Certificates
	files labFiles
}

func labCertificateCommand(a *app) *cobra.Command {
	var o labCertificateOptions
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
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c.Context(), a) },
	}
	c.Flags().IntVar(&o.study.Runs, "runs", lab.DefaultCertificateRuns, "simulated test splits for each row, 2 or more")
	c.Flags().Int64Var(&o.study.Seed, "seed", 1, "seed of all that is drawn")
	c.Flags().StringVar(&o.files.csv, "csv", "", "write the figures to this file as CSV")
	c.Flags().StringVar(&o.files.page, "out", "", "write the page with all figures to this file")
	addRunFlag(c, &o.files)
	return c
}

// run simulates certificates.
func (o *labCertificateOptions) run(ctx context.Context, a *app) error {
	if o.study.Runs < 2 {
		return usagef("--runs is %d: use 2 or more, one run has no standard error", o.study.Runs)
	}
	command := fmt.Sprintf("skillopt lab certificate --runs %d --seed %d", o.study.Runs, o.study.Seed)
	report, err := studied(ctx, a, o.files, command, o.study.Run)
	if err != nil {
		return err
	}
	return printStudy(a, report, command+" --out docs/certificate.md", o.files)
}
