package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

// runsTasksOptions are the flags of runs tasks.
type runsTasksOptions struct {
	sort, kind, split, step string
	failing, prompt         bool
}

func runsTasksCommand(a *app) *cobra.Command {
	var o runsTasksOptions
	c := &cobra.Command{
		Use:   "tasks [RUN [TASK]]",
		Short: "Show every task over the steps of a run, those that fail, or all of one",
		Long: `Show the result of each task with each skill that was tried on it, a line a task and a
character a skill, in the order of the run:

  1  solved    0  failed    a..i  0.1 to 0.9 of it (a: less, too)
  x  the agent failed within the task's limits, which scores 0
  u  not measured    .  not asked

With --failing the tasks that fail with the best skill, or with the candidate of --step, on the
tasks that judged it: with the answer, what was expected, why it failed, and a mark where the seed
skill had solved it.

With TASK all that was recorded of that one: where it was asked, what was answered, what was
scored of that and why; with --prompt what the model was sent as well. Of an agent or environment
that is the conversation inside, each message once, of every attempt.

Nothing is asked or scored. Test tasks are left out unless --split test is given, or TASK is one:
that is a reading of the test set, it is noted, and later runs count it. Without RUN it is the
newest one in the folder runs. --json has all tasks, whatever --sort and --type say.`,
		Example: `  skillopt runs tasks
  skillopt runs tasks runs/my-skill-1 --sort regressions
  skillopt runs tasks runs/my-skill-1 --failing --step 3 --type total
  skillopt runs tasks runs/my-skill-1 --failing --split test
  skillopt runs tasks runs/my-skill-1 total-07 --step 3 --prompt`,
		Args: rangeArgs(0, 2, "a run directory and the id of a task at most"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(args); err != nil {
				return err
			}
			path, err := runOrNewest(a, args)
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), a, path, args)
		},
	}
	c.Flags().BoolVar(&o.failing, "failing", false, "the tasks that fail, with answers and reasons")
	c.Flags().StringVar(&o.step, "step", "", "with --failing or TASK: of a step, or best")
	c.Flags().BoolVar(&o.prompt, "prompt", false, "with TASK: show what the model was sent")
	c.Flags().StringVar(&o.sort, "sort", "order", "order, that of the run; difficulty, the least solved first; regressions, the most first")
	c.Flags().StringVar(&o.kind, "type", "", "tasks of this type alone")
	c.Flags().StringVar(&o.split, "split", "", "train, selection or test")
	return c
}

// check checks the flags.
func (o *runsTasksOptions) check(args []string) error {
	one := len(args) == 2
	switch {
	case !slices.Contains([]string{"order", "difficulty", "regressions"}, o.sort):
		return usagef("--sort %s: allowed are order, difficulty, regressions", o.sort)
	case !slices.Contains([]string{"", "train", "selection", "test"}, o.split):
		return usagef("--split %s: allowed are train, selection, test", o.split)
	case one && (o.failing || o.split != "" || o.kind != ""):
		return usagef("--failing, --split and --type choose tasks, and %s names one: leave them out", args[1])
	case o.failing && o.split != "" && o.split != "test":
		return usagef("--failing lists tasks that judged the skill, or with --split test those of the test split: leave --split %s out", o.split)
	case o.step != "" && !one && !o.failing:
		return usagef("--step goes with --failing, or with a task")
	case o.prompt && !one:
		return usagef("--prompt goes with a task: skillopt runs tasks RUN TASK --prompt")
	}
	return nil
}

// run shows tasks over the steps, those that fail, or one.
func (o *runsTasksOptions) run(ctx context.Context, a *app, path string, args []string) error {
	r, err := openRecord(ctx, a, path)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it was only read
	switch {
	case len(args) == 2:
		return o.one(ctx, a, path, args[1], r)
	case o.failing:
		return o.fails(ctx, a, path, r)
	}
	g, ofTest, err := ask.Grid(ctx, r, o.split == "test")
	if err != nil {
		return err
	}
	if ofTest {
		noteLook(ctx, a, path, r, "runs tasks")
	}
	if a.json {
		return printAnswer(a.Out, g)
	}
	return o.print(a.tablePrinter(), g, path, r.Manifest.Kind)
}

