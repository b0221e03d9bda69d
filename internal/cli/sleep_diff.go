package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
)

// sleepDiffOptions are the flags of sleep diff.
type sleepDiffOptions struct{ project string }

func sleepDiffCommand(a *app, profile *string) *cobra.Command {
	var o sleepDiffOptions
	c := &cobra.Command{
		Use:   "diff [NIGHT]",
		Short: "Show how what a night has staged differs from the live documents",
		Long: `Show, for each document that a night proposes a text for, how it differs from the bytes that
the night began with. Without NIGHT the last one. Characters that steer a terminal are
escaped.`,
		Example: `  skillopt sleep diff
  skillopt sleep diff 20261125-200000 --color always`,
		Args: atMost(1, "at most one night"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), a, *profile, nightArg(args))
		},
	}
	addNightProject(c, &o.project)
	return c
}

// nightDiff is what a night would change of a document.
type nightDiff struct {
	Target  string        `json:"target"`
	Outcome night.Outcome `json:"outcome"`
	Reason  string        `json:"reason"`
	Diff    string        `json:"diff"`
	Hash    string        `json:"hash"` // of the document with its files, for sleep adopt --expect; "": it cannot be adopted as it is
}

func (o *sleepDiffOptions) run(ctx context.Context, a *app, profile, id string) error {
	return withNight(ctx, a, profile, o.project, id, func(s sleepSetup, r *night.Report) error {
		p, err := stagedOf(s, r)
		if err != nil {
			return err
		}
		list := []nightDiff{}
		for _, item := range p.Items {
			hash := hashToAdopt(ctx, a, s, r, sleepAdoptOptions{targets: []string{item.Target}})
			live, err := p.Live(item.Target)
			if err != nil {
				return usagef("%v", err)
			}
			text, err := p.Text(item.Target)
			if err != nil {
				return usagef("%v", err)
			}
			files, err := p.Files(item.Target)
			if err != nil {
				return usagef("%v", err)
			}
			list = append(list, nightDiff{Target: item.Target, Outcome: item.Outcome, Reason: item.Reason, Diff: record.DiffText(live, text, item.Target, "live", "proposed").Diff, Hash: hash})
			for _, f := range files {
				name := item.Target + "/" + f.Path
				list = append(list, nightDiff{Target: name, Outcome: item.Outcome, Reason: item.Reason, Diff: record.DiffText(f.Base, f.Text, name, "live", "proposed").Diff, Hash: hash})
			}
		}
		if a.json {
			return printJSON(a.Out, ask.Shareable(list))
		}
		for _, d := range list {
			if _, err := fmt.Fprintf(a.Out, "%s: %s: %s\n", oneLine(d.Target), d.Outcome, oneLine(d.Reason)); err != nil {
				return err
			}
			if err := a.writeDiff(d.Diff); err != nil {
				return err
			}
		}
		return nil
	})
}
