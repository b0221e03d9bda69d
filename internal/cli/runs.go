package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/plural"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/internal/userfile"
	"github.com/seed-f4525e22/skillopt/skill"
)

func (a *app) runsCommand() *cobra.Command {
	c := group(&cobra.Command{Use: "runs", Short: "List, show, compare, explain and export runs"})
	c.AddCommand(a.runsList(), a.runsShow(), a.runsDiff(), a.runsBlame(), a.runsReport(), a.runsExport())
	return c
}

// runView is what the files of a run say.
type runView struct {
	Dir      string            `json:"run_dir"`
	Manifest run.Manifest      `json:"manifest"`
	Parts    []part            `json:"models"` // and the agent
	History  train.History     `json:"history"`
	Summary  *skillopt.Summary `json:"summary"` // null until the run has ended once

	// Gateway is what a run of `skillopt gateway` came to.
	Gateway *skillopt.GatewaySummary `json:"gateway,omitempty"`

	// Evaluation is what `skillopt eval` came to, in place of a summary.
	Evaluation *skillopt.Evaluation `json:"evaluation,omitempty"`

	// Comparison is what `skillopt compare` came to.
	Comparison *skillopt.Comparison `json:"comparison,omitempty"`

	// Ablation and Pruning are what `skillopt ablate` and `skillopt prune` came to.
	Ablation *skillopt.Ablation `json:"ablation,omitempty"`
	Pruning  *skillopt.Pruned   `json:"pruning,omitempty"`
}

// evaluates reports whether a run is one of `skillopt eval`.
func evaluates(m run.Manifest) bool { return m.Identity["library.evaluate"] != "" }

// compares reports whether a run is one of `skillopt compare`.
func compares(m run.Manifest) bool { return m.Identity["library.compare"] != "" }

// ablates and prunes report whether a run is one of `skillopt ablate` or
// `skillopt prune`.
func ablates(m run.Manifest) bool { return m.Identity["library.ablate"] != "" }

func prunes(m run.Manifest) bool { return m.Identity["library.prune"] != "" }

// drafts reports whether a run is one of `skillopt init --generate`.
func drafts(m run.Manifest) bool { return m.Identity["library.draft"] != "" }

// serves reports whether a run is the ledger of `skillopt gateway`.
func serves(m run.Manifest) bool { return m.Identity["library.gateway"] != "" }

// replays reports whether the answers of a run came from a cassette.
func replays(m run.Manifest) bool { return m.Identity["library.replay"] != "" }

// exploratory reports whether tasks of the run were drafts that nobody had
// reviewed. Before it has a result its settings tell.
func (v runView) exploratory() bool {
	switch {
	case v.Summary != nil:
		return v.Summary.Exploratory
	case v.Evaluation != nil:
		return v.Evaluation.Exploratory
	case v.Comparison != nil:
		return v.Comparison.Exploratory
	}
	return v.Manifest.Operational["tasks.unreviewed"] != ""
}

func (a *app) readRun(path string) (runView, error) {
	dir := a.absolute(path)
	v := runView{Dir: dir}
	m, found, err := run.ReadManifest(dir)
	if err != nil {
		return v, run.Unreadable(path, err)
	}
	if !found {
		return v, usagef("%s is no run directory: it has no %s; `skillopt runs list` shows runs", path, run.ManifestFile)
	}
	v.Manifest, v.Parts = m, parts(m)
	if err := readJSON(filepath.Join(dir, run.HistoryFile), &v.History); err != nil {
		return v, err
	}
	var s skillopt.Summary
	switch err := readJSON(filepath.Join(dir, run.SummaryFile), &s); {
	case err != nil:
		return v, err
	case s.Status != "":
		s.RunDir = dir
		v.Summary = &s
	}
	if serves(m) {
		v.Gateway = new(skillopt.GatewaySummary)
		if err := readJSON(filepath.Join(dir, skillopt.GatewayFile), v.Gateway); err != nil {
			return v, err
		}
		v.Gateway.RunDir = dir
	}
	if compares(m) {
		var c skillopt.Comparison
		if err := readJSON(filepath.Join(dir, "comparison.json"), &c); err != nil {
			return v, err
		}
		if c.Verdict != "" {
			c.RunDir = dir
			v.Comparison = &c
		}
	}
	if ablates(m) || prunes(m) {
		return v, v.readPruning()
	}
	if !evaluates(m) {
		return v, nil
	}
	var e skillopt.Evaluation
	if err := readJSON(filepath.Join(dir, "evaluation.json"), &e); err != nil {
		return v, err
	}
	if e.Splits != nil {
		e.RunDir = dir
		v.Evaluation = &e
	}
	return v, nil
}

