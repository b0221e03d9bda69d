package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

// runsListOptions are the flags of runs list.
type runsListOptions struct {
	status, kind, skill, since, sort string
	tags                             []string
	limit                            int
}

func runsListCommand(a *app) *cobra.Command {
	var o runsListOptions
	c := &cobra.Command{
		Use:   "list [DIR]",
		Short: "List the runs in a folder",
		Long: `List the runs in a folder: how they stand, their scores, notes and tags. A run that cannot be
read is listed with the reason. What runs that have ended came to is kept in .runs_index.json in the
folder, so that a long list is quick; it may be deleted.`,
		Example: `  skillopt runs list
  skillopt runs list experiments --json
  skillopt runs list --status killed,failed
  skillopt runs list --kind train --skill quickstart --sort best --limit 5
  skillopt runs list --since 36h
  skillopt runs list --tag baseline`,
		Args: atMost(1, "at most one folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "runs"
			if len(args) == 1 {
				dir = args[0]
			}
			return o.run(cmd.Context(), a, dir)
		},
	}
	c.Flags().StringVar(&o.status, "status", "", "with this status, or one of several: "+strings.Join(listedStatuses(), ", "))
	c.Flags().StringVar(&o.kind, "kind", "", "of this kind: "+strings.Join(listedKinds(), ", "))
	c.Flags().StringVar(&o.skill, "skill", "", "whose name begins with this")
	c.Flags().StringVar(&o.since, "since", "", "begun since a date (2026-01-31), a time (RFC 3339), or so long ago (36h, 7d)")
	c.Flags().StringArrayVar(&o.tags, "tag", nil, "with this tag, or one of several; skillopt runs note gives them")
	c.Flags().StringVar(&o.sort, "sort", "begun", "begun, the newest last; best, the highest first; steps, name or status")
	c.Flags().IntVar(&o.limit, "limit", 0, "so many: of those sorted by begun the newest, else the first; 0: all")
	return c
}

func listedStatuses() []string {
	var out []string
	for _, s := range []result.Status{result.Running, result.Completed, result.Stopped, result.OverBudget, result.Waiting, result.Failed, result.Undecided} {
		out = append(out, string(s))
	}
	return append(out, record.RowKilled, record.RowDamaged, record.RowUnreadable, record.RowFormat)
}

func listedKinds() []string {
	var out []string
	for _, k := range record.Kinds() {
		out = append(out, string(k))
	}
	return out
}

// filter says which runs are listed.
type filter struct {
	statuses, kinds, tags []string
	skill                 string
	since                 time.Time
}

// filter reads the flags.
func (o *runsListOptions) filter(now time.Time) (f filter, err error) {
	f.skill, f.tags = o.skill, o.tags
	if f.statuses, err = chosenOf("--status", o.status, listedStatuses()); err != nil {
		return f, err
	}
	if f.kinds, err = chosenOf("--kind", o.kind, listedKinds()); err != nil {
		return f, err
	}
	if !slices.Contains([]string{"begun", "best", "steps", "name", "status"}, o.sort) {
		return f, usagef("--sort %s: allowed are begun, best, steps, name and status", o.sort)
	}
	if o.limit < 0 {
		return f, usagef("--limit %d: want 0 or more", o.limit)
	}
	f.since, err = sinceOf(o.since, now)
	return f, err
}

// chosenOf are the values of a flag that names some of those that are allowed.
func chosenOf(flag, text string, allowed []string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	out := strings.Split(text, ",")
	for i, name := range out {
		out[i] = strings.TrimSpace(name)
		if !slices.Contains(allowed, out[i]) {
			return nil, usagef("%s %s: allowed are %s", flag, out[i], strings.Join(allowed, ", "))
		}
	}
	return out, nil
}

// sinceOf reads a date, a time, or how long ago something was.
func sinceOf(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	if at, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return at, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 1e6 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, usagef("--since %s: want a date such as 2026-01-31, a time such as 2026-01-31T12:00:00Z, or a length such as 36h or 7d", text)
}

// lets reports whether a run is listed.
func (f filter) lets(r result.RunRow) bool {
	begins := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, f.skill) })
	}
	switch {
	case !begins(r.Name, r.Named):
		return false
	case len(f.statuses) > 0 && !slices.Contains(f.statuses, r.Status):
		return false
	case len(f.tags) > 0 && !slices.ContainsFunc(f.tags, func(t string) bool { return slices.Contains(r.Notes.Tags, t) }):
		return false
	case r.RunID == "" && unread(r): // nothing is known of it
		return len(f.kinds) == 0 && f.since.IsZero()
	}
	return (len(f.kinds) == 0 || slices.Contains(f.kinds, string(r.Kind))) && (f.since.IsZero() || r.CreatedAt != nil && !r.CreatedAt.Before(f.since))
}

