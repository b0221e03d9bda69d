package record

import (
	"os"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
)

// View is what the files of a run say: the document that `runs show --json` prints.
type View struct {
	Dir      string          `json:"run_dir"`
	Manifest run.Manifest    `json:"manifest"`
	Killed   bool            `json:"killed,omitempty"` // its status is running, and no process works on it
	Models   []Participant   `json:"models"`           // and the agent
	History  result.History  `json:"history"`
	Summary  *result.Summary `json:"summary"` // null until the run has ended once

	Score  result.RunScore `json:"score"`  // the one that every window shows
	Change *float64        `json:"change"` // by how much it is better than what it is compared with

	// Gateway is the result of `skillopt gateway`.
	Gateway *result.GatewaySummary `json:"gateway,omitempty"`

	// Evaluation is the result of `skillopt eval`, instead of a summary.
	Evaluation *result.Evaluation `json:"evaluation,omitempty"`

	// Comparison is the result of `skillopt compare`.
	Comparison *result.Comparison `json:"comparison,omitempty"`

	// Ablation and Pruning are the results of `skillopt ablate` and `skillopt prune`.
	Ablation *result.Ablation `json:"ablation,omitempty"`
	Pruning  *result.Pruned   `json:"pruning,omitempty"`

	// Noise is the result of `skillopt doctor --noise`.
	Noise *result.NoiseFloor `json:"noise,omitempty"`

	// Drafted is what `skillopt init --generate` or `--triggers` has drafted.
	Drafted *result.Drafted `json:"drafted,omitempty"`

	// Files are those of a run of a kind that this program does not know; else missing.
	Files []result.RunFile `json:"files,omitempty"`
}

// ReadView reads the files of the run in dir; path is what messages call it. Its errors are
// those of ReadDocuments, and what was read before one is returned too.
func ReadView(dir, path string) (View, error) {
	d, err := ReadDocuments(dir, path)
	v := View{
		Dir: dir, Manifest: d.Manifest, Killed: d.Killed, History: d.History, Summary: d.Summary, Score: d.Score, Change: d.Change, Gateway: d.Gateway,
		Evaluation: d.Evaluation, Comparison: d.Comparison, Ablation: d.Ablation, Pruning: d.Pruning, Noise: d.Noise, Drafted: d.Drafted,
	}
	if err != nil {
		return v, err
	}
	v.Models = Participants(d.Manifest)
	v.Files, err = listFiles(dir, d.Manifest)
	return v, err
}

// Exploratory reports whether tasks of the run were drafts that no one had
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

// Large is the size of a run's documents, in bytes, from which one run at a time should be read
// where memory is bounded.
const Large = 512 << 10

// DocumentSize returns the size of the documents of the run in dir, in bytes: those that are read
// as a whole. A document that is missing counts as 0.
func DocumentSize(dir string) (size int64) {
	for _, name := range []string{
		run.ManifestFile, run.HistoryFile, run.SummaryFile, candidatesFile, evaluationFile, comparisonFile, result.AblationFile, result.PruningFile, result.GatewayFile,
	} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			size += min(info.Size(), run.Most(name))
		}
	}
	return size
}
