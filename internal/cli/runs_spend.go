package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// spentBy returns what calls can be summed up by.
func spentBy() []string {
	return []string{record.ByStage, record.ByPart, record.ByRole, record.ByModel, record.ByStep}
}

// sum says what was paid for.
func (o *runsCallsOptions) sum(ctx context.Context, a *app, path string, r *record.Run) error {
	spent, err := ask.SumSpending(ctx, r, a.absolute(path), cmp.Or(o.by, record.ByStage))
	if err != nil {
		return asFlag(err)
	}
	if a.json {
		return printAnswer(a.Out, spent)
	}
	return printSpending(a.tablePrinter(), spent)
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
