package cli

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/plural"
)

func (a *app) tasksCommand() *cobra.Command {
	c := group(&cobra.Command{Use: "tasks", Short: "Check a set of tasks, or review drafted ones"})
	c.AddCommand(a.tasksLint(), a.tasksReview())
	return c
}

func (a *app) tasksLint() *cobra.Command {
	var sets []string
	c := &cobra.Command{
		Use:   "lint CONFIG_OR_DIR | TASKS",
		Short: "Check tasks before money is spent on them",
		Long: `Check tasks the way every load does: duplicate ids, empty gold, checks that are
broken or that an empty answer passes, splits that overlap. Every problem is named
with its file, line and item. No model is called.`,
		Example: `  skillopt tasks lint my-skill
  skillopt tasks lint tasks.jsonl`,
		Args: exactly(1, "a config, a directory or a task file"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.lint(cmd.Context(), args[0], sets) },
	}
	addSet(c, &sets)
	return c
}

// What a task takes while it is checked is not needed any more. So memory is collected
// early: before it has grown by lintPercent of what is in use, and more often from
// lintMemory on, in bytes.
const (
	lintPercent = 50
	lintMemory  = 128 << 20
)

func (a *app) lint(ctx context.Context, path string, sets []string) error {
	debug.SetGCPercent(min(lintPercent, debug.SetGCPercent(lintPercent)))
	debug.SetMemoryLimit(min(lintMemory, debug.SetMemoryLimit(-1)))
	l, err := a.configOrTasks(path, sets)
	if err != nil {
		return err
	}
	report, err := reading(ctx, a.Signals, func(ctx context.Context) (skillopt.TaskReport, error) {
		return skillopt.CheckTasksContext(ctx, l.Config, skillopt.WithLoaded(l))
	})
	if err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, report)
	}
	fmt.Fprintf(a.Out, "%s: %d train, %d selection, %d test\n", plural.Of(report.Tasks, "task", "tasks"), report.Train, report.Selection, report.Test)
	for _, name := range slices.Sorted(maps.Keys(report.ByType)) {
		fmt.Fprintf(a.Out, "  %s: %d\n", name, report.ByType[name])
	}
	if report.Unreviewed > 0 {
		fmt.Fprintln(a.Out, exploratory(report.Unreviewed))
	}
	for _, w := range report.Warnings {
		fmt.Fprintf(a.Out, "warning: %s\n", strings.ReplaceAll(w, "\n", "\n  "))
	}
	_, err = fmt.Fprintln(a.Out, "no problems")
	return err
}
