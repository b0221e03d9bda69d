package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/report"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/userfile"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

func runsCommand(a *app) *cobra.Command {
	c := group(&cobra.Command{Use: "runs", Short: "List, show, compare, explain and export runs, and ask what was answered"})
	c.AddCommand(runsListCommand(a), runsShowCommand(a), runsTaskCommand(a), runsFailuresCommand(a), runsCallsCommand(a), runsSpendCommand(a), runsDiffCommand(a), runsBlameCommand(a), runsReportCommand(a), runsExportCommand(a))
	return c
}

// runView is what the files of a run say.
type runView struct {
	Dir      string          `json:"run_dir"`
	Manifest run.Manifest    `json:"manifest"`
	Killed   bool            `json:"killed,omitempty"` // its status is running, and no process works on it
	Models   []participant   `json:"models"`           // and the agent
	History  result.History  `json:"history"`
	Summary  *result.Summary `json:"summary"` // null until the run has ended once

	// Gateway is the result of `skillopt gateway`.
	Gateway *result.GatewaySummary `json:"gateway,omitempty"`

	// Evaluation is the result of `skillopt eval`, in place of a summary.
	Evaluation *result.Evaluation `json:"evaluation,omitempty"`

	// Comparison is the result of `skillopt compare`.
	Comparison *result.Comparison `json:"comparison,omitempty"`

	// Ablation and Pruning are the results of `skillopt ablate` and `skillopt prune`.
	Ablation *result.Ablation `json:"ablation,omitempty"`
	Pruning  *result.Pruned   `json:"pruning,omitempty"`
}

// scoresOnce reports whether runs of a kind score one skill, in an evaluation or for the
// noise of the selection split.
func scoresOnce(kind result.Kind) bool { return kind == result.Evaluate || kind == result.MeasureNoise }

// exploratory reports whether tasks of the run were drafts that nobody had
// reviewed: by its result, or by its settings before it has one.
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

// readRun reads the files of the run in a folder; path is what messages call it.
func readRun(dir, path string) (runView, error) {
	v := runView{Dir: dir}
	m, found, err := run.ReadManifest(dir)
	if err != nil {
		return v, run.Unreadable(path, err)
	}
	if !found {
		return v, usagef("%s is no run directory: it has no %s; `skillopt runs list` shows runs", path, run.ManifestFile)
	}
	v.Manifest, v.Models = m, participants(m)
	if m.Status == result.Running {
		alive, err := run.InUse(dir)
		v.Killed = err == nil && !alive // what cannot be told is shown as the run says it
	}
	for _, read := range []func() error{v.readTraining, v.readGateway, v.readEvaluation, v.readComparison, v.readPruning} {
		if err := read(); err != nil {
			return v, err
		}
	}
	return v, nil
}

// readTraining reads the history, and the summary if the run has ended once.
func (v *runView) readTraining() error {
	if err := readJSON(filepath.Join(v.Dir, run.HistoryFile), &v.History); err != nil {
		return err
	}
	var s result.Summary
	if err := readJSON(filepath.Join(v.Dir, run.SummaryFile), &s); err != nil {
		return err
	}
	if s.Status != "" {
		s.RunDir = v.Dir
		v.Summary = &s
	}
	return nil
}

// readGateway reads the result of a gateway.
func (v *runView) readGateway() error {
	if v.Manifest.KindOf() != result.ServeModel {
		return nil
	}
	v.Gateway = new(result.GatewaySummary)
	if err := readJSON(filepath.Join(v.Dir, result.GatewayFile), v.Gateway); err != nil {
		return err
	}
	v.Gateway.RunDir = v.Dir
	return nil
}

// readEvaluation reads the result of an evaluation.
func (v *runView) readEvaluation() error {
	if !scoresOnce(v.Manifest.KindOf()) {
		return nil
	}
	var e result.Evaluation
	if err := readJSON(filepath.Join(v.Dir, "evaluation.json"), &e); err != nil {
		return err
	}
	if e.Splits != nil {
		e.RunDir = v.Dir
		v.Evaluation = &e
	}
	return nil
}

// readComparison reads the result of a comparison.
func (v *runView) readComparison() error {
	if v.Manifest.KindOf() != result.Compare {
		return nil
	}
	var c result.Comparison
	if err := readJSON(filepath.Join(v.Dir, "comparison.json"), &c); err != nil {
		return err
	}
	if c.Verdict != "" {
		c.RunDir = v.Dir
		v.Comparison = &c
	}
	return nil
}

// readPruning reads the result of an ablation or a pruning.
func (v *runView) readPruning() error {
	if kind := v.Manifest.KindOf(); kind != result.Ablate && kind != result.Prune {
		return nil
	}
	var a result.Ablation
	var p result.Pruned
	err := errors.Join(readJSON(filepath.Join(v.Dir, result.AblationFile), &a), readJSON(filepath.Join(v.Dir, result.PruningFile), &p))
	if a.RunDir, p.RunDir = v.Dir, v.Dir; len(a.Rules) > 0 {
		v.Ablation = &a
	}
	if len(p.Rules) > 0 {
		v.Pruning = &p
	}
	return err
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

// runOrNewest is the run that an argument names, or the newest one in the folder runs.
func runOrNewest(a *app, args []string) (string, error) {
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

// skillVersion reads the skill after a step, or the best one.
func skillVersion(a *app, path, version string) (skill.Skill, error) {
	dir := a.absolute(path)
	if _, err := readRun(dir, path); err != nil {
		return skill.Skill{}, err
	}
	name := version
	if version != "best" {
		step, err := strconv.Atoi(version)
		if err != nil || step < 0 {
			return skill.Skill{}, usagef("version %q: want a step, or best", version)
		}
		name = fmt.Sprintf("%04d", step)
	}
	s, found, err := report.Version(dir, name)
	if err != nil {
		return skill.Skill{}, err
	}
	if !found {
		return skill.Skill{}, usagef("run %s has no version %s yet: allowed are 0, the seed skill, a step that the run has done, and best; `skillopt runs show %s` lists the steps", path, version, path)
	}
	return s, nil
}
