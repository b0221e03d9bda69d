package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

func runsCommand(a *app) *cobra.Command {
	c := group(&cobra.Command{Use: "runs", Short: "List, show, compare, explain and export runs, and ask what was answered"})
	c.AddCommand(runsListCommand(a), runsShowCommand(a), runsWatchCommand(a), runsStopCommand(a), runsLimitCommand(a), runsTaskCommand(a), runsFailuresCommand(a), runsCallsCommand(a), runsSpendCommand(a), runsDiffCommand(a), runsBlameCommand(a), runsReportCommand(a), runsExportCommand(a), runsRmCommand(a), runsPruneCommand(a), runsCheckCommand(a))
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
	d, err := record.ReadDocuments(dir, path)
	v := runView{
		Dir: dir, Manifest: d.Manifest, Killed: d.Killed, History: d.History, Summary: d.Summary, Gateway: d.Gateway,
		Evaluation: d.Evaluation, Comparison: d.Comparison, Ablation: d.Ablation, Pruning: d.Pruning,
	}
	var none *run.MissingError
	var damaged *record.FileError
	switch {
	case errors.As(err, &none), errors.As(err, &damaged):
		return v, usagef("%v", err)
	case err != nil:
		return v, err
	}
	v.Models = participants(d.Manifest)
	return v, nil
}

// runOrNewest is the run that an argument names, or the newest one in the folder runs.
func runOrNewest(a *app, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	entries, err := record.List(a.absolute("runs"))
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
	s, found, err := record.Version(dir, name)
	if err != nil {
		return skill.Skill{}, err
	}
	if !found {
		return skill.Skill{}, usagef("run %s has no version %s yet: allowed are 0, the seed skill, a step that the run has done, and best; `skillopt runs show %s` lists the steps", path, version, path)
	}
	return s, nil
}
