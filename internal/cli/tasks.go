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
	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
)

func tasksCommand(a *app) *cobra.Command {
	c := group(&cobra.Command{Use: "tasks", Short: "Check a set of tasks, import one, review drafted ones, or prove those of a repository"})
	c.AddCommand(tasksLintCommand(a), tasksImportCommand(a), tasksReviewCommand(a), tasksVerifyCommand(a))
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
with its file, line and item. Of a table it says which column was read as which field,
and which are not used. No model is called.`,
		Example: `  skillopt tasks lint my-skill
  skillopt tasks lint tasks.jsonl
  skillopt tasks lint tasks.csv --set tasks.columns.prompt=Question --set tasks.columns.gold=Answer`,
		Args: exactArgs(1, "a config, a directory or a task file"),
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
		return skillopt.CheckTasks(ctx, l.Config, skillopt.WithLoaded(l), skillopt.WithClouds(a.Clouds))
	})
	if err != nil {
		return err
	}
	if a.guard != nil {
		for i, w := range report.Warnings {
			report.Warnings[i] = ask.HideQuotes(w)
		}
	}
	if a.json {
		for i := range report.Tables {
			report.Tables[i].Path = a.relative(report.Tables[i].Path)
		}
		return printJSON(a.Out, taskLint{TaskReport: report, Findings: a.findings(report.Warnings)})
	}
	return a.writeTaskReport(report)
}

// taskLint is the result of tasks lint: what is wrong with tasks is an error, and no part
// of it.
type taskLint struct {
	result.TaskReport
	Findings []result.Problem `json:"findings"` // what is odd: the warnings taken apart
}

// findings returns warnings as documents.
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

// writeTaskReport prints how many tasks there are, what was made of the columns of tables,
// and what is odd.
func (a *app) writeTaskReport(report result.TaskReport) error {
	out := a.printer(a.Out)
	out.line(fmt.Sprintf("%s: %d train, %d selection, %d test", wording.Plural(report.Tasks, "task", "tasks"), report.Train, report.Selection, report.Test))
	for _, name := range slices.Sorted(maps.Keys(report.ByType)) {
		out.line(fmt.Sprintf("  %s: %d", name, report.ByType[name]))
	}
	if report.Triggers > 0 {
		out.line(wording.Plural(report.Triggers, "trigger task", "trigger tasks") + ", apart from these")
	}
	if report.Unreviewed > 0 {
		out.line(exploratory(report.Unreviewed))
	}
	for _, t := range report.Tables {
		out.table(t)
	}
	for _, w := range report.Warnings {
		for i, line := range strings.Split(w, "\n") {
			if i == 0 {
				out.line("warning: " + line)
				continue
			}
			out.hang("  ", line)
		}
	}
	_, err := fmt.Fprintln(out, "no problems")
	return err
}

// maxColumns is how many columns of a table are printed, of each kind.
const maxColumns = 20

// table prints what was made of the columns of a table.
func (p printer) table(t task.Table) {
	separator := map[string]string{",": "commas", ";": "semicolons", "\t": "tabs"}[t.Separator]
	p.line(fmt.Sprintf("%s: %s, separated by %s", p.path(t.Path), wording.Plural(len(t.Columns), "column", "columns"), separator))
	var used, unused []string
	for i, c := range t.Columns {
		name := shortenText(oneLine(c.Name), 60)
		if name == "" {
			name = fmt.Sprintf("column %d (no name, empty)", i+1)
		}
		switch fields := strings.Join(c.Fields, ", "); {
		case !c.Used:
			unused = append(unused, name)
		case fields == c.Name:
			used = append(used, name)
		default:
			used = append(used, fmt.Sprintf("%s (column %s)", oneLine(fields), name))
		}
	}
	p.names("  read: ", used)
	p.names("  not used: ", unused)
}

// names prints the first of some names.
func (p printer) names(head string, names []string) {
	if len(names) == 0 {
		return
	}
	text := strings.Join(names[:min(len(names), maxColumns)], ", ")
	if more := len(names) - maxColumns; more > 0 {
		text += fmt.Sprintf(" and %d more (--json lists all)", more)
	}
	p.hang(head, text)
}
