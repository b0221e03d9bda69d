package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt"
)

func (a *app) doctorCommand() *cobra.Command {
	var sets []string
	c := &cobra.Command{
		Use:   "doctor CONFIG_OR_DIR",
		Short: "Check that a config can run, with one real call per role",
		Long: `Check the config, the skill, the tasks and the run folder, and make one small call
per role. Each row that fails says how to mend it.

` + exitHelp,
		Example: `  skillopt doctor my-skill
  skillopt doctor my-skill --set models.target.base_url=http://localhost:11434/v1`,
		Args: exactly(1, "a config or a directory"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.doctor(cmd.Context(), args[0], sets) },
	}
	addSet(c, &sets)
	return c
}

func (a *app) doctor(ctx context.Context, path string, sets []string) error {
	l, err := a.loadConfig(path, sets, nil)
	if err != nil {
		return err
	}
	report := skillopt.Examine(ctx, l.Config, skillopt.WithLoaded(l))
	if a.json {
		if err := printJSON(a.Out, report); err != nil {
			return err
		}
	} else if err := a.writeExamination(report); err != nil {
		return err
	}
	if err := report.Err(); err != nil {
		return &shownError{err}
	}
	return nil
}

func (a *app) writeExamination(r skillopt.Examination) error {
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	for _, row := range r.Rows {
		state := "ok"
		if !row.OK {
			state = "FAIL"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", state, row.Name, strings.ReplaceAll(row.Detail, "\n", "\n\t\t"))
		if row.Mend != "" {
			fmt.Fprintf(w, "\t\tto mend: %s\n", row.Mend)
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print examination: %w", err)
	}
	return nil
}
