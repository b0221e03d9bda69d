package ask

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/testset"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// View is what the files of a run say.
type View struct {
	Dir      string          `json:"run_dir"`
	Manifest run.Manifest    `json:"manifest"`
	Killed   bool            `json:"killed,omitempty"` // its status is running, and no process works on it
	Models   []Participant   `json:"models"`           // and the agent
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

// Exploratory reports whether tasks of the run were drafts that nobody had
// reviewed: by its result, or by its settings before it has one.
func (v View) Exploratory() bool {
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

// Run reads the files of the run in a folder; path is what messages call it. Secrets are not
// masked in it yet. A folder that is no run, and a run with a damaged file, are an *Error.
func Run(dir, path string) (View, error) {
	d, err := record.ReadDocuments(dir, path)
	v := View{
		Dir: dir, Manifest: d.Manifest, Killed: d.Killed, History: d.History, Summary: d.Summary, Gateway: d.Gateway,
		Evaluation: d.Evaluation, Comparison: d.Comparison, Ablation: d.Ablation, Pruning: d.Pruning,
	}
	if err != nil {
		return v, err
	}
	v.Models = Participants(d.Manifest)
	return v, nil
}

// Open opens a run for reading; path is what messages call it.
func Open(ctx context.Context, dir, path string) (*record.Run, error) {
	r, err := record.Open(ctx, dir)
	var none *run.MissingError
	if errors.As(err, &none) {
		return nil, missing("%s is no run directory: it has no %s; `skillopt runs list` shows runs", path, run.ManifestFile)
	}
	return r, err
}

// Skill reads the skill of a run after a step, or the best one; path is what messages call
// the run.
func Skill(dir, path, version string) (skill.Skill, error) {
	if _, err := record.ReadDocuments(dir, path); err != nil {
		return skill.Skill{}, err
	}
	name := version
	if version != "best" {
		step, err := strconv.Atoi(version)
		if err != nil || step < 0 {
			return skill.Skill{}, wrong("", "version %q: want a step, or best", version)
		}
		name = fmt.Sprintf("%04d", step)
	}
	s, found, err := record.Version(dir, name)
	if err != nil {
		return skill.Skill{}, err
	}
	if !found {
		return skill.Skill{}, missing("run %s has no version %s yet: allowed are 0, the seed skill, a step that the run has done, and best; `skillopt runs show %s` lists the steps", path, version, path)
	}
	return s, nil
}

// lookedAt makes the id under which the ledger of test sets knows those who look at what a
// run has read.
const lookedAt = "/looked-at"

// NoteLook notes in the ledger of test sets that answers to test tasks of the run in dir are
// looked at; command is what with.
func NoteLook(ctx context.Context, dir string, r *record.Run, command string, now time.Time) error {
	m := r.Manifest
	return testset.Again(ctx, filepath.Dir(dir), m.RunID, testset.Reading{RunID: m.RunID + lookedAt, Number: 1, Run: filepath.Base(dir) + " (looked at)", Command: command, At: now})
}
