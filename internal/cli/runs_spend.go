package cli

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/plural"
	"github.com/seed-f4525e22/skillopt/internal/record"
)

// runsSpendOptions are the flags of runs spend.
type runsSpendOptions struct{ last float64 }

func runsSpendCommand(a *app) *cobra.Command {
	var o runsSpendOptions
	c := &cobra.Command{
		Use:   "spend [RUN]",
		Short: "Say what each part of a run paid for, and what it brought",
		Long: `List calls, tokens and money by part of a run (the scoring of the seed skill, each step,
the end of each epoch, the final evaluation), and by how much the score of the best skill on
the selection split rose in it. --last 1 looks at the calls alone that the last dollar
paid for. Without RUN it is the newest one in the folder runs, at work or not.`,
		Example: `  skillopt runs spend
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
			return o.run(cmd.Context(), a, path)
		},
	}
	c.Flags().Float64Var(&o.last, "last", 0, "look at the calls that the last so many dollars paid for")
	return c
}

// run says what was paid for.
func (o *runsSpendOptions) run(ctx context.Context, a *app, path string) error {
	r, err := openRecord(ctx, a, path)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it was only read
	var parts []record.Spent
	if o.last > 0 {
		parts, err = r.LastSpending(ctx, o.last)
	} else {
		parts, err = r.Spending(ctx)
	}
	if errors.Is(err, record.ErrNoPrice) {
		return usagef("--last: %v (set prices.MODEL before a run); `skillopt runs spend %s` counts calls and tokens", err, path)
	}
	if err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, ask.Spending{RunDir: a.absolute(path), Parts: parts})
	}
	return printSpending(a.paged(), parts)
}

// printSpending prints what parts of a run paid for, and where the last gain was.
func printSpending(out printer, parts []record.Spent) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PART\tCALLS\tFAILED\tIN\tOUT\tUSD\tBEST\tGAIN")
	taken, unknown := 0, 0
	for _, p := range parts {
		gain := "-"
		if p.Gain != nil {
			gain = fmt.Sprintf("%+.3f", *p.Gain)
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\n", oneLine(p.Part), p.Calls, p.Failed, aboutText(p.Input, p.Unknown), aboutText(p.Output, p.Unknown), usdText(p.USD), scoreText(p.Best), gain)
		taken, unknown = taken+p.TakenOver, unknown+p.Unknown
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print what was spent: %w", err)
	}
	notCounted(out, taken, unknown)
	if text := sinceGain(parts); text != "" {
		out.paragraph(text)
	}
	return nil
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
	text := plural.Of(calls, "call", "calls")
	if priced && usd > 0 {
		text += fmt.Sprintf(" ($%.4f)", usd)
	}
	if last == "" {
		return text + " of training brought no gain on the selection tasks"
	}
	return fmt.Sprintf("%s of training after %s brought no gain on the selection tasks", text, last)
}
