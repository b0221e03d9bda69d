package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// fails lists what fails.
func (o *runsTasksOptions) fails(ctx context.Context, a *app, path string, r *record.Run) error {
	f, err := ask.ListFailures(r, a.absolute(path), path, ask.FailuresQuestion{Step: cmp.Or(o.step, "best"), Type: o.kind, Test: o.split == "test"})
	if err != nil {
		return asFlag(err)
	}
	if f.OfTest {
		noteLook(ctx, a, path, r, "runs tasks")
	}
	if a.json {
		return printAnswer(a.Out, f)
	}
	return printFailures(a.tablePrinter(), f, path)
}

// longAnswer is how much of an answer or a reason is listed, in bytes; --json and runs
// tasks RUN TASK have all.
const longAnswer = 600

// printFailures prints what fails.
func printFailures(out printer, f ask.Failures, path string) error {
	fmt.Fprintf(out, "%s: %d of %s fail%s\n", f.Where, len(f.List), wording.Plural(f.Tasks, "task", "tasks"), f.Over())
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
			fmt.Fprintln(out, "  answer    of a later pass: runs tasks RUN TASK shows it")
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

// askTask returns the command that shows a task of a run. Pasted into a shell, it runs nothing
// else, whatever the task is called.
func askTask(path, id, flags string) string {
	words := shellWord(path) + " " + shellWord(oneLine(id))
	if strings.HasPrefix(id, "-") || strings.HasPrefix(path, "-") {
		return fmt.Sprintf("skillopt runs tasks %s -- %s", flags, words)
	}
	return fmt.Sprintf("skillopt runs tasks %s %s", words, flags)
}
