package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// runsCallsOptions are the flags of runs calls.
type runsCallsOptions struct {
	by, stage, key string
	failed, test   bool
	limit          int
}

func runsCallsCommand(a *app) *cobra.Command {
	var o runsCallsOptions
	c := &cobra.Command{
		Use:   "calls [RUN]",
		Short: "Sum up the model calls of a run and what they cost, list them, or show one",
		Long: `Sum up the model calls of a run, their tokens and money by stage, or with --by by part of the
run (the scoring of the seed skill, each step, the end of each epoch, the final evaluation), role,
model or step: by part and step with how much the score of the best skill on the selection split
rose there. Then what was lost, and why: attempts without a result, and calls in episodes that
were cut.

With --stage or --failed, list the latest of these calls; with --key, show one: what the model was
sent, and its reply, or all calls of an episode. Calls about test tasks are listed with --test
alone, since what they took says something of the answers. That is a reading of the test set, and
so is --key of such a call: it is noted, and later runs count it.
Without RUN it is the newest one in the folder runs, at work or not.`,
		Example: `  skillopt runs calls
  skillopt runs calls runs/quickstart-1 --by part
  skillopt runs calls runs/quickstart-1 --stage merge
  skillopt runs calls runs/quickstart-1 --failed --limit 0 --json
  skillopt runs calls runs/quickstart-1 --key e1/s1/mb0/analyst_error/0/attempt0/turn1`,
		Args: atMost(1, "at most one run directory"),
		RunE: onRun(a, o.run),
	}
	c.Flags().StringVar(&o.by, "by", "", "sum up by stage, which it is by default, part, role, model or step")
	c.Flags().StringVar(&o.stage, "stage", "", "calls made for this, such as rollout, analyst_error, merge or ranking")
	c.Flags().BoolVar(&o.failed, "failed", false, "attempts that gave no result")
	c.Flags().StringVar(&o.key, "key", "", "the call, or the calls inside the episode, with this key, whole")
	c.Flags().BoolVar(&o.test, "test", false, "calls about test tasks as well")
	c.Flags().IntVar(&o.limit, "limit", 50, "at most this many, the latest; 0: all")
	return c
}

// run lists calls, or shows one.
func (o *runsCallsOptions) run(ctx context.Context, a *app, path string) error {
	if o.limit < 0 {
		return usagef("--limit %d: want 0 or more", o.limit)
	}
	listed := o.stage != "" || o.failed || o.test
	if o.by != "" && (listed || o.key != "") {
		return usagef("--by sums up all calls, and --stage, --failed, --test and --key show some of them: leave out --by, or the others")
	}
	r, err := openRecord(ctx, a, path)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it was only read
	if o.key != "" {
		return o.one(ctx, a, path, r)
	}
	if !listed {
		return o.sum(ctx, a, path, r)
	}
	calls, err := ask.ListCalls(ctx, r, a.absolute(path), ask.CallsQuestion{Stage: o.stage, Failed: o.failed, Test: o.test, Limit: o.limit, After: -1})
	if err != nil {
		return err
	}
	if calls.OfTest {
		noteLook(ctx, a, path, r, "runs calls")
	}
	if len(calls.Calls) == 0 && calls.TestLeftOut == 0 && o.stage != "" {
		return o.newStageError(ctx, r)
	}
	return o.list(a, calls)
}

// newStageError returns an error that names the stages.
func (o *runsCallsOptions) newStageError(ctx context.Context, r *record.Run) error {
	all, err := r.Calls(ctx, record.Filter{})
	if err != nil {
		return err
	}
	stages := map[string]bool{}
	for _, c := range all {
		if c.Stage != "" {
			stages[c.Stage] = true
		}
	}
	return usagef("--stage %s: the run has no such call; it has %s", o.stage, namesList(slices.Sorted(maps.Keys(stages))))
}

func namesList(names []string) string {
	if len(names) == 0 {
		return "none at all"
	}
	return oneLine(fmt.Sprint(names))
}

