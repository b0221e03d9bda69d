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

func sleepRollbackCommand(a *app, at *sleepFlags) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "rollback [NUMBER]",
		Short: "List what was adopted, or take one of it back by its number",
		Long: `Without NUMBER list what was adopted and what was taken back: when, from which night, what it was
called, and on what grounds. With one put back what the documents held before that adoption, byte for
byte, where they are as they were adopted. In one that was edited since, its rules are taken out of
the learned region one by one, and the result for each is said. What was committed to a branch is
taken back there: the branch goes back to where it was, or, where it has moved on, a further commit
takes the rules out. On a terminal it asks first.`,
		Example: `  skillopt sleep rollback
  skillopt sleep rollback 3 --yes`,
		Args: atMost(1, "at most the number of an adoption"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && yes:
				return usagef("--yes: name the adoption by its number; `%s` lists them", cmd.CommandPath())
			case len(args) == 0:
				return listAdoptions(a, *at)
			}
			return takeBack(cmd.Context(), a, *at, args[0], yes)
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

// rolledBack is the result of sleep rollback.
type rolledBack struct {
	Receipt   *adopt.Record `json:"receipt"` // null: there was nothing to take back
	Documents []adopt.Taken `json:"documents"`
	Reason    string        `json:"reason,omitempty"`
}

func takeBack(ctx context.Context, a *app, at sleepFlags, number string, yes bool) error {
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return usagef("%q is no number of an adoption; skillopt sleep rollback lists them", number)
	}
	setup, err := a.sleepSetup(at)
	if err != nil {
		return err
	}
	store, err := setup.adoptions(a.version)
	if err != nil {
		return err
	}
	of, err := store.FindAdoption(setup.project, n)
	if errors.Is(err, adopt.ErrNothing) {
		return nothingBack(a, err)
	}
	if err != nil {
		return err
	}
	question := fmt.Sprintf("take back number %d, what night %s proposed for %s? [y/N] ", of.N, of.Night, oneLine(of.Project))
	if !yes && !a.Terminal {
		return usagef("there is no terminal to ask on: --yes takes back number %d", of.N)
	}
	if !yes {
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
		a.stdoutPrinter().line(oneLine(text))
	}
	for _, t := range taken {
		a.stdoutPrinter().line(oneLine(takenBackText(t)))
	}
	return nil
}

func nothingBack(a *app, err error) error {
	if a.json {
		return printJSON(a.Out, rolledBack{Documents: []adopt.Taken{}, Reason: err.Error()})
	}
	a.stdoutPrinter().line(oneLine(err.Error()))
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

// listAdoptions says what was adopted and taken back, and by which command the last of it is.
func listAdoptions(a *app, at sleepFlags) error {
	setup, err := a.sleepSetup(at)
	if err != nil {
		return err
	}
	list := []adopt.Record{}
	store, err := setup.findAdoptions(a.version)
	if err != nil {
		return err
	}
	var problems error
	if store != nil {
		history, err := store.History()
		problems = err
		for _, r := range history {
			if setup.project == "" || r.Project == setup.project {
				list = append(list, r)
			}
		}
	}
	if a.json {
		return errors.Join(printJSON(a.Out, ask.Shareable(list)), problems)
	}
	if len(list) == 0 {
		a.stdoutPrinter().line("nothing was adopted yet")
	}
	for _, r := range list {
		printAdoption(a.stdoutPrinter(), r)
	}
	if store == nil {
		return problems
	}
	if last, err := store.FindAdoption(setup.project, 0); err == nil {
		a.stdoutPrinter().line("to take the last one back: " + setup.command(fmt.Sprintf("skillopt sleep rollback %d", last.N)))
	}
	return problems
}

func printAdoption(out printer, r adopt.Record) {
	what := "night " + r.Night
	if r.Kind == adopt.RolledBack {
		what = fmt.Sprintf("took back number %d", r.Of)
	}
	if r.Branch != nil {
		what += fmt.Sprintf(", on branch %s", r.Branch.Name)
		if r.Branch.Commit != "" {
			what += fmt.Sprintf(", commit %.12s", r.Branch.Commit)
		}
	}
	out.line(fmt.Sprintf("%3d  %s  %s: %s", r.N, r.Ended.Local().Format("2006-01-02 15:04"), oneLine(r.Project), oneLine(what)))
	for _, c := range r.Files {
		text := "     " + c.Target
		if c.Claim != "" {
			text += ": " + c.Claim + ": " + c.Reason
		}
		if c.Merged {
			text += " (merged)"
		}
		out.line(oneLine(text))
		for _, rule := range c.Rules {
			out.line("       " + oneLine(rule.Text) + groundsText(rule))
		}
	}
}
