package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/wording"
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
		RunE: onRun(a, o.run),
	}
	c.Flags().StringVar(&o.step, "step", "best", "a step, whose candidate is looked at, or best")
	c.Flags().StringVar(&o.kind, "type", "", "tasks of this type alone")
	c.Flags().BoolVar(&o.lost, "lost", false, "only tasks that the seed skill had solved")
	c.Flags().BoolVar(&o.test, "test", false, "those of the test split, with the best skill")
	return c
}

// run lists what fails.
func (o *runsFailuresOptions) run(ctx context.Context, a *app, path string) error {
	r, err := openRecord(ctx, a, path)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it was only read
	f, err := ask.Failing(r, a.absolute(path), path, ask.FailuresQuestion{Step: o.step, Type: o.kind, Lost: o.lost, Test: o.test})
	if err != nil {
		return asFlag(err)
	}
	if f.OfTest {
		noteLook(ctx, a, path, r, "runs failures")
	}
	if a.json {
		return printAnswer(a.Out, f)
	}
	listed := "fail"
	if o.lost {
		listed = "fail that the seed skill had solved"
	}
	return printFailures(a.paged(), f, listed, path)
}

// longAnswer is how much of an answer or a reason is listed, in bytes; --json and runs task
// have all.
const longAnswer = 600

// printFailures prints what fails; listed is what of it.
func printFailures(out printer, f ask.Failures, listed, path string) error {
	fmt.Fprintf(out, "%s: %d of %s %s%s\n", f.Where, len(f.List), wording.Plural(f.Tasks, "task", "tasks"), listed, f.Over())
	for _, o := range f.List {
		mark := ""
		if slices.Contains(f.Lost, o.ID) {
			mark = "  (the seed skill had solved it)"
		}
		kind := ""
		if o.Type != "" {
			kind = "  " + oneLine(o.Type)
		}
		fmt.Fprintf(out, "\n%s%s%s\n", oneLine(o.ID), kind, mark)
		if o.Draws > 1 {
			fmt.Fprintf(out, "  fails in  %d of %d answers\n", o.Failures, o.Draws)
		}
		if o.Unread {
			fmt.Fprintln(out, "  answer    of a later pass: runs task shows it")
			continue
		}
		out.hang("  answer    ", wording.Middle(oneLine(o.Answer), longAnswer))
		out.hang("  reference ", wording.Middle(oneLine(o.Reference), longAnswer))
		if o.FailReason != "" {
			out.hang("  why       ", wording.Middle(oneLine(o.FailReason), longAnswer))
		}
	}
	if len(f.Unmeasured) > 0 {
		out.paragraph(fmt.Sprintf("not measured: %s", oneLine(strings.Join(f.Unmeasured, ", "))))
	}
	if len(f.List) > 0 {
		_, err := fmt.Fprintf(out, "\n%s shows all of one\n", askTask(path, f.List[0].ID, "--prompt"))
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
