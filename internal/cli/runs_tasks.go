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
	sort, kind, split, status, find string
	limit                           int
}

func runsTasksCommand(a *app) *cobra.Command {
	var o runsTasksOptions
	c := &cobra.Command{
		Use:   "tasks [RUN]",
		Short: "Show every task over the steps of a run: solved, failed, flipped",
		Long: `Show what each task came to with each skill that was tried on it, a line a task and a
character a skill, in the order of the run:

  1  solved    0  failed    a..i  0.1 to 0.9 of it (a: less, too)
  x  the agent failed within the task's limits, which scores 0
  u  not measured    .  not asked

Nothing is asked or scored: the scores are those that the run wrote down. Test tasks are left
out unless --split test is given, which is a reading of the test set: it is noted, and later
runs count it. Without RUN it is the newest one in the folder runs. --json prints all tasks,
whatever the other flags say, and what test tasks came to with --split test alone.`,
		Example: `  skillopt runs tasks
  skillopt runs tasks runs/my-skill-1 --sort regressions --limit 20
  skillopt runs tasks runs/my-skill-1 --split selection --status failed
  skillopt runs tasks runs/my-skill-1 --type total --find invoice`,
		Args: atMost(1, "at most one run directory"),
		RunE: onRun(a, o.run),
	}
	c.Flags().StringVar(&o.sort, "sort", "order", "order, that of the run; difficulty, the least solved first; flips or regressions, the most first; id")
	c.Flags().StringVar(&o.kind, "type", "", "tasks of this type alone")
	c.Flags().StringVar(&o.split, "split", "", "train, selection or test")
	c.Flags().StringVar(&o.status, "status", "", "with the best skill: failed, passed, unmeasured or not_asked")
	c.Flags().StringVar(&o.find, "find", "", "whose id or question has this text, in any case of letters")
	c.Flags().IntVar(&o.limit, "limit", 0, "so many, the first; 0: all")
	return c
}

// taskStatuses are those of tasks with the best skill.
func taskStatuses() []string { return []string{"failed", "passed", "unmeasured", "not_asked"} }

// check checks the flags.
func (o *runsTasksOptions) check() error {
	for _, f := range []struct {
		flag, value string
		allowed     []string
	}{
		{"--sort", o.sort, []string{"order", "difficulty", "flips", "regressions", "id"}},
		{"--split", o.split, []string{"train", "selection", "test"}},
		{"--status", o.status, taskStatuses()},
	} {
		if f.value != "" && !slices.Contains(f.allowed, f.value) {
			return usagef("%s %s: allowed are %s", f.flag, f.value, strings.Join(f.allowed, ", "))
		}
	}
	if o.limit < 0 {
		return usagef("--limit %d: want 0 or more", o.limit)
	}
	return nil
}

// run shows tasks over the steps.
func (o *runsTasksOptions) run(ctx context.Context, a *app, path string) error {
	if err := o.check(); err != nil {
		return err
	}
	r, err := openRecord(ctx, a, path)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it was only read
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
	return o.print(a.paged(), g, path, r.Manifest.Kind)
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
	all, sealed := len(rows), 0
	if o.split != "test" {
		rows = slices.DeleteFunc(rows, func(r record.GridRow) bool { return r.Split == "test" })
		sealed, all = all-len(rows), len(rows)
	}
	o.arrange(rows)
	if o.limit > 0 && len(rows) > o.limit {
		rows = rows[:o.limit]
	}
	for _, split := range []string{"train", "selection", "test"} {
		if err := o.printSplit(out, split, g, rows); err != nil {
			return err
		}
	}
	if sealed > 0 {
		out.line(wording.Plural(sealed, "test task is", "test tasks are") + " left out: --split test shows them, which is a reading of the test set")
	}
	switch {
	case all == 0 && sealed == 0:
		out.line(fmt.Sprintf("none of the %s is like that", wording.Plural(len(g.Tasks), "task", "tasks")))
	case len(rows) < all:
		out.line(fmt.Sprintf("%d of %s (--limit 0 lists all)", len(rows), wording.Plural(all, "task", "tasks")))
	}
	if len(rows) > 0 {
		out.line("1 solved, 0 failed, a..i partly, x failed by the agent, u not measured, . not asked; `skillopt runs task " + shellWord(path) + " ID` shows all of one")
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
	find := strings.ToLower(o.find)
	return (o.kind == "" || t.Type == o.kind) && (o.split == "" || t.Split == o.split) && (o.status == "" || t.Status == o.status) &&
		(strings.Contains(strings.ToLower(t.ID), find) || strings.Contains(strings.ToLower(t.Text), find))
}

// arrange sorts tasks.
func (o *runsTasksOptions) arrange(rows []record.GridRow) {
	share := func(t result.GridTask) float64 {
		if t.Solved == nil {
			return 2 // nobody knows how hard it is
		}
		return *t.Solved
	}
	slices.SortStableFunc(rows, func(a, b record.GridRow) int {
		switch o.sort {
		case "difficulty":
			return cmp.Compare(share(a.GridTask), share(b.GridTask))
		case "flips":
			return cmp.Compare(b.Flips, a.Flips)
		case "regressions":
			return cmp.Or(cmp.Compare(b.Regressions, a.Regressions), cmp.Compare(b.Flips, a.Flips))
		case "id":
			return cmp.Compare(a.ID, b.ID)
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

// shownID is an id as it is in a line.
func shownID(id string) string {
	if id = oneLine(id); len(id) > longID {
		return strings.ToValidUTF8(id[:longID-3], "") + "…"
	}
	return id
}

// strip is as much of cells as there is room for: of a long run the last ones.
func strip(cells string, columns, other int) string {
	if room := max(columns-other, 20); columns > 0 && len(cells) > room {
		return "…" + cells[len(cells)-room+1:]
	}
	return cells
}
