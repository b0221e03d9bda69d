package record

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
)

// Documents are what the files of a run of any kind say of its state. What it has not
// got to is absent. Its record is not needed.
type Documents struct {
	Manifest run.Manifest
	Killed   bool // its status is running, and no process works on it
	History  result.History
	Summary  *result.Summary // nil until the run has ended once

	Gateway    *result.GatewaySummary // of `skillopt gateway`
	Evaluation *result.Evaluation     // of `skillopt eval`, instead of a summary
	Comparison *result.Comparison     // of `skillopt compare`
	Ablation   *result.Ablation       // of `skillopt ablate`
	Pruning    *result.Pruned         // of `skillopt prune`
	Noise      *result.NoiseFloor     // of `skillopt doctor --noise`
	Drafted    *result.Drafted        // of `skillopt init --generate` and `--triggers`

	Score  result.RunScore // of the run, whatever its kind
	Change *float64        // by how much that is better than what it is compared with
}

// A FileError says that a file of a run cannot be used as it is.
type FileError struct {
	Path string
	Err  error

	again string // what writes it again; "": training
}

func (e *FileError) Error() string {
	return fmt.Sprintf("%s is damaged: %v; %s to write it again", e.Path, e.Err, cmp.Or(e.again, "resume the run"))
}

func (e *FileError) Unwrap() error { return e.Err }

// ErrorKind says whose business the error is.
func (*FileError) ErrorKind() string { return string(fault.BadInput) }

// ReadDocuments reads the files of the run in dir; path is what messages call it. A
// directory without a manifest is a *run.MissingError, a file that is damaged a *FileError.
// What is read of it before an error is returned too.
func ReadDocuments(dir, path string) (Documents, error) {
	var d Documents
	m, found, err := run.ReadManifest(dir)
	if err != nil {
		return d, run.Unreadable(path, err)
	}
	if !found {
		return d, &run.MissingError{Dir: path}
	}
	d.Manifest, d.Killed = m, Killed(dir, m)
	for _, read := range []func(string) error{d.readTraining, d.readGateway, d.readEvaluation, d.readComparison, d.readPruning, d.readNoise, d.readDrafted} {
		if err := read(dir); err != nil {
			return d, err
		}
	}
	d.Score, d.Change, err = d.runScore(dir)
	return d, err
}

// Killed reports whether a run says that it is at work while no process works on it. What
// cannot be known is taken as the run says it.
func Killed(dir string, m run.Manifest) bool {
	if m.Status != result.Running {
		return false
	}
	alive, err := run.InUse(dir)
	return err == nil && !alive
}

// readTraining reads the history, and the summary if the run has ended once.
func (d *Documents) readTraining(dir string) error {
	if err := document(dir, run.HistoryFile, &d.History); err != nil {
		return err
	}
	var s result.Summary
	if err := document(dir, run.SummaryFile, &s); err != nil {
		return err
	}
	if s.Status != "" {
		s.RunDir = dir
		d.Summary = &s
	}
	return nil
}

// readGateway reads the result of a gateway.
func (d *Documents) readGateway(dir string) error {
	if d.Manifest.Kind != result.ServeModel {
		return nil
	}
	d.Gateway = new(result.GatewaySummary)
	if err := document(dir, result.GatewayFile, d.Gateway); err != nil {
		return err
	}
	d.Gateway.RunDir = dir
	return nil
}

// readEvaluation reads the result of an evaluation.
func (d *Documents) readEvaluation(dir string) error {
	if kind := d.Manifest.Kind; kind != result.Evaluate && kind != result.MeasureNoise {
		return nil
	}
	var e result.Evaluation
	if err := document(dir, evaluationFile, &e); err != nil {
		return err
	}
	if e.Splits != nil {
		e.RunDir = dir
		d.Evaluation = &e
	}
	return nil
}

// readComparison reads the result of a comparison.
func (d *Documents) readComparison(dir string) error {
	if d.Manifest.Kind != result.Compare {
		return nil
	}
	var c result.Comparison
	if err := document(dir, comparisonFile, &c); err != nil {
		return err
	}
	if c.Verdict != "" {
		c.RunDir = dir
		d.Comparison = &c
	}
	return nil
}

// readPruning reads the result of an ablation or a pruning.
func (d *Documents) readPruning(dir string) error {
	if kind := d.Manifest.Kind; kind != result.Ablate && kind != result.Prune {
		return nil
	}
	var a result.Ablation
	var p result.Pruned
	err := errors.Join(document(dir, result.AblationFile, &a), document(dir, result.PruningFile, &p))
	if a.RunDir, p.RunDir = dir, dir; len(a.Rules) > 0 {
		d.Ablation = &a
	}
	if len(p.Rules) > 0 {
		d.Pruning = &p
	}
	return err
}

// Names of files with results.
const (
	evaluationFile = "evaluation.json"
	comparisonFile = "comparison.json"
)

// document reads a file of a run; one that was not written yet is empty. Nothing outside of the
// directory is read, whatever links it holds.
func document(dir, name string, v any) error {
	_, err := readDocument(dir, name, run.Most(name), v)
	return err
}

// readDocument reads a document as document does, from a file of at most that many bytes; found is false if there is none.
func readDocument(dir, name string, most int64, v any) (found bool, err error) {
	data, found, err := run.ReadFile(dir, name, most)
	if err != nil {
		return false, fmt.Errorf("read run: %w", err)
	}
	if !found {
		return false, nil
	}
	if err := run.Decode(name, data, v); errors.Is(err, disk.ErrTooLarge) {
		return false, fmt.Errorf("read run: %w", err)
	} else if err != nil {
		return false, &FileError{Path: filepath.Join(dir, name), Err: err}
	}
	return true, nil
}
