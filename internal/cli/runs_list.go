package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/train"
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
	Status    string    `json:"status"`
	CreatedAt time.Time `json:"created_at"`
	Simulated bool      `json:"simulated"`
	Evaluates bool      `json:"evaluates,omitempty"` // it is one of `skillopt eval`
	Compares  bool      `json:"compares,omitempty"`  // it is one of `skillopt compare`
	Serves    bool      `json:"serves,omitempty"`    // it is the ledger of `skillopt gateway`
	Replays   bool      `json:"replays,omitempty"`   // its answers came from a cassette
	Drafts    bool      `json:"drafts,omitempty"`    // it is the record of `skillopt init --generate`
	Ablates   bool      `json:"ablates,omitempty"`   // it is one of `skillopt ablate`
	Prunes    bool      `json:"prunes,omitempty"`    // it is one of `skillopt prune`

	// Exploratory: its tasks are drafts that nobody has reviewed.
	Exploratory bool `json:"exploratory,omitempty"`

	Steps int      `json:"steps"`
	Best  *float64 `json:"best_score"`
	Error string   `json:"error,omitempty"`
}

// listRuns lists the runs in a folder.
func listRuns(a *app, dir string) error {
	entries, err := run.List(a.absolute(dir))
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
func rowOf(e run.Entry) listRow {
	m := e.Manifest
	r := listRow{
		Dir: e.Dir, Status: m.Status, CreatedAt: m.CreatedAt, Simulated: m.Simulated, Evaluates: evaluates(m), Compares: compares(m),
		Serves: serves(m), Replays: replays(m), Drafts: drafts(m), Ablates: ablates(m), Prunes: prunes(m),
	}
	v, err := readRun(e.Dir, e.Dir)
	if err != nil {
		r.Status, r.Error = "damaged", err.Error()
		if errors.Is(err, fs.ErrPermission) {
			r.Status = "unreadable"
		}
		return r
	}
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
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\n", out.path(r.Dir), r.Status, r.Steps, scoreText(r.Best), begun, r.note())
	}
	return w.Flush()
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
	}{{r.Evaluates, "evaluation"}, {r.Compares, "comparison"}, {r.Ablates, "ablation"}, {r.Prunes, "pruning"}, {r.Serves, "gateway"}, {r.Drafts, "draft of tasks"}, {r.Simulated, "simulated"}, {r.Replays, "replay"}, {r.Exploratory, "exploratory"}} {
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
func bestScore(h train.History) *float64 {
	if h.Final != nil {
		return h.Final.BestScore
	}
	return h.Steps[len(h.Steps)-1].Best
}