// arranged sorts rows, which come oldest first, and leaves out what is too many.
func (o *runsListOptions) arranged(rows []listRow) []listRow {
	switch o.sort {
	case "best":
		slices.SortStableFunc(rows, func(a, b listRow) int {
			switch {
			case a.Score == nil || b.Score == nil:
				return cmp.Compare(boolRank(a.Score == nil), boolRank(b.Score == nil))
			}
			return cmp.Compare(*b.Score, *a.Score)
		})
	case "steps":
		slices.SortStableFunc(rows, func(a, b listRow) int { return cmp.Compare(b.Steps, a.Steps) })
	case "name":
		slices.SortStableFunc(rows, func(a, b listRow) int { return cmp.Compare(filepath.Base(a.Dir), filepath.Base(b.Dir)) })
	case "status":
		slices.SortStableFunc(rows, func(a, b listRow) int {
			return cmp.Compare(a.State, b.State)
		})
	}
	if o.limit > 0 && len(rows) > o.limit {
		if o.sort == "begun" {
			return rows[len(rows)-o.limit:]
		}
		return rows[:o.limit]
	}
	return rows
}

func boolRank(last bool) int {
	if last {
		return 1
	}
	return 0
}

// listRow is a run as the list shows it: a RunRow, and what scripts read more easily.
type listRow struct {
	result.RunRow

	State     string    `json:"state"`            // killed and format by name
	Status    string    `json:"status"`           // of the run; damaged and unreadable: it cannot be read
	Killed    bool      `json:"killed,omitempty"` // it was at work, and no process is: the same command continues
	CreatedAt time.Time `json:"created_at"`
	Simulated bool      `json:"simulated"`
	Replays   bool      `json:"replays,omitempty"` // its answers came from a cassette

	Error string `json:"error,omitempty"`
}

// kindWord is what the list calls runs of a kind; "" for training.
func kindWord(kind result.Kind) string {
	switch kind {
	case result.Evaluate, result.MeasureNoise:
		return "evaluation"
	case result.Compare:
		return "comparison"
	case result.Ablate:
		return "ablation"
	case result.Prune:
		return "pruning"
	case result.ServeModel:
		return "gateway"
	case result.DraftTasks:
		return "draft of tasks"
	case result.MineTasks:
		return "tasks of sessions"
	case result.Reflect:
		return "proposals of analysts"
	case result.Train:
		return ""
	}
	return oneLine(string(kind))
}

// run lists the runs in a folder.
func (o *runsListOptions) run(ctx context.Context, a *app, dir string) error {
	f, err := o.filter(time.Now())
	if err != nil {
		return err
	}
	all, err := new(record.Index).Rows(ctx, a.absolute(dir))
	if err != nil {
		return err
	}
	rows := make([]listRow, 0, len(all))
	for _, r := range all {
		if f.lets(r) {
			rows = append(rows, rowOf(r))
		}
	}
	rows = shareable(o.arranged(rows))
	if a.json {
		return printJSON(a.Out, rows)
	}
	if len(rows) == 0 && len(all) > 0 {
		_, err := fmt.Fprintf(a.Out, "none of the %s in %s is like that\n", wording.Plural(len(all), "run", "runs"), dir)
		return err
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintf(a.Out, "no runs in %s; `skillopt train CONFIG` begins one\n", dir)
		return err
	}
	return writeRuns(a.paged(), rows)
}

// rowOf is what the list says of a run.
func rowOf(r result.RunRow) listRow {
	out := listRow{RunRow: r, State: r.Status, Status: r.Status, Killed: r.Status == record.RowKilled, Replays: r.Replays, Simulated: r.Simulated}
	if r.CreatedAt != nil {
		out.CreatedAt = *r.CreatedAt
	}
	switch r.Status {
	case record.RowKilled:
		out.Status = string(result.Running)
	case record.RowFormat:
		out.Status = record.RowDamaged
	}
	if unread(r) {
		out.Error = r.Reason
	}
	return out
}

// unread reports whether a run could not be read.
func unread(r result.RunRow) bool {
	return slices.Contains([]string{record.RowDamaged, record.RowUnreadable, record.RowFormat}, r.Status)
}

// writeRuns prints a table of runs.
func writeRuns(out printer, rows []listRow) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tSTATUS\tSTEPS\tSCORE\tBEGUN\tNOTE")
	for _, r := range rows {
		begun, steps := r.CreatedAt.Format("2006-01-02 15:04"), strconv.Itoa(r.Steps)
		if r.Error != "" { // it is not known
			begun, steps = "-", "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", out.path(r.Dir), r.State, steps, splitScore(r.RunScore), begun, r.note())
	}
	return w.Flush()
}

// splitScore is a score with its split.
func splitScore(r result.RunScore) string {
	if r.Score == nil {
		return scoreText(nil)
	}
	return scoreText(r.Score) + " " + r.Split
}

// statusText is the status of a run, as people are told it.
func statusText(status string, killed bool) string {
	if killed {
		return "killed"
	}
	return status
}

// note is what the list says behind a run: its kind and state, or its error.
func (r listRow) note() string {
	if r.Error != "" {
		return r.Error
	}
	var notes []string
	if words := r.Words(); words != "" {
		notes = append(notes, words)
	}
	for _, n := range []struct {
		is   bool
		text string
	}{{kindWord(r.Kind) != "", kindWord(r.Kind)}, {r.Simulated, "simulated"}, {r.Replays, "replay"}, {r.Unreviewed, "exploratory"}, {r.Copy, "copy"}} {
		if n.is {
			notes = append(notes, n.text)
		}
	}
	for _, t := range r.Notes.Tags {
		notes = append(notes, "#"+t)
	}
	if len(notes) == 0 {
		return "-"
	}
	return strings.Join(notes, ", ")
}
