package cli

import (
	"fmt"
	"text/tabwriter"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

// oldRuns finds the runs of a folder that go, oldest first: all but the newest finished ones and
// those that a run was forked of which stays.
func (o *runsRmOptions) oldRuns(a *app, args []string) (list []removal, kept int, err error) {
	dir := "runs"
	if len(args) == 1 {
		dir = args[0]
	}
	entries, err := record.List(a.absolute(dir))
	if err != nil {
		return nil, 0, err
	}
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
	for changed := true; changed; { // a parent that stays may be a fork itself
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
		r, err := newRemoval(old[i].Dir)
		if err != nil {
			return nil, 0, err
		}
		list = append(list, r)
	}
	return list, len(entries) - len(list), nil
}

// printRemovals prints what would be removed, and how many runs stay.
func printRemovals(out printer, list []removal, kept int) error {
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
	stay := ""
	if kept > 0 {
		stay = "; " + wording.Plural(kept, "run stays", "runs stay")
	}
	_, err := fmt.Fprintf(out, "%s, %s%s\n", wording.Plural(len(list), "run goes", "runs go"), bytesText(total), stay)
	return err
}