// list prints calls, the latest ones last.
func (o *runsCallsOptions) list(a *app, list ask.Calls) error {
	if a.json {
		return printAnswer(a.Out, list)
	}
	out := a.tablePrinter()
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "STARTED\tSTAGE\tIN\tOUT\tUSD\tSECONDS\tRESULT\tKEY")
	for _, c := range list.Calls {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%.2f\t%s\t%s\n", cmp.Or(c.StartedAt, "-"), c.Stage, tokenText(c, c.Usage.Input), tokenText(c, c.Usage.Output), usdText(c.USD), c.Seconds, fateText(c), placeText(c))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print calls: %w", err)
	}
	if list.Left > 0 {
		fmt.Fprintf(out, "and %s before them (--limit 0 lists all)\n", wording.Plural(list.Left, "call", "calls"))
	}
	if list.TestLeftOut > 0 {
		fmt.Fprintf(out, "%s about test tasks are left out: --test lists them, which is a reading of the test set\n", wording.Plural(list.TestLeftOut, "call", "calls"))
	}
	return nil
}

// placeText returns the key of a call. For a call inside an episode it adds the attempt if that is
// not the first.
func placeText(c record.Call) string {
	if c.InEpisode() && c.Attempt > 0 {
		return fmt.Sprintf("%s (attempt %d)", oneLine(c.Key), c.Attempt+1)
	}
	return oneLine(c.Key)
}

// tokenText returns a count of tokens. The count of an attempt that gave no result is not known,
// except for the most that it can have been.
func tokenText(c record.Call, n int64) string {
	switch {
	case c.Estimate && n == 0:
		return "?"
	case c.Estimate:
		return fmt.Sprintf("<=%d", n)
	}
	return fmt.Sprint(n)
}

func usdText(usd *float64) string {
	if usd == nil {
		return "-"
	}
	return fmt.Sprintf("%.6f", *usd)
}

func fateText(c record.Call) string {
	switch {
	case c.Origin != nil:
		return fmt.Sprintf("reused: %s, entry %d", c.Origin.RunID, c.Origin.Entry)
	case c.Code == journal.CodeInherited:
		return "taken over"
	case c.Kind == journal.Fault:
		return cmp.Or(c.Code, "failed")
	case c.Code != "":
		return string(c.Kind) + ", " + c.Code
	}
	return string(c.Kind)
}

// aboutText returns a count of tokens, marked where some calls did not say what they used.
func aboutText(n int64, unknown int) string {
	if unknown > 0 {
		return fmt.Sprintf("~%d", n)
	}
	return fmt.Sprint(n)
}

// notCounted says what a table of calls does not count, and what it does not know.
func notCounted(out printer, taken, unknown int) {
	if taken > 0 {
		out.line(wording.Plural(taken, "answer", "answers") + " taken over, paid for elsewhere: 0 calls")
	}
	if unknown > 0 {
		out.line("usage unknown for " + wording.Plural(unknown, "call", "calls"))
	}
}

// one shows a call.
func (o *runsCallsOptions) one(ctx context.Context, a *app, path string, r *record.Run) error {
	c, err := r.Conversation(ctx, o.key)
	if errors.Is(err, record.ErrNoCall) {
		if shown, err := o.printEpisode(ctx, a, path, r); shown || err != nil {
			return err
		}
		return usagef("--key %s: the run has no model call under this key; `skillopt runs calls %s --stage STAGE` lists keys", o.key, path)
	}
	if err != nil {
		return err
	}
	if r.OfTest(record.ParsePlace(o.key)) {
		noteLook(ctx, a, path, r, "runs calls")
	}
	c = shareable(c)
	if a.json {
		return printAnswer(a.Out, c)
	}
	out := a.printer(a.Out)
	for _, m := range c.Messages {
		block(out, "sent, "+m.Role, m.Text)
	}
	if len(c.Tools) > 0 {
		block(out, "tools", string(c.Tools))
	}
	block(out, "reply", c.Reply.Text)
	if c.Limit != "" {
		block(out, "limit of the task", string(c.Limit)+": "+c.Message)
	}
	return nil
}

// printEpisode prints the calls inside an episode, if there is one under the key.
func (o *runsCallsOptions) printEpisode(ctx context.Context, a *app, path string, r *record.Run) (shown bool, err error) {
	place := record.ParsePlace(o.key)
	all, err := r.Tries(ctx, place.Task, o.key)
	if err != nil || len(all) == 0 {
		return false, err
	}
	if r.OfTest(place) {
		noteLook(ctx, a, path, r, "runs calls")
	}
	all = shareable(all)
	if a.json {
		return true, printAnswer(a.Out, ask.Tries{Key: o.key, Attempts: all})
	}
	out := a.printer(a.Out)
	for _, t := range all {
		printTry(out, t)
	}
	return true, nil
}