// maxRunFile bounds a file of a run, in bytes.
const maxRunFile = 1 << 30

// readJSON reads a projection; one that was not written yet is empty.
func readJSON(path string, v any) error {
	data, err := userfile.Read(context.Background(), path, maxRunFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read run: %w", err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return usagef("%s is damaged: %v; train the run again to write it anew", path, err)
	}
	return nil
}

func (a *app) runsList() *cobra.Command {
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
			entries, err := run.List(a.absolute(dir))
			if err != nil {
				return err
			}
			return a.printRuns(dir, entries)
		},
	}
}

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

func (a *app) printRuns(dir string, entries []run.Entry) error {
	rows := make([]listRow, 0, len(entries))
	for _, e := range entries {
		r := listRow{Dir: e.Dir, Status: e.Manifest.Status, CreatedAt: e.Manifest.CreatedAt, Simulated: e.Manifest.Simulated, Evaluates: evaluates(e.Manifest), Compares: compares(e.Manifest), Serves: serves(e.Manifest), Replays: replays(e.Manifest), Drafts: drafts(e.Manifest), Ablates: ablates(e.Manifest), Prunes: prunes(e.Manifest)}
		v, err := a.readRun(e.Dir)
		if err != nil {
			r.Status, r.Error = "damaged", err.Error()
			if errors.Is(err, fs.ErrPermission) {
				r.Status = "unreadable"
			}
		} else if n := len(v.History.Steps); n > 0 {
			r.Steps, r.Best = n-1, bestScore(v.History)
		}
		r.Exploratory = err == nil && v.exploratory()
		rows = append(rows, r)
	}
	rows = shareable(rows)
	if a.json {
		return printJSON(a.Out, rows)
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintf(a.Out, "no runs in %s; `skillopt train CONFIG` begins one\n", dir)
		return err
	}
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tSTATUS\tSTEPS\tBEST\tBEGUN\tNOTE")
	for _, r := range rows {
		begun := r.CreatedAt.Format("2006-01-02 15:04")
		if r.Error != "" {
			begun = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\n", a.relative(r.Dir), r.Status, r.Steps, scoreText(r.Best), begun, r.note())
	}
	return w.Flush()
}

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

func (a *app) runsShow() *cobra.Command {
	return &cobra.Command{
		Use:     "show [RUN]",
		Short:   "Explain a run: what was tried, what was decided, what it cost",
		Long:    "Explain a run: what was tried, what was decided, what it cost. Without RUN it is the\nnewest one in the folder runs.",
		Example: "  skillopt runs show\n  skillopt runs show runs/quickstart-1",
		Args:    atMost(1, "at most one run directory"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := a.runOrNewest(args)
			if err != nil {
				return err
			}
			v, err := a.readRun(dir)
			if err != nil {
				return err
			}
			v = shareable(v)
			if a.json {
				return printJSON(a.Out, v)
			}
			return a.showRun(v)
		},
	}
}

func (a *app) runOrNewest(args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	entries, err := run.List(a.absolute("runs"))
	if err != nil {
		return "", err
	}
	if len(entries) == 0 {
		return "", usagef("there is no folder runs with a run here; name one: skillopt runs show RUN")
	}
	return a.relative(entries[len(entries)-1].Dir), nil
}

func (a *app) showRun(v runView) error {
	m := v.Manifest
	fmt.Fprintf(a.Out, "run %s  %s\n", a.relative(v.Dir), m.Status)
	fmt.Fprintf(a.Out, "  begun %s with version %s\n", m.CreatedAt.Format("2006-01-02 15:04 MST"), m.Version)
	if err := a.showParts(v.Parts); err != nil {
		return err
	}
	if m.Simulated {
		fmt.Fprintln(a.Out, "  the models are simulated: the numbers show how training works, not what a model can do")
	}
	if replays(m) {
		fmt.Fprintf(a.Out, "  answered from %s: nothing was asked or paid for\n", m.Identity["library.replay"])
	}
	if m.ForkedOf != "" {
		fmt.Fprintf(a.Out, "  forked of %s\n", m.ForkedOf)
	}
	if serves(m) {
		_, err := fmt.Fprintf(a.Out, "  the ledger of `skillopt gateway` (models.%s): %s\n  %s\n",
			m.Identity["library.gateway"], plural.Of(v.Gateway.TotalCalls, "call", "calls"), tokensText(v.Gateway.TotalTokens, v.Gateway.TotalUSD))
		return err
	}
	if drafts(m) {
		_, err := fmt.Fprintln(a.Out, "  the record of `skillopt init --generate`, which drafted tasks; it has no steps")
		return err
	}
	if v.Summary == nil && v.Evaluation == nil && v.Comparison == nil && v.exploratory() {
		fmt.Fprintln(a.Out, "  "+exploratory(0))
	}
	if evaluates(m) {
		return a.showEvaluation(v)
	}
	if compares(m) {
		return a.showComparison(v)
	}
	if ablates(m) || prunes(m) {
		return a.showPruning(v)
	}
	a.showSteps(v.History)
	a.showEpochs(v.History)
	if v.Summary == nil {
		fmt.Fprintf(a.Out, "\nnot ended yet; the same train command goes on, or: skillopt train CONFIG --run %s\n", a.relative(v.Dir))
		return nil
	}
	fmt.Fprintln(a.Out)
	return a.writeSummary(a.Out, v.Summary)
}

// showEvaluation shows a run that has no steps.
func (a *app) showEvaluation(v runView) error {
	if v.Evaluation == nil {
		_, err := fmt.Fprintln(a.Out, "\nno result yet; the same `skillopt eval` command goes on")
		return err
	}
	fmt.Fprintln(a.Out)
	return a.writeEvaluation(a.Out, v.Evaluation)
}

func (a *app) showSteps(h train.History) {
	if len(h.Steps) == 0 {
		fmt.Fprintln(a.Out, "  no step is done yet")
		return
	}
	fmt.Fprintln(a.Out)
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "STEP\tEPOCH\tTRAIN\tEDITS\tCANDIDATE\tCURRENT\tBEST\tDECISION")
	for _, s := range h.Steps {
		edits := "-"
		if s.Step > 0 {
			edits = fmt.Sprint(s.Ranked)
			if s.Budget != nil {
				edits += fmt.Sprintf("/%d", *s.Budget)
			}
		}
		fmt.Fprintf(w, "%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n", s.Step, s.Epoch, scoreText(s.RolloutHard), edits, scoreText(s.Candidate), scoreText(s.Current), scoreText(s.Best), decisionText(s.Action, s.Difference, s.SelectionN))
	}
	if err := w.Flush(); err != nil {
		return
	}
	for _, s := range h.Steps {
		a.showStep(s)
	}
}

