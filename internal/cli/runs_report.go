package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/report"
	"github.com/seed-f4525e22/skillopt/internal/run"
)

// runsReportOptions are the flags of runs report.
type runsReportOptions struct{ to string }

func runsReportCommand(a *app) *cobra.Command {
	var o runsReportOptions
	c := &cobra.Command{
		Use:   "report [RUN]",
		Short: "Write the report of a run: a page, and a text for a pull request",
		Long: `Write report.html and report.md of a run from its files: headline, score by step,
items by step, what fails with the best skill and what was sent and answered there, the skill and who wrote its lines, baselines, cost, what was lost and
how to do it again. Without RUN it is the newest one in the folder runs.

A run writes both at its end. This command writes them for a run that has not ended.
The page loads nothing and runs nothing.`,
		Example: `  skillopt runs report runs/quickstart-1
  skillopt runs report runs/quickstart-1 --to out     in another folder`,
		Args: atMost(1, "at most one run directory"),
		RunE: onRun(a, o.run),
	}
	c.Flags().StringVar(&o.to, "to", "", "folder to write to; without it that of the run")
	return c
}

// run writes the report of a run.
func (o *runsReportOptions) run(ctx context.Context, a *app, dir string) error {
	training, err := readTraining(a, dir)
	if err != nil {
		return err
	}
	r := report.Of(training)
	r.Name = report.NameOf(a.absolute(dir))
	if r.Failing, err = record.FailingOf(ctx, a.absolute(dir), report.Transcripts); err != nil {
		r.Problems = append(r.Problems, "what fails is not shown: "+err.Error())
	}
	page, err := report.HTML(r)
	if err != nil {
		return err
	}
	to := a.absolute(cmp.Or(o.to, dir))
	if err := os.MkdirAll(to, 0o755); err != nil {
		return fmt.Errorf("make the folder of the report: %w", err)
	}
	files := map[string]string{"html": filepath.Join(to, run.ReportFile), "markdown": filepath.Join(to, run.PullFile)}
	if err := run.WriteExport(files["html"], page); err != nil {
		return err
	}
	if err := run.WriteExport(files["markdown"], report.Markdown(r)); err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, map[string]any{"run": r.Name, "html": files["html"], "markdown": files["markdown"], "problems": append([]string{}, r.Problems...)})
	}
	_, err = fmt.Fprintf(a.Out, "wrote %s and %s\n", a.relative(files["html"]), a.relative(files["markdown"]))
	return err
}
