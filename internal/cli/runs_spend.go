package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// runsSpendOptions are the flags of runs spend.
type runsSpendOptions struct {
	last float64
	by   string
}

func runsSpendCommand(a *app) *cobra.Command {
	var o runsSpendOptions
	c := &cobra.Command{
		Use:   "spend [RUN]",
		Short: "Say what each part of a run paid for, and what it brought",
		Long: `List calls, tokens and money by part of a run (the scoring of the seed skill, each step,
the end of each epoch, the final evaluation), and by how much the score of the best skill on
the selection split rose in it, or with --by by stage, role, model or step; then what was lost,
and why: attempts without a result, and calls in episodes that were cut. --last 1 looks at the calls alone that the last dollar
paid for. Without RUN it is the newest one in the folder runs, at work or not.`,
		Example: `  skillopt runs spend
  skillopt runs spend runs/my-skill-1 --by model
  skillopt runs spend runs/my-skill-1 --last 1`,
		Args: atMost(1, "at most one run directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := runOrNewest(a, args)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("last") && !(o.last > 0) {
				return usagef("--last %v: want dollars, more than 0", o.last)
			}
			if o.last > 0 && o.by != record.ByPart {
				return usagef("--last looks at parts of the run: it goes with no --by")
			}
			return o.run(cmd.Context(), a, path)
		},
	}
	c.Flags().StringVar(&o.by, "by", record.ByPart, "sum up by part, stage, role, model or step")
	c.Flags().Float64Var(&o.last, "last", 0, "look at the calls that the last so many dollars paid for")
	return c
}

// spentBy is what spending can be summed up by.
func spentBy() []string {
	return []string{record.ByPart, record.ByStage, record.ByRole, record.ByModel, record.ByStep}
}

// run says what was paid for.
func (o *runsSpendOptions) run(ctx context.Context, a *app, path string) error {
	r, err := openRecord(ctx, a, path)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it was only read
	spent := ask.Spending{RunDir: a.absolute(path), By: record.ByPart, Lost: []record.Lost{}}
	if o.last > 0 {
		spent.Parts, err = r.LastSpending(ctx, o.last)
	} else {
		spent, err = ask.Spent(ctx, r, spent.RunDir, o.by)
	}
	if errors.Is(err, record.ErrNoPrice) {
		return usagef("--last: %v (set prices.MODEL before a run); `skillopt runs spend %s` counts calls and tokens", err, path)
	}
	if err != nil {
		return asFlag(err)
	}
	if a.json {
		return printAnswer(a.Out, spent)
	}
	return printSpending(a.paged(), spent)
}

// printSpending prints what parts of a run paid for, and where the last gain was.
func printSpending(out printer, spent ask.Spending) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	gained := spent.By == record.ByPart || spent.By == record.ByStep
	fmt.Fprint(w, strings.ToUpper(spent.By)+"\tCALLS\tFAILED\tIN\tCACHED\tOUT\tUSD")
	if gained {
		fmt.Fprint(w, "\tBEST\tGAIN")
	}
	fmt.Fprintln(w)
	taken, unknown := 0, 0
	for _, p := range spent.Parts {
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\t%s\t%s", oneLine(p.Part), p.Calls, p.Failed, aboutText(p.Input, p.Unknown), aboutText(p.Cached, p.Unknown), aboutText(p.Output, p.Unknown), usdText(p.USD))
		if gained {
			fmt.Fprintf(w, "\t%s\t%s", scoreText(p.Best), signedText(p.Gain))
		}
		fmt.Fprintln(w)
		taken, unknown = taken+p.TakenOver, unknown+p.Unknown
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print what was spent: %w", err)
	}
	notCounted(out, taken, unknown)
	if text := sinceGain(spent.Parts); text != "" && spent.By == record.ByPart {
		out.paragraph(text)
	}
	for _, l := range spent.Lost {
		out.line(lostText(l))
	}
	return nil
}

// lostText says what gave no result for one reason.
func lostText(l record.Lost) string {
	usd := ""
	if l.USD != nil && *l.USD > 0 {
		usd = fmt.Sprintf(", $%.4f", *l.USD)
	}
	if l.What == record.LostEpisodes {
		return fmt.Sprintf("lost: %s in %s at episodes that gave no result (%s)%s", wording.Plural(l.Count, "call", "calls"), wording.Plural(l.Tries, "attempt", "attempts"), oneLine(l.Code), usd)
	}
	if usd != "" {
		usd = ", at most" + usd[1:]
	}
	return fmt.Sprintf("lost: %s without a result (%s)%s", wording.Plural(l.Count, "attempt", "attempts"), oneLine(l.Code), usd)
}

// sinceGain says what was spent on training after the last gain, "" if nothing was.
func sinceGain(parts []record.Spent) string {
	last, calls, usd, priced := "", 0, 0.0, true
	for _, p := range parts {
		switch {
		case p.Gain != nil && *p.Gain > 0:
			last, calls, usd, priced = p.Part, 0, 0, true
		case p.Gain != nil:
			calls += p.Calls
			priced = priced && (p.USD != nil || p.Calls == 0)
			if p.USD != nil {
				usd += *p.USD
			}
		}
	}
	if calls == 0 {
		return ""
	}
	text := wording.Plural(calls, "call", "calls")
	if priced && usd > 0 {
		text += fmt.Sprintf(" ($%.4f)", usd)
	}
	if last == "" {
		return text + " of training brought no gain on the selection tasks"
	}
	return fmt.Sprintf("%s of training after %s brought no gain on the selection tasks", text, last)
}
