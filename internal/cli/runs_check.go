package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

func runsCheckCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "check [RUN]",
		Short: "Check that a run is whole: its record, and the files that are made from it",
		Long: `Read all of a run: every checksum of its record, whether the end of it is there, and
whether the files that are made from it say what it says: counts of the summary, answers
of the outcomes, versions of the skill. What is missing, damaged or different is named,
with what helps. Nothing is changed. Without RUN it is the newest one in the folder runs.

The exit code is 2 if something is not as it should be.`,
		Example: `  skillopt runs check
  skillopt runs check runs/my-skill-3 --json`,
		Args: atMost(1, "at most one run directory"),
		RunE: onRun(a, checkRun),
	}
}

// checkRun checks a run, and fails if it is not whole.
func checkRun(ctx context.Context, a *app, path string) error {
	c, err := interruptible(ctx, a.Signals, func(ctx context.Context) (record.Checked, error) { return record.Check(ctx, a.absolute(path)) })
	var none *run.MissingError
	if errors.As(err, &none) {
		return usagef("%s is no run directory: it has no %s; `skillopt runs list` shows runs", path, run.ManifestFile)
	}
	if err != nil {
		return err
	}
	if a.json {
		err = printJSON(a.Out, shareable(c))
	} else {
		err = printChecked(a.printer(a.Out), path, shareable(c))
	}
	if bad := c.Bad(); bad > 0 && err == nil {
		err = usagef("run %s is not whole: %s", path, wording.Plural(bad, "finding", "findings"))
		if a.json {
			err = &shownError{err}
		}
	}
	return err
}

func printChecked(out printer, path string, c record.Checked) error {
	for _, f := range c.Findings {
		text := fmt.Sprintf("%-8s %s", f.State, oneLine(f.File))
		if f.Note != "" {
			text += ": " + oneLine(f.Note)
		}
		out.line(text)
		if f.Help != "" {
			out.hang("         ", oneLine(f.Help))
		}
	}
	if c.Live {
		out.line("a process works on it: files may be behind the record for a moment")
	}
	if c.Bad() > 0 {
		return nil
	}
	_, err := fmt.Fprintf(out, "run %s is whole\n", oneLine(path))
	return err
}