// print prints the tasks that the flags let through, by split.
func (o *runsTasksOptions) print(out printer, g result.Grid, path string, kind result.Kind) error {
	for _, p := range g.Problems {
		out.line("incomplete: " + oneLine(p))
	}
	if len(g.Tasks) == 0 {
		_, err := fmt.Fprintln(out, noTasks(kind, path))
		return err
	}
	rows := record.GridRows(g)
	rows = slices.DeleteFunc(rows, func(r record.GridRow) bool { return !o.lets(r.GridTask) })
	sealed := 0
	if o.split != "test" {
		all := len(rows)
		rows = slices.DeleteFunc(rows, func(r record.GridRow) bool { return r.Split == "test" })
		sealed = all - len(rows)
	}
	o.arrange(rows)
	for _, split := range []string{"train", "selection", "test"} {
		if err := o.printSplit(out, split, g, rows); err != nil {
			return err
		}
	}
	if sealed > 0 {
		out.line(wording.Plural(sealed, "test task is", "test tasks are") + " left out: --split test shows them, which is a reading of the test set")
	}
	if len(rows) == 0 && sealed == 0 {
		out.line(fmt.Sprintf("none of the %s is like that", wording.Plural(len(g.Tasks), "task", "tasks")))
	}
	if len(rows) > 0 {
		out.line("1 solved, 0 failed, a..i partly, x failed by the agent, u not measured, . not asked; `skillopt runs tasks " + shellWord(path) + " TASK` shows all of one")
	}
	return nil
}

// noTasks says why a run has no task to show.
func noTasks(kind result.Kind, path string) string {
	switch {
	case kind == result.Ablate, kind == result.Prune:
		return "an ablation or pruning writes no outcomes of single tasks down; `skillopt runs show " + shellWord(path) + "` has its rules"
	case !kind.HasTasks():
		return "such a run asks no tasks"
	}
	return "the run has written down no outcomes yet"
}

// lets reports whether a task is shown.
func (o *runsTasksOptions) lets(t result.GridTask) bool {
	return (o.kind == "" || t.Type == o.kind) && (o.split == "" || t.Split == o.split)
}

// arrange sorts tasks.
func (o *runsTasksOptions) arrange(rows []record.GridRow) {
	share := func(t result.GridTask) float64 {
		if t.Solved == nil {
			return 2 // no one knows how hard it is
		}
		return *t.Solved
	}
	slices.SortStableFunc(rows, func(a, b record.GridRow) int {
		switch o.sort {
		case "difficulty":
			return cmp.Compare(share(a.GridTask), share(b.GridTask))
		case "regressions":
			return cmp.Or(cmp.Compare(b.Regressions, a.Regressions), cmp.Compare(b.Flips, a.Flips))
		}
		return 0
	})
}

// printSplit prints the tasks of a split.
func (o *runsTasksOptions) printSplit(out printer, split string, g result.Grid, rows []record.GridRow) error {
	var of []record.GridRow
	width := 0
	for _, r := range rows {
		if r.Split == split {
			of = append(of, r)
			width = max(width, len([]rune(shownID(r.ID))))
		}
	}
	if len(of) == 0 {
		return nil
	}
	var columns []result.GridColumn
	for _, c := range g.Columns {
		if c.Split == split {
			columns = append(columns, c)
		}
	}
	if _, err := fmt.Fprintf(out, "%s: %s, %s from %q to %q\n", split, wording.Plural(len(of), "task", "tasks"), wording.Plural(len(columns), "skill", "skills"), columns[0].Title, columns[len(columns)-1].Title); err != nil {
		return err
	}
	for _, r := range of {
		solved := "   -"
		if r.Solved != nil {
			solved = fmt.Sprintf("%3.0f%%", 100**r.Solved)
		}
		flips := ""
		if r.Flips > 0 {
			flips = fmt.Sprintf("  %s, %s", wording.Plural(r.Flips, "flip", "flips"), wording.Plural(r.Regressions, "regression", "regressions"))
		}
		if _, err := fmt.Fprintf(out, "  %-*s %s  %s  %s%s\n", width, shownID(r.ID), solved, strip(r.Cells, out.columns, width+40), strings.ReplaceAll(r.Status, "_", " "), flips); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(out)
	return err
}

// longID is as much of an id as is shown, in bytes.
const longID = 48

// shownID returns an id as it is in a line.
func shownID(id string) string {
	if id = oneLine(id); len(id) > longID {
		return strings.ToValidUTF8(id[:longID-3], "") + "…"
	}
	return id
}

// strip returns as much of cells as there is room for: of a long run the last ones.
func strip(cells string, columns, other int) string {
	if room := max(columns-other, 20); columns > 0 && len(cells) > room {
		return "…" + cells[len(cells)-room+1:]
	}
	return cells
}
