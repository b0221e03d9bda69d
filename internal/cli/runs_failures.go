package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/fit"
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
	Tasks      int                  `json:"tasks"`             // that were measured
	Answers    int                  `json:"answers,omitempty"` // that were measured, where passes gave a task several
	Unmeasured []string             `json:"unmeasured,omitempty"`
	Failing    []trajectory.Outcome `json:"failing"` // answers: of several passes a task may have several
	Lost       []string             `json:"lost"`    // ids of those that the seed skill had solved
	listed     string               // what of them is listed
	asked      map[string]int       // measured answers by task
}

// run lists what fails.
func (o *runsFailuresOptions) run(ctx context.Context, a *app, path string) error {
	r, err := openRecord(ctx, a, path)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it was only read
	sheets, seed, err := o.sheets(r, path)
	if err != nil {
		return err
	}
	f, err := o.failing(r, sheets, seed)
	if err != nil {
		return err
	}
	f.RunDir = a.absolute(path)
	if sheets[0].Split == "test" {
		noteLook(ctx, a, path, r, "runs failures")
	}
	if a.json {
		return printJSON(a.Out, shareable(f))
	}
	listed, asked := f.listed, f.asked
	f = shareable(f)
	f.listed, f.asked = listed, asked
	return f.print(a.paged(), path)
}

// sheets finds the outcomes of the skill that is looked at, of an evaluation on all its splits
// but test, and those of the seed skill on the same split, nil if there are none.
func (o *runsFailuresOptions) sheets(r *record.Run, path string) (sheets []record.Sheet, seed *record.Sheet, err error) {
	all, err := r.Sheets()
	if err != nil {
		return nil, nil, err
	}
	switch {
	case o.test:
		sheets = onTest(all)
	case len(r.History.Steps) > 0:
		sheets, err = o.judged(r, all)
	default:
		sheets = those(all, func(s record.Sheet) bool { return s.Arm == "skill" && s.Split != "test" })
	}
	if err != nil {
		return nil, nil, err
	}
	if len(sheets) == 0 {
		return nil, nil, usagef("run %s has written down no outcomes there; it has: %s", path, strings.Join(titlesOf(all), "; "))
	}
	for _, s := range all {
		if s.Arm == "seed" && s.Split == sheets[0].Split && s != sheets[0] {
			seed = &s
		}
	}
	return sheets, seed, nil
}

func those(all []record.Sheet, wanted func(record.Sheet) bool) (out []record.Sheet) {
	for _, s := range all {
		if wanted(s) {
			out = append(out, s)
		}
	}
	return out
}

// onTest are the outcomes of the best skill on the test split, or of the one that was evaluated.
func onTest(all []record.Sheet) []record.Sheet {
	for _, arm := range []string{"best", "skill", "seed"} { // a seed skill that stayed the best was measured once
		if found := those(all, func(s record.Sheet) bool { return s.Split == "test" && s.Arm == arm }); len(found) > 0 {
			return found
		}
	}
	return nil
}

// judged are the outcomes of the skill of a step on the tasks that judged it.
func (o *runsFailuresOptions) judged(r *record.Run, all []record.Sheet) ([]record.Sheet, error) {
	step, err := r.ParseStep(o.step)
	if err != nil {
		return nil, usagef("--step: %v", err)
	}
	if o.step == "best" {
		best, found, err := r.BestSheet()
		if err != nil || found { // a slow update may have made it, which is no step
			return []record.Sheet{best}, err
		}
	}
	found := those(all, func(s record.Sheet) bool { return s.Step == step && s.Epoch == 0 && s.Split == "selection" })
	return found[:min(1, len(found))], nil
}

func titlesOf(all []record.Sheet) []string {
	var out []string
	test := false
	for _, s := range all {
		if s.Split == "test" {
			test = true
		} else {
			out = append(out, s.Title())
		}
	}
	if test {
		out = append(out, "those of the test split, with --test")
	}
	if len(out) == 0 {
		return []string{"none at all"}
	}
	return out
}

