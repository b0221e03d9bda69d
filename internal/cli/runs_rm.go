package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/testset"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// runsRmOptions are the flags of runs rm.
type runsRmOptions struct {
	keep                        int // below 0: the runs are named
	unfinished, dry, yes, purge bool
}

func runsRmCommand(a *app) *cobra.Command {
	var o runsRmOptions
	c := &cobra.Command{
		Use:   "rm RUN... | rm [DIR] --keep N",
		Short: "Remove runs: to the trash next to them, or for good",
		Long: `Move runs to the folder .trash next to them, under their name and the time, with the notes on
them. What is moved back is a run as before. With --purge they are deleted for good, from the trash
too. On a terminal it asks first.

With --keep N all but the newest N finished runs of a folder (runs, unless another is named) are
removed. Runs that were stopped, failed or killed can continue and stay, unless --unfinished counts
them too. So do runs that cannot be read, and runs of which there are forks that stay.

A run that a process works on is not removed, nor what is no run directory, nor a link.
What a run has read of a test set still counts for later runs. Forks have a record of
their own: they, and runs blame on them, work as before.`,
		Example: `  skillopt runs rm runs/my-skill-3
  skillopt runs rm --keep 10 --dry-run
  skillopt runs rm experiments --keep 0 --unfinished --yes
  skillopt runs list runs/.trash                                    what was removed
  mv runs/.trash/my-skill-3-20260102T150405Z runs/my-skill-3        back again
  skillopt runs rm --purge --yes runs/.trash/*                      empty the trash`,
		Args: func(c *cobra.Command, args []string) error {
			switch keeps := c.Flags().Changed("keep"); {
			case keeps && o.keep < 0:
				return usagef("--keep %d: want how many finished runs stay, 0 or more", o.keep)
			case keeps && len(args) > 1:
				return usagef("--keep is about one folder: name no runs")
			case !keeps && len(args) == 0:
				return usagef("%s takes run directories, or --keep N; `%s --help` shows examples", c.CommandPath(), c.CommandPath())
			case !keeps && o.unfinished:
				return usagef("--unfinished goes with --keep N")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args) },
	}
	c.Flags().IntVar(&o.keep, "keep", -1, "remove all finished runs of a folder but this many, the newest")
	c.Flags().BoolVar(&o.unfinished, "unfinished", false, "with --keep: also runs that were stopped, failed or killed")
	c.Flags().BoolVar(&o.dry, "dry-run", false, "say what would be removed, and remove nothing")
	c.Flags().BoolVar(&o.yes, "yes", false, "do not ask")
	c.Flags().BoolVar(&o.purge, "purge", false, "delete them for good")
	return c
}

// removal is a run that is removed, or is to be.
type removal struct {
	Dir    string   `json:"run_dir"`
	Status string   `json:"status"`
	Bytes  int64    `json:"bytes"`
	Trash  string   `json:"trash,omitempty"` // where it is now
	Purged bool     `json:"purged,omitempty"`
	Kept   []string `json:"kept,omitempty"`  // files that stay of a purged run: what it has read of a test set
	Forks  []string `json:"forks,omitempty"` // runs that were forked of it
	Error  string   `json:"error,omitempty"`

	id string
}

// run removes runs: all of them are looked at before the first is.
func (o *runsRmOptions) run(ctx context.Context, a *app, args []string) error {
	list, kept, err := o.findRuns(a, args)
	if err != nil {
		return err
	}
	if o.dry || len(list) == 0 {
		if a.json {
			return printJSON(a.Out, shareable(append([]removal{}, list...)))
		}
		return printRemovals(a.printer(a.Out), list, kept)
	}
	if !o.yes {
		if err := o.ask(a, list, kept); err != nil {
			return err
		}
	}
	return remove(ctx, a, list, o.purge)
}

// findRuns finds the runs that are to be removed, and how many of a folder stay.
func (o *runsRmOptions) findRuns(a *app, args []string) (list []removal, kept int, err error) {
	if o.keep >= 0 {
		return o.oldRuns(a, args)
	}
	for _, path := range args {
		dir := filepath.Clean(a.absolute(path))
		if slices.ContainsFunc(list, func(r removal) bool { return r.Dir == dir }) {
			continue
		}
		if run.InTrash(dir) && !o.purge {
			return nil, 0, usagef("%s is in the trash already; --purge deletes it for good", path)
		}
		r, err := newRemoval(dir)
		if err != nil {
			return nil, 0, namedAs(err, path)
		}
		list = append(list, r)
	}
	return list, 0, nil
}

// namedAs returns an error that names a run as the user did.
func namedAs(err error, path string) error {
	var none *run.NoDirError
	var locked *run.LockedError
	switch {
	case errors.As(err, &none):
		return &run.NoDirError{Dir: path, Reason: none.Reason}
	case errors.As(err, &locked):
		return &run.LockedError{Dir: path}
	}
	return err
}