// showStep lists what a step tried.
func (a *app) showStep(s train.StepRecord) {
	if len(s.Edits) == 0 && s.Reason == "" {
		return
	}
	fmt.Fprintf(a.Out, "\nstep %d: %s", s.Step, s.Action)
	if s.Reason != "" {
		fmt.Fprintf(a.Out, " (%s)", oneLine(s.Reason))
	}
	fmt.Fprintln(a.Out)
	for _, e := range s.Edits {
		fmt.Fprintf(a.Out, "  %-34s %s\n", e.Status, firstLine(e.Content, e.Target))
	}
	if len(s.Unmeasured) > 0 {
		fmt.Fprintf(a.Out, "  without %s: could not be measured\n", oneLine(strings.Join(s.Unmeasured, ", ")))
	}
}

func firstLine(texts ...string) string {
	for _, t := range texts {
		line, _, _ := strings.Cut(strings.TrimSpace(t), "\n")
		line = oneLine(line)
		if r := []rune(line); len(r) > 100 {
			line = string(r[:97]) + "..."
		}
		if line != "" {
			return line
		}
	}
	return ""
}

func (a *app) showEpochs(h train.History) {
	for _, e := range h.Epochs {
		fmt.Fprintf(a.Out, "\nend of epoch %d:", e.Epoch)
		if e.SlowUpdate != "" {
			fmt.Fprintf(a.Out, " slow update %s", e.SlowUpdate)
			if e.Score != nil {
				fmt.Fprintf(a.Out, " at %s", scoreText(e.Score))
			}
		}
		if e.MetaSkill != "" {
			fmt.Fprintf(a.Out, "; meta skill: %s", firstLine(e.MetaSkill))
		}
		fmt.Fprintln(a.Out)
	}
}

