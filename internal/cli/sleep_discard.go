package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
)

// sleepDiscardOptions are the flags of sleep discard.
type sleepDiscardOptions struct {
	project string
	yes     bool
}

func sleepDiscardCommand(a *app, profile *string) *cobra.Command {
	var o sleepDiscardOptions
	c := &cobra.Command{
		Use:   "discard [NIGHT]",
		Short: "Delete what a night has staged",
		Long: `Delete what a night has staged. What is known of the night stays, and so do its tasks: a later
night may propose the same again. What it had begun to show is dropped with it. Without
NIGHT the last one. On a terminal it asks first.`,
		Example: `  skillopt sleep discard
  skillopt sleep discard 20261125-200000 --yes`,
		Args: atMost(1, "at most one night"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), a, *profile, nightArg(args))
		},
	}
	addNightProject(c, &o.project)
	c.Flags().BoolVar(&o.yes, "yes", false, "do not ask")
	return c
}

func (o *sleepDiscardOptions) run(ctx context.Context, a *app, profile, id string) (err error) {
	setup, err := a.sleepSetup(profile)
	if err != nil {
		return err
	}
	b, err := setup.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	r, err := setup.nightOf(ctx, a, b, o.project, id)
	if err != nil {
		return err
	}
	// It need not be as the night has written it.
	if _, err := night.Open(setup.dir, r.Project, r.ID); errors.Is(err, fs.ErrNotExist) {
		return usagef("night %s has staged nothing; `skillopt sleep explain %s` says why", r.ID, r.ID)
	}
	if err := a.sure(o.yes, fmt.Sprintf("delete what night %s of %s has staged? [y/N] ", r.ID, oneLine(r.Project)), "nothing was deleted"); err != nil {
		return err
	}
	if err := night.Discard(setup.dir, r.Project, r.ID); err != nil {
		return err
	}
	if err := dropCandidates(ctx, b, r); err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, map[string]any{"night": r.ID, "project": r.Project, "discarded": true})
	}
	a.shown().line("discarded what night " + r.ID + " has staged; the live documents were never touched")
	return nil
}

// dropCandidates ends the evidence for what a night had staged.
func dropCandidates(ctx context.Context, b *bank.Bank, r *night.Report) error {
	for i := range r.Targets {
		list, err := b.Candidates(ctx, r.Project, r.Targets[i].Target)
		if err != nil {
			return err
		}
		for _, c := range list {
			if c.Night != r.ID || c.State != bank.Carried {
				continue
			}
			c.State, c.Reason = bank.Dropped, "discarded by the user"
			if err := b.Update(ctx, c); err != nil {
				return err
			}
		}
	}
	return nil
}