// newRemoval examines a run that is to be removed.
func newRemoval(dir string) (removal, error) {
	m, err := run.Removable(dir)
	if err != nil {
		return removal{}, err
	}
	size, err := run.Size(dir)
	if err != nil {
		return removal{}, err
	}
	return removal{Dir: dir, Status: statusText(string(m.Status), record.Killed(dir, m)), Bytes: size, Forks: findForks(dir, m.RunID), id: m.RunID}, nil
}

// findForks returns the runs next to a run that were forked of it.
func findForks(dir, id string) []string {
	entries, err := record.List(filepath.Dir(dir))
	if err != nil || id == "" {
		return nil // it is said for information alone
	}
	var out []string
	for _, e := range entries {
		if e.Manifest.ForkedOf == id {
			out = append(out, e.Dir)
		}
	}
	return out
}

// ask asks before runs are removed. Without a terminal no one can be asked: what can be
// moved back is removed, what cannot is not.
func (o *runsRmOptions) ask(a *app, list []removal, kept int) error {
	if !a.Terminal {
		if o.purge {
			return usagef("--purge deletes for good, and there is no terminal to ask on: give --yes")
		}
		return nil
	}
	if err := printRemovals(a.printer(a.Err), list, kept); err != nil {
		return err
	}
	question := "move " + wording.Plural(len(list), "run", "runs") + " to the trash? [y/N] "
	if o.purge {
		question = "delete " + wording.Plural(len(list), "run", "runs") + " for good? [y/N] "
	}
	return a.agree(question, "nothing was removed")
}

// agree asks a question on the terminal. Any answer but yes is an error that says what has
// not been done.
func (a *app) agree(question, declined string) error {
	fmt.Fprint(a.Err, question)
	line, err := bufio.NewReader(a.In).ReadString('\n')
	if err != nil && line == "" {
		return usagef("no answer: %s; --yes continues without asking", declined)
	}
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		return usagef("%s", declined)
	}
	return nil
}

// remove removes runs, and says what happened to each. The first failure ends it.
func remove(ctx context.Context, a *app, list []removal, purge bool) error {
	var failed error
	done := []removal{}
	for _, r := range list {
		failed = r.remove(ctx, purge)
		if failed != nil {
			r.Error = failed.Error()
		}
		done = append(done, r)
		if failed != nil {
			break
		}
	}
	if a.json {
		return errors.Join(failed, printJSON(a.Out, shareable(done)))
	}
	out := a.printer(a.Out)
	for _, r := range done {
		if r.Error == "" {
			r.print(out)
		}
	}
	return failed
}

// remove moves a run to the trash, and from there deletes it if it is to be purged: what
// is killed in between is found in the trash.
func (r *removal) remove(ctx context.Context, purge bool) (err error) {
	at := r.Dir
	if !run.InTrash(at) {
		if at, err = run.Trash(r.Dir, time.Now()); err != nil {
			return err
		}
		r.Trash = at
	}
	if !purge {
		return nil
	}
	if r.Kept, err = findTestFiles(ctx, at, r.id); err != nil {
		return err
	}
	if err := run.Purge(at, r.Kept...); err != nil {
		return err
	}
	if r.Purged = true; len(r.Kept) == 0 {
		r.Trash = ""
	} else {
		r.Trash = at
	}
	return nil
}

// findTestFiles returns the files of a run that alone report what it has read of a test set: where
// the ledger does not know the run, as of copies.
func findTestFiles(ctx context.Context, dir, id string) ([]string, error) {
	folder := filepath.Dir(dir)
	if run.InTrash(dir) {
		folder = filepath.Dir(folder)
	}
	known, err := testset.Runs(ctx, folder)
	if err == nil && known[id] {
		return nil, nil
	}
	var out []string
	for _, name := range []string{"test_outcomes.json", "outcomes.json"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			out = append(out, name)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("look at run %s: %w", dir, err)
		}
	}
	return out, nil
}

func (r *removal) print(out printer) {
	switch {
	case r.Purged && len(r.Kept) > 0:
		out.line(fmt.Sprintf("deleted %s (%s) but for %s in %s: the ledger of test sets does not know the run, and later runs count what it has read", oneLine(out.path(r.Dir)), bytesText(r.Bytes), strings.Join(r.Kept, ", "), oneLine(out.path(r.Trash))))
	case r.Purged:
		out.line(fmt.Sprintf("deleted %s (%s)", oneLine(out.path(r.Dir)), bytesText(r.Bytes)))
	default:
		out.line(fmt.Sprintf("moved %s (%s) to %s", oneLine(out.path(r.Dir)), bytesText(r.Bytes), oneLine(out.path(r.Trash))))
	}
	for _, fork := range r.Forks {
		out.line(fmt.Sprintf("  its fork %s has a record of its own and works as before", oneLine(out.path(fork))))
	}
}

// bytesText returns a size in few digits.
func bytesText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f kB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
