package cli

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

// runsPruneOptions are the flags of runs prune.
type runsPruneOptions struct {
	keep                                 int
	unfinished, parents, dry, yes, purge bool
}

func runsPruneCommand(a *app) *cobra.Command {
	o := runsPruneOptions{keep: -1}
	c := &cobra.Command{
		Use:   "prune [DIR] --keep N",
		Short: "Remove all but the newest finished runs of a folder",
		Long: `Move all but the newest N finished runs of a folder (runs, unless another is named) to
its trash, as runs rm does. Runs that were stopped, failed or killed can go on and stay,
unless --unfinished counts them too. A run that a process works on stays, one that cannot be
read too, and one that a run was forked of which stays, unless --parents.`,
		Example: `  skillopt runs prune --keep 10 --dry-run
  skillopt runs prune --keep 10
  skillopt runs prune experiments --keep 0 --unfinished --yes`,
		Args: atMost(1, "at most one folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "runs"
			if len(args) == 1 {
				dir = args[0]
			}
			return o.run(cmd.Context(), a, dir)
		},
	}
	c.Flags().IntVar(&o.keep, "keep", o.keep, "so many stay")
	c.Flags().BoolVar(&o.unfinished, "unfinished", false, "also runs that were stopped, failed or killed")
	c.Flags().BoolVar(&o.parents, "parents", false, "also runs of which there are forks")
	c.Flags().BoolVar(&o.dry, "dry-run", false, "say what would be removed, and remove nothing")
	c.Flags().BoolVar(&o.yes, "yes", false, "do not ask")
	c.Flags().BoolVar(&o.purge, "purge", false, "delete them for good")
	return c
}

// run removes old runs.
func (o *runsPruneOptions) run(ctx context.Context, a *app, dir string) error {
	if o.keep < 0 {
		return usagef("runs prune needs --keep N with how many finished runs stay, 0 or more")
	}
	entries, err := record.List(a.absolute(dir))
	if err != nil {
		return err
	}
	list, kept, err := o.choose(entries)
	if err != nil {
		return err
	}
	if o.dry || len(list) == 0 {
		return o.print(a, list, kept)
	}
	if !o.yes {
		if a.Terminal {
			if err := o.table(a.printer(a.Err), list, kept); err != nil {
				return err
			}
		}
		rm := runsRmOptions{purge: o.purge}
		if err := rm.askShown(a, list); err != nil {
			return err
		}
	}
	return remove(ctx, a, list, o.purge)
}

// askShown asks about runs that were listed.
func (o *runsRmOptions) askShown(a *app, list []removal) error {
	if !a.Terminal {
		return o.ask(a, list)
	}
	question := "move them to the trash? [y/N] "
	if o.purge {
		question = "delete them for good? [y/N] "
	}
	return a.agree(question, "nothing was removed")
}

// choose finds the runs that go, oldest first, and how many stay.
func (o *runsPruneOptions) choose(entries []record.Listed) (list []removal, kept int, err error) {
	var old []record.Listed
	stay := map[string]bool{} // run ids
	for i := len(entries) - 1; i >= 0; i-- {
		e := entries[i]
		finished := e.Err == nil && (e.Manifest.Status == result.Completed || o.unfinished)
		if finished && e.Manifest.Status == result.Running && !record.Killed(e.Dir, e.Manifest) {
			finished = false
		}
		if finished && kept < o.keep {
			kept++
			finished = false
		}
		if finished {
			old = append(old, e)
		} else {
			stay[e.Manifest.RunID] = true
		}
	}
	parents := map[string]bool{}
	for changed := !o.parents; changed; { // a parent that stays may be a fork itself
		changed = false
		for _, e := range entries {
			if id := e.Manifest.ForkedOf; id != "" && stay[e.Manifest.RunID] && !parents[id] {
				parents[id], stay[id], changed = true, true, true
			}
		}
	}
	for i := len(old) - 1; i >= 0; i-- {
		if parents[old[i].Manifest.RunID] {
			continue
		}
		if _, err := run.Removable(old[i].Dir); err != nil {
			continue // it is worked on after all
		}
		r, err := removalOf(old[i].Dir)
		if err != nil {
			return nil, 0, err
		}
		list = append(list, r)
	}
	return list, len(entries) - len(list), nil
}

// print says what would be removed.
func (o *runsPruneOptions) print(a *app, list []removal, kept int) error {
	if a.json {
		return printJSON(a.Out, struct {
			Removed []removal `json:"would_remove"`
			Kept    int       `json:"kept"`
		}{shareable(append([]removal{}, list...)), kept})
	}
	return o.table(a.printer(a.Out), list, kept)
}

func (o *runsPruneOptions) table(out printer, list []removal, kept int) error {
	if len(list) == 0 {
		_, err := fmt.Fprintf(out, "nothing to remove: %s\n", wording.Plural(kept, "run stays", "runs stay"))
		return err
	}
	total := int64(0)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tSTATUS\tSIZE")
	for _, r := range list {
		total += r.Bytes
		fmt.Fprintf(w, "%s\t%s\t%s\n", oneLine(out.path(r.Dir)), r.Status, bytesText(r.Bytes))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print runs: %w", err)
	}
	_, err := fmt.Fprintf(out, "%s, %s; %s\n", wording.Plural(len(list), "run goes", "runs go"), bytesText(total), wording.Plural(kept, "run stays", "runs stay"))
	return err
}
