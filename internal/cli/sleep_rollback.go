package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/sleep/adopt"
)

// sleepRollbackOptions are the flags of sleep rollback.
type sleepRollbackOptions struct {
	project string
	yes     bool
}

func sleepRollbackCommand(a *app, profile *string) *cobra.Command {
	var o sleepRollbackOptions
	c := &cobra.Command{
		Use:   "rollback [NUMBER]",
		Short: "Take back what was adopted",
		Long: `Put back what the documents held before an adoption, byte for byte, where they are as they were
adopted. In one that was edited since, its rules are taken out of the learned region one by one;
what became of each is said. What was committed to a branch is taken back there: the branch goes back
to where it was, or, where it went on, a further commit takes the rules out. Without NUMBER the last adoption that stands. On a terminal it asks
first.`,
		Example: `  skillopt sleep rollback
  skillopt sleep rollback 3 --yes`,
		Args: atMost(1, "at most one number of skillopt sleep history"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, *profile, args) },
	}
	addNightProject(c, &o.project)
	c.Flags().BoolVar(&o.yes, "yes", false, "do not ask")
	return c
}

// rolledBack is the result of sleep rollback.
type rolledBack struct {
	Receipt   *adopt.Record `json:"receipt"` // null: there was nothing to take back
	Documents []adopt.Taken `json:"documents"`
	Reason    string        `json:"reason,omitempty"`
}

func (o *sleepRollbackOptions) run(ctx context.Context, a *app, profile string, args []string) error {
	n, err := numberArg(args)
	if err != nil {
		return err
	}
	setup, err := a.sleepSetup(profile)
	if err != nil {
		return err
	}
	store, err := setup.adoptions(a.version)
	if err != nil {
		return err
	}
	of, err := o.which(a, store, n)
	if errors.Is(err, adopt.ErrNothing) {
		return nothingBack(a, err)
	}
	if err != nil {
		return err
	}
	question := fmt.Sprintf("take back number %d, what night %s proposed for %s? [y/N] ", of.N, of.Night, oneLine(of.Project))
	if !o.yes && !a.Terminal {
		return usagef("there is nobody to ask: --yes takes back number %d", of.N)
	}
	if !o.yes {
		if err := a.agree(question, "nothing was written"); err != nil {
			return err
		}
	}
	r, taken, err := store.Rollback(ctx, of.Project, of.N)
	if errors.Is(err, adopt.ErrNothing) {
		return nothingBack(a, err)
	}
	if err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, ask.Shareable(rolledBack{Receipt: &r, Documents: taken}))
	}
	if b := r.Branch; b != nil {
		text := "branch " + b.Name + " was taken away: it held nothing else"
		if b.Commit != "" {
			text = fmt.Sprintf("branch %s is at %.12s; no file was written", b.Name, b.Commit)
		}
		a.shown().line(oneLine(text))
	}
	for _, t := range taken {
		a.shown().line(oneLine(takenBackText(t)))
	}
	return nil
}

func numberArg(args []string) (int, error) {
	if len(args) == 0 {
		return 0, nil
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || n < 1 {
		return 0, usagef("%q is no number of an adoption; skillopt sleep history lists them", args[0])
	}
	return n, nil
}

// which finds the adoption that is to be taken back: by its number, or the last one.
func (o *sleepRollbackOptions) which(a *app, store *adopt.Store, n int) (adopt.Record, error) {
	project := ""
	if o.project != "" {
		project = a.folder(o.project)
	}
	return store.Standing(project, n)
}

func nothingBack(a *app, err error) error {
	if a.json {
		return printJSON(a.Out, rolledBack{Documents: []adopt.Taken{}, Reason: err.Error()})
	}
	a.shown().line(oneLine(err.Error()))
	return nil
}

// takenBackText says what happened to a document.
func takenBackText(t adopt.Taken) string {
	if t.Exact {
		return t.Target + ": it holds what it held before, byte for byte"
	}
	parts := []string{fmt.Sprintf("it was edited since; %d of its rules were taken out one by one", len(t.Removed))}
	if len(t.Missing) > 0 {
		parts = append(parts, "not there any more: "+strings.Join(t.Missing, " | "))
	}
	if len(t.Back) > 0 {
		parts = append(parts, "there again: "+strings.Join(t.Back, " | "))
	}
	return t.Target + ": " + strings.Join(parts, "; ")
}
