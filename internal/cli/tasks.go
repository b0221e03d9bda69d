package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/plural"
	"github.com/seed-f4525e22/skillopt/result"
)

func tasksCommand(a *app) *cobra.Command {
	c := group(&cobra.Command{Use: "tasks", Short: "Check a set of tasks, or review drafted ones"})
	c.AddCommand(tasksLintCommand(a), tasksReviewCommand(a))
	return c
}

// tasksLintOptions are the flags of tasks lint.
type tasksLintOptions struct{ sets []string }

func tasksLintCommand(a *app) *cobra.Command {
	var o tasksLintOptions
	c := &cobra.Command{
		Use:   "lint CONFIG_OR_DIR | TASKS",
		Short: "Check tasks before money is spent on them",
		Long: `Check tasks the way every load does: duplicate ids, empty gold, checks that are
broken or that an empty answer passes, splits that overlap. Every problem is named
with its file, line and item. No model is called.`,
		Example: `  skillopt tasks lint my-skill
  skillopt tasks lint tasks.jsonl`,
		Args: exactly(1, "a config, a directory or a task file"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args[0]) },
	}
	addSet(c, &o.sets)
	return c
}

// What a task takes while it is checked is not needed any more. So memory is collected
// early: before it has grown by lintPercent of what is in use, and more often from
// lintMemory on, in bytes.
const (
	lintPercent = 50
	lintMemory  = 128 << 20
)

// run checks tasks.
func (o *tasksLintOptions) run(ctx context.Context, a *app, path string) error {
	debug.SetGCPercent(min(lintPercent, debug.SetGCPercent(lintPercent)))
	debug.SetMemoryLimit(min(lintMemory, debug.SetMemoryLimit(-1)))
	l, err := a.loadConfigOrTasks(path, o.sets)
	if err != nil {
		return err
	}
	report, err := interruptible(ctx, a.Signals, func(ctx context.Context) (result.TaskReport, error) {
		return skillopt.CheckTasks(ctx, l.Config, skillopt.WithLoaded(l))
	})
	if err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, taskLint{TaskReport: report, Findings: a.findings(report.Warnings)})
	}
	return writeTaskReport(a.Out, report)
}

// taskLint is the result of tasks lint: what is wrong with tasks is an error, and no part
// of it.
type taskLint struct {
	result.TaskReport
	Findings []result.Problem `json:"findings"` // what is odd: the warnings taken apart
}

// findings are warnings as documents.
func (a *app) findings(warnings []string) []result.Problem {
	out := make([]result.Problem, len(warnings))
	for i, w := range warnings {
		out[i] = toldProblem(w)
		if out[i].File = a.relative(out[i].File); out[i].Help == "" {
			out[i].Help = "nothing has to be done; docs/tasks.md says what is meant"
		}
	}
	return out
}

// writeTaskReport prints how many tasks there are, and what is odd about them.
func writeTaskReport(out io.Writer, report result.TaskReport) error {
	fmt.Fprintf(out, "%s: %d train, %d selection, %d test\n", plural.Of(report.Tasks, "task", "tasks"), report.Train, report.Selection, report.Test)
	for _, name := range slices.Sorted(maps.Keys(report.ByType)) {
		fmt.Fprintf(out, "  %s: %d\n", name, report.ByType[name])
	}
	if report.Triggers > 0 {
		fmt.Fprintf(out, "%s, apart from these\n", plural.Of(report.Triggers, "trigger task", "trigger tasks"))
	}
	if report.Unreviewed > 0 {
		fmt.Fprintln(out, exploratory(report.Unreviewed))
	}
	for _, w := range report.Warnings {
		fmt.Fprintf(out, "warning: %s\n", strings.ReplaceAll(w, "\n", "\n  "))
	}
	_, err := fmt.Fprintln(out, "no problems")
	return err
}
