package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

// runsListOptions are the flags of runs list.
type runsListOptions struct {
	status string
	tags   []string
}

func runsListCommand(a *app) *cobra.Command {
	var o runsListOptions
	c := &cobra.Command{
		Use:   "list [DIR]",
		Short: "List the runs in a folder",
		Long: `List the runs in a folder: their state, scores, notes and tags. A run that cannot be
read is listed with the reason. The results of ended runs are kept in .runs_index.json in the
folder, so that a long list is quick; it may be deleted.`,
		Example: `  skillopt runs list
  skillopt runs list experiments --json
  skillopt runs list --status killed,failed
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
	c.Flags().StringArrayVar(&o.tags, "tag", nil, "with this tag, or one of several; skillopt runs note gives them")
	return c
}

func listedStatuses() []string {
	var out []string
	for _, s := range []result.Status{result.Running, result.Completed, result.Stopped, result.OverBudget, result.Waiting, result.Failed, result.Undecided} {
		out = append(out, string(s))
	}
	return append(out, record.RowKilled, record.RowDamaged, record.RowUnreadable, record.RowFormat)
}

// parseChoices returns the values of a flag that names some of those that are allowed.
func parseChoices(flag, text string, allowed []string) ([]string, error) {
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

// lets reports whether a run has one of the statuses, and one of the tags; none is any.
func (o *runsListOptions) lets(statuses []string, r result.RunRow) bool {
	return (len(statuses) == 0 || slices.Contains(statuses, r.Status)) &&
		(len(o.tags) == 0 || slices.ContainsFunc(o.tags, func(t string) bool { return slices.Contains(r.Notes.Tags, t) }))
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

// kindWord returns what the list calls runs of a kind, "" for training.
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
	statuses, err := parseChoices("--status", o.status, listedStatuses())
	if err != nil {
		return err
	}
	all, err := (&record.Index{NoFile: a.guard != nil}).Rows(ctx, a.absolute(dir))
	if err != nil {
		return err
	}
	rows := make([]listRow, 0, len(all))
	for _, r := range all {
		if a.guard != nil {
			r.Reason = ask.HideQuotes(r.Reason)
		}
		if o.lets(statuses, r) {
			rows = append(rows, newListRow(r))
		}
	}
	rows = shareable(rows)
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
	return writeRuns(a.tablePrinter(), rows)
}

// newListRow returns what the list says of a run.
func newListRow(r result.RunRow) listRow {
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

// splitScore returns a score with its split.
func splitScore(r result.RunScore) string {
	if r.Score == nil {
		return scoreText(nil)
	}
	return scoreText(r.Score) + " " + r.Split
}

// statusText returns the status of a run, as people read it.
func statusText(status string, killed bool) string {
	if killed {
		return "killed"
	}
	return status
}

// note returns what the list says after a run: its kind and state, or its error.
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
	}{{kindWord(r.Kind) != "", kindWord(r.Kind)}, {r.Simulated, "simulated"}, {r.Replays, "replay"}, {r.Unreviewed, "exploratory"}, {r.Tuned != nil, "tuned by hand"}, {r.Copy, "copy"}} {
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
