package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/plural"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// runsFailuresOptions are the flags of runs failures.
type runsFailuresOptions struct {
	step, kind string
	lost, test bool
}

func runsFailuresCommand(a *app) *cobra.Command {
	var o runsFailuresOptions
	c := &cobra.Command{
		Use:   "failures [RUN]",
		Short: "List the tasks that fail, with the answer and what was expected",
		Long: `List the tasks that fail with a skill of a run: its best one, or the candidate of a
step, on the tasks that judged it. --lost lists those alone that the seed skill had
solved. Without RUN it is the newest one in the folder runs.

Nothing is asked or paid for. --test lists what fails on the test split, which is a
reading of the test set: it is noted, and later runs count it.`,
		Example: `  skillopt runs failures
  skillopt runs failures runs/quickstart-1 --step 3 --type total
  skillopt runs failures runs/quickstart-1 --lost --json`,
		Args: atMost(1, "at most one run directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := runOrNewest(a, args)
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), a, path)
		},
	}
	c.Flags().StringVar(&o.step, "step", "best", "a step, whose candidate is looked at, or best")
	c.Flags().StringVar(&o.kind, "type", "", "tasks of this type alone")
	c.Flags().BoolVar(&o.lost, "lost", false, "only tasks that the seed skill had solved")
	c.Flags().BoolVar(&o.test, "test", false, "those of the test split, with the best skill")
	return c
}

// failures is what fails, as --json prints it.
type failures struct {
	RunDir     string               `json:"run_dir"`
	Where      string               `json:"where"`
	Tasks      int                  `json:"tasks"` // that were measured
	Unmeasured []string             `json:"unmeasured,omitempty"`
	Failing    []trajectory.Outcome `json:"failing"`
	Lost       []string             `json:"lost"` // ids of those that the seed skill had solved
	listed     string               // what of them is listed
}

// run lists what fails.
func (o *runsFailuresOptions) run(ctx context.Context, a *app, path string) error {
	r, err := openRecord(ctx, a, path)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it was only read
	sheet, seed, err := o.sheets(r, path)
	if err != nil {
		return err
	}
	f, err := o.failing(r, sheet, seed)
	if err != nil {
		return err
	}
	f.RunDir = a.absolute(path)
	if sheet.Split == "test" {
		noteLook(ctx, a, path, r, "runs failures")
	}
	listed := f.listed
	f = shareable(f)
	f.listed = listed
	if a.json {
		return printJSON(a.Out, f)
	}
	return f.print(a.paged(), path)
}

// sheets finds the outcomes of the skill that is looked at, and those of the seed skill on
// the same split, nil if there are none.
func (o *runsFailuresOptions) sheets(r *record.Run, path string) (sheet record.Sheet, seed *record.Sheet, err error) {
	all, err := r.Sheets()
	if err != nil {
		return sheet, nil, err
	}
	wanted := func(s record.Sheet) bool { return s.Arm == "skill" && s.Split != "test" } // of an evaluation
	switch {
	case o.test:
		wanted = func(s record.Sheet) bool { return s.Split == "test" && (s.Arm == "best" || s.Arm == "skill") }
	case len(r.History.Steps) > 0:
		step, err := r.ParseStep(o.step)
		if err != nil {
			return sheet, nil, usagef("--step: %v", err)
		}
		wanted = func(s record.Sheet) bool { return s.Step == step && s.Epoch == 0 && s.Split == "selection" }
	}
	i := slices.IndexFunc(all, wanted)
	if o.step == "best" && !o.test && len(r.History.Steps) > 0 {
		best, found, err := r.BestSheet()
		if err != nil {
			return sheet, nil, err
		}
		if found { // a slow update may have made it, which is no step
			i = slices.Index(all, best)
		}
	}
	if i < 0 {
		return sheet, nil, usagef("run %s has written down no outcomes there; it has: %s", path, strings.Join(titlesOf(all), "; "))
	}
	for _, s := range all {
		if s.Arm == "seed" && s.Split == all[i].Split {
			seed = &s
		}
	}
	return all[i], seed, nil
}

func titlesOf(all []record.Sheet) []string {
	var out []string
	for _, s := range all {
		if s.Split != "test" {
			out = append(out, s.Title())
		}
	}
	if len(out) == 0 {
		return []string{"none at all"}
	}
	return out
}

// failing finds out what fails, and which of it the seed skill had solved.
func (o *runsFailuresOptions) failing(r *record.Run, sheet record.Sheet, seed *record.Sheet) (failures, error) {
	f := failures{Where: sheet.Title(), Failing: []trajectory.Outcome{}, Lost: []string{}, listed: "fail"}
	outcomes, err := r.Outcomes(sheet)
	if err != nil {
		return f, err
	}
	solved := map[string]bool{}
	if seed != nil {
		before, err := r.Outcomes(*seed)
		if err != nil {
			return f, err
		}
		for _, b := range before {
			solved[b.ID] = b.Status.Measured() && b.Hard > 0
		}
	}
	for _, out := range outcomes {
		switch {
		case o.kind != "" && out.Type != o.kind:
		case !out.Status.Measured():
			f.Unmeasured = append(f.Unmeasured, out.ID)
		default:
			f.take(out, solved[out.ID], o.lost)
		}
	}
	if o.lost {
		f.listed = "fail that the seed skill had solved"
	}
	return f, nil
}

func (f *failures) take(out trajectory.Outcome, solved, lostOnly bool) {
	f.Tasks++
	if out.Hard >= 1 {
		return
	}
	if solved {
		f.Lost = append(f.Lost, out.ID)
	}
	if solved || !lostOnly {
		f.Failing = append(f.Failing, out)
	}
}

func (f failures) print(out printer, path string) error {
	fmt.Fprintf(out, "%s: %d of %s %s\n", f.Where, len(f.Failing), plural.Of(f.Tasks, "task", "tasks"), f.listed)
	for _, o := range f.Failing {
		mark := ""
		if slices.Contains(f.Lost, o.ID) {
			mark = "  (the seed skill had solved it)"
		}
		kind := ""
		if o.Type != "" {
			kind = "  " + oneLine(o.Type)
		}
		fmt.Fprintf(out, "\n%s%s%s\n", oneLine(o.ID), kind, mark)
		out.hang("  answer    ", oneLine(o.Answer))
		out.hang("  reference ", oneLine(o.Reference))
		if o.FailReason != "" {
			out.hang("  why       ", oneLine(o.FailReason))
		}
	}
	if len(f.Unmeasured) > 0 {
		out.paragraph(fmt.Sprintf("not measured: %s", oneLine(strings.Join(f.Unmeasured, ", "))))
	}
	if len(f.Failing) > 0 {
		_, err := fmt.Fprintf(out, "\nskillopt runs task %s %s --prompt shows all of one\n", path, oneLine(f.Failing[0].ID))
		return err
	}
	return nil
}
