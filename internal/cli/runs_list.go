package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/result"
)

func runsListCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "list [DIR]",
		Short:   "List the runs in a folder",
		Example: "  skillopt runs list\n  skillopt runs list experiments --json",
		Args:    atMost(1, "at most one folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "runs"
			if len(args) == 1 {
				dir = args[0]
			}
			return listRuns(a, dir)
		},
	}
}

// listRow is a run as the list shows it.
type listRow struct {
	Dir       string    `json:"run_dir"`
	Status    string    `json:"status"`           // of the run; damaged and unreadable: it cannot be read
	Killed    bool      `json:"killed,omitempty"` // it was at work, and no process is: the same command goes on
	CreatedAt time.Time `json:"created_at"`
	Simulated bool      `json:"simulated"`
	Replays   bool      `json:"replays,omitempty"` // its answers came from a cassette

	Kind result.Kind `json:"kind"`
	kindFlags

	// Exploratory: its tasks are drafts that nobody has reviewed.
	Exploratory bool `json:"exploratory,omitempty"`

	Steps int      `json:"steps"`
	Best  *float64 `json:"best_score"`
	Error string   `json:"error,omitempty"`
}

// kindFlags say the kind in the way that scripts read it before there was one.
type kindFlags struct {
	Evaluates bool `json:"evaluates,omitempty"`
	Compares  bool `json:"compares,omitempty"`
	Serves    bool `json:"serves,omitempty"`
	Drafts    bool `json:"drafts,omitempty"`
	Ablates   bool `json:"ablates,omitempty"`
	Prunes    bool `json:"prunes,omitempty"`
}

func flagsOf(kind result.Kind) kindFlags {
	return kindFlags{
		Evaluates: scoresOnce(kind), Compares: kind == result.Compare, Serves: kind == result.ServeModel,
		Drafts: kind == result.DraftTasks, Ablates: kind == result.Ablate, Prunes: kind == result.Prune,
	}
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
	}
	return ""
}

// listRuns lists the runs in a folder.
func listRuns(a *app, dir string) error {
	entries, err := record.List(a.absolute(dir))
	if err != nil {
		return err
	}
	rows := make([]listRow, 0, len(entries))
	for _, e := range entries {
		rows = append(rows, rowOf(e))
	}
	rows = shareable(rows)
	if a.json {
		return printJSON(a.Out, rows)
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintf(a.Out, "no runs in %s; `skillopt train CONFIG` begins one\n", dir)
		return err
	}
	return writeRuns(a.printer(a.Out), rows)
}

// rowOf reads what the list says of a run.
func rowOf(e record.Listed) listRow {
	m := e.Manifest
	r := listRow{
		Dir: e.Dir, Status: string(m.Status), CreatedAt: m.CreatedAt, Simulated: m.Simulated, Kind: m.KindOf(), kindFlags: flagsOf(m.KindOf()), Replays: m.Replays() != "",
	}
	v, err := readRun(e.Dir, e.Dir)
	if err != nil {
		r.Status, r.Error = "damaged", err.Error()
		if errors.Is(err, fs.ErrPermission) {
			r.Status = "unreadable"
		}
		return r
	}
	r.Killed = v.Killed
	if n := len(v.History.Steps); n > 0 {
		r.Steps, r.Best = n-1, bestScore(v.History)
	}
	r.Exploratory = v.exploratory()
	return r
}

// writeRuns prints a table of runs.
func writeRuns(out printer, rows []listRow) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tSTATUS\tSTEPS\tBEST\tBEGUN\tNOTE")
	for _, r := range rows {
		begun := r.CreatedAt.Format("2006-01-02 15:04")
		if r.Error != "" {
			begun = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\n", out.path(r.Dir), statusText(r.Status, r.Killed), r.Steps, scoreText(r.Best), begun, r.note())
	}
	return w.Flush()
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
	for _, n := range []struct {
		is   bool
		text string
	}{{kindWord(r.Kind) != "", kindWord(r.Kind)}, {r.Simulated, "simulated"}, {r.Replays, "replay"}, {r.Exploratory, "exploratory"}} {
		if n.is {
			notes = append(notes, n.text)
		}
	}
	if len(notes) == 0 {
		return "-"
	}
	return strings.Join(notes, ", ")
}

// bestScore is the score of the best skill so far. What an epoch's end or the
// final comparison changed stands in later records than the last step.
func bestScore(h result.History) *float64 {
	if h.Final != nil {
		return h.Final.BestScore
	}
	return h.Steps[len(h.Steps)-1].Best
}