func (a *app) runsDiff() *cobra.Command {
	var from, to string
	c := &cobra.Command{
		Use:   "diff RUN [OTHER_RUN]",
		Short: "Show how the skill changed: seed to best, or best of two runs",
		Example: `  skillopt runs diff runs/quickstart-1
  skillopt runs diff runs/quickstart-1 --from 2 --to 3     between two steps
  skillopt runs diff runs/quickstart-1 runs/quickstart-2`,
		Args: between(1, 2, "one run directory, or two"),
		RunE: func(_ *cobra.Command, args []string) error {
			other := args[len(args)-1]
			left, right := "0", "best"
			if len(args) == 2 {
				left = "best"
			}
			if from != "" {
				left = from
			}
			if to != "" {
				right = to
			}
			return a.diff(args[0], left, other, right)
		},
	}
	c.Flags().StringVar(&from, "from", "", "a step, or best")
	c.Flags().StringVar(&to, "to", "", "a step, or best")
	return c
}

func (a *app) diff(runA, versionA, runB, versionB string) error {
	left, err := a.skillVersion(runA, versionA)
	if err != nil {
		return err
	}
	right, err := a.skillVersion(runB, versionB)
	if err != nil {
		return err
	}
	text := skill.Diff(skill.New(left), skill.New(right), a.relative(runA)+" "+versionA, a.relative(runB)+" "+versionB)
	if a.json {
		return printJSON(a.Out, map[string]any{"diff": text, "equal": left == right})
	}
	if left == right {
		_, err = fmt.Fprintln(a.Out, "no difference")
		return err
	}
	_, err = fmt.Fprint(a.Out, text)
	return err
}

// skillVersion reads the skill after a step, or the best one.
func (a *app) skillVersion(dir, version string) (string, error) {
	if _, err := a.readRun(dir); err != nil {
		return "", err
	}
	name := run.BestFile
	if version != "best" {
		step, err := strconv.Atoi(version)
		if err != nil || step < 0 {
			return "", usagef("version %q: want a step, or best", version)
		}
		name = fmt.Sprintf("skills/skill_v%04d.md", step)
	}
	data, err := userfile.Read(context.Background(), filepath.Join(a.absolute(dir), filepath.FromSlash(name)), maxRunFile)
	if err != nil {
		return "", usagef("run %s has no version %s yet", dir, version)
	}
	return string(data), nil
}