// failing finds out what fails, and which of it the seed skill had solved.
func (o *runsFailuresOptions) failing(r *record.Run, sheets []record.Sheet, seed *record.Sheet) (failures, error) {
	f := failures{Failing: []trajectory.Outcome{}, Lost: []string{}, listed: "fail", asked: map[string]int{}}
	solved := map[string]bool{}
	if seed != nil {
		before, err := r.Outcomes(*seed)
		if err != nil {
			return f, err
		}
		for _, b := range before {
			solved[b.ID] = b.Status.Measured() && b.Hard >= 1
		}
	}
	for _, sheet := range sheets {
		outcomes, err := r.Outcomes(sheet)
		if err != nil {
			return f, err
		}
		for _, out := range outcomes {
			if o.kind == "" || out.Type == o.kind {
				f.take(out, solved[out.ID], o.lost)
			}
		}
	}
	f.Where = strings.Join(titlesOf(sheets), " and ")
	if sheets[0].Split == "test" {
		f.Where = sheets[0].Title()
	}
	if f.Tasks = len(f.asked); f.Answers == f.Tasks {
		f.Answers = 0
	}
	if o.lost {
		f.listed = "fail that the seed skill had solved"
	}
	return f, nil
}

func (f *failures) take(out trajectory.Outcome, solved, lostOnly bool) {
	if !out.Status.Measured() {
		if !slices.Contains(f.Unmeasured, out.ID) {
			f.Unmeasured = append(f.Unmeasured, out.ID)
		}
		return
	}
	f.asked[out.ID]++
	f.Answers++
	if out.Hard >= 1 {
		return
	}
	if solved && !slices.Contains(f.Lost, out.ID) {
		f.Lost = append(f.Lost, out.ID)
	}
	if solved || !lostOnly {
		f.Failing = append(f.Failing, out)
	}
}

// longAnswer is how much of an answer or a reason is listed, in bytes; --json and runs task
// have all.
const longAnswer = 600

func (f failures) print(out printer, path string) error {
	wrong := map[string]int{} // answers by task
	var first []trajectory.Outcome
	for _, o := range f.Failing {
		if wrong[o.ID]++; wrong[o.ID] == 1 {
			first = append(first, o)
		}
	}
	fmt.Fprintf(out, "%s: %d of %s %s\n", f.Where, len(first), plural.Of(f.Tasks, "task", "tasks"), f.listed)
	for _, o := range first {
		mark := ""
		if slices.Contains(f.Lost, o.ID) {
			mark = "  (the seed skill had solved it)"
		}
		kind := ""
		if o.Type != "" {
			kind = "  " + oneLine(o.Type)
		}
		fmt.Fprintf(out, "\n%s%s%s\n", oneLine(o.ID), kind, mark)
		if n := f.asked[o.ID]; n > 1 {
			fmt.Fprintf(out, "  fails in  %d of %d passes, first so:\n", wrong[o.ID], n)
		}
		out.hang("  answer    ", fit.Middle(oneLine(o.Answer), longAnswer))
		out.hang("  reference ", fit.Middle(oneLine(o.Reference), longAnswer))
		if o.FailReason != "" {
			out.hang("  why       ", fit.Middle(oneLine(o.FailReason), longAnswer))
		}
	}
	if len(f.Unmeasured) > 0 {
		out.paragraph(fmt.Sprintf("not measured: %s", oneLine(strings.Join(f.Unmeasured, ", "))))
	}
	if len(first) > 0 {
		_, err := fmt.Fprintf(out, "\n%s shows all of one\n", askTask(path, first[0].ID, "--prompt"))
		return err
	}
	return nil
}

// askTask is the command that shows a task of a run. What is pasted into a shell runs nothing
// else, whatever the task is called.
func askTask(path, id, flags string) string {
	words := shellWord(path) + " " + shellWord(oneLine(id))
	if strings.HasPrefix(id, "-") || strings.HasPrefix(path, "-") {
		return fmt.Sprintf("skillopt runs task %s -- %s", flags, words)
	}
	return fmt.Sprintf("skillopt runs task %s %s", words, flags)
}
