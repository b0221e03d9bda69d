package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/report"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/sleep/harvest"
)

// mostReportDays is how far back sleep report looks at most.
const mostReportDays = 3660

// sleepReportOptions are the flags of sleep report.
type sleepReportOptions struct {
	project string
	days    int
	format  string
	to      string
}

func sleepReportCommand(a *app, profile *string) *cobra.Command {
	var o sleepReportOptions
	c := &cobra.Command{
		Use:   "report",
		Short: "Report the nights of some days, what was adopted and how it fares, as Markdown or one page",
		Long: `Report the nights of some days: what each came to, in words, what it proposes and on what
grounds, what was adopted and taken back and the evidence since, what waits, what it has cost, and
what to do next. Markdown goes to the terminal, or with -o into a file; a page is one file that loads
nothing and runs nothing. The numbers are those of sleep status --json.`,
		Example: `  skillopt sleep report
  skillopt sleep report --days 30 --project ~/src/shop
  skillopt sleep report --format html -o week.html`,
		Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), a, *profile) },
	}
	f := c.Flags()
	f.StringVar(&o.project, "project", "", "nights of this project alone")
	f.IntVar(&o.days, "days", weekDays, "how many days to look back")
	f.StringVar(&o.format, "format", "md", "md or html")
	f.StringVarP(&o.to, "output", "o", "", "write into this file")
	return c
}

func (o *sleepReportOptions) run(ctx context.Context, a *app, profile string) (err error) {
	switch {
	case o.days < 1 || o.days > mostReportDays:
		return usagef("--days %d: use a number from 1 to %d", o.days, mostReportDays)
	case !slices.Contains([]string{"md", "html"}, o.format):
		return usagef("--format %q: use md or html", o.format)
	case o.format == "html" && o.to == "" && a.Terminal && !a.json:
		return usagef("a page is for a browser: name a file by -o, such as -o week.html")
	}
	setup, err := a.sleepSetup(profile)
	if err != nil {
		return err
	}
	b, err := setup.look(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	var of func(string) bool
	if o.project != "" {
		of = harvest.NewProjects(a.folder(o.project)).Allow
	}
	w, err := setup.week(ctx, b, a.version, time.Now(), o.days, of)
	if err != nil {
		return err
	}
	shared := ask.Shareable(w)
	text := report.Week(shared)
	if o.format == "html" {
		if text, err = report.WeekHTML(shared); err != nil {
			return err
		}
	}
	if o.to != "" {
		if err := run.WriteExport(a.absolute(o.to), text); err != nil {
			return err
		}
	}
	switch {
	case a.json:
		return printJSON(a.Out, shared)
	case o.to != "":
		a.shown().line("wrote " + oneLine(a.relative(a.absolute(o.to))))
		return nil
	}
	_, err = fmt.Fprint(a.Out, string(text))
	return err
}
