package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Statuses of rows, in addition to those that runs write.
const (
	RowKilled     = "killed"     // it says that it is at work, and no process is
	RowDamaged    = "damaged"    // a file that it needs cannot be used
	RowUnreadable = "unreadable" // a file may not be read
	RowFormat     = "format"     // it has a format that this program does not read
)

// Row returns the run in dir as a list shows it. What its files say counts: nothing is scored
// again. A run that cannot be read has a status that says so, and the reason.
func Row(ctx context.Context, dir string) result.RunRow {
	row, _ := readRow(ctx, dir, Watch(dir, time.Now))
	annotate(&row)
	return row
}

// annotate adds the notes on a run. Notes that cannot be read are the reason of a row that has
// none.
func annotate(row *result.RunRow) {
	notes, err := ReadNotes(row.Dir)
	if err != nil && row.Reason == "" {
		row.Reason = err.Error()
	}
	row.Notes = notes
}

// readRow reads a row without its notes; the error says why it cannot be read. Of a run that has not written down what it used, a watcher counts it.
func readRow(ctx context.Context, dir string, w *Watcher) (result.RunRow, error) {
	row := result.RunRow{Dir: dir, Name: filepath.Base(dir)}
	v, err := ReadView(dir, dir)
	fillRow(&row, v)
	if err != nil {
		return unreadable(row, err), err
	}
	fillStatus(&row, v)
	switch {
	case v.Evaluation != nil:
		used(&row, v.Evaluation.Usage)
	case v.Comparison != nil:
		used(&row, v.Comparison.Usage)
	case v.Pruning != nil:
		used(&row, v.Pruning.Usage)
	case v.Ablation != nil:
		used(&row, v.Ablation.Usage)
	case v.Noise != nil:
		row.Calls, row.CostUSD = v.Noise.Calls.Total, v.Noise.CostUSD
	case v.Files != nil && !hasRecord(dir): // of a kind that is not known, and that may keep no record
	case v.Summary != nil:
		used(&row, v.Summary.Usage)
	case v.Gateway != nil && v.Gateway.TotalCalls > 0 && row.Status != string(result.Running):
		row.Calls, row.CostUSD = v.Gateway.TotalCalls, v.Gateway.TotalUSD
	default:
		if err := countUsage(ctx, &row, w); err != nil {
			return unreadable(row, err), err
		}
	}
	row.Skill = skillName(dir, v.Manifest)
	return row, nil
}

// fillRow takes from a manifest what it reports of any run.
func fillRow(row *result.RunRow, v View) {
	m := v.Manifest
	row.Named, row.Replays, row.RunScore, row.Change = m.Name, m.Replays() != "", v.Score, v.Change
	row.RunID, row.Kind, row.Simulated, row.Unreviewed = m.RunID, m.Kind, m.Simulated, v.Exploratory()
	row.Tuned, row.ForkedOf, row.Continues = m.TunedSource(), m.ForkedOf, m.About("continues")
	row.Status, row.EndedAt, row.Copy = string(m.Status), m.EndedAt, run.IsCopy(row.Dir, m)
	if !m.CreatedAt.IsZero() {
		row.CreatedAt = &m.CreatedAt
	}
	for _, p := range v.Models {
		if text := p.String(); !slices.Contains(row.Models, text) {
			row.Models = append(row.Models, text)
		}
	}
	if n := len(v.History.Steps); n > 0 {
		row.Steps = n - 1
	}
	if m.Plan != nil {
		row.OfSteps = m.Plan.Steps
	}
	switch {
	case v.Summary != nil && v.Summary.Certificate != nil:
		row.Certified = &v.Summary.Certificate.Certified
	case v.Pruning != nil && v.Pruning.Certificate != nil:
		row.Certified = &v.Pruning.Certificate.Certified
	}
}

// unreadable returns the row of a run that cannot be read.
func unreadable(row result.RunRow, err error) result.RunRow {
	row.Status, row.Reason, row.Resumable = RowDamaged, err.Error(), false
	var none *run.MissingError
	switch {
	case run.OtherFormat(err):
		row.Status = RowFormat
	case errors.As(err, &none):
		row.Reason = fmt.Sprintf("%s is gone: it was deleted or moved; `skillopt runs list` shows runs", row.Dir)
	case errors.Is(err, fs.ErrPermission):
		row.Status = RowUnreadable
	}
	return row
}

// fillStatus sets the status of a run, its reason, and whether the run can be resumed.
func fillStatus(row *result.RunRow, v View) {
	if v.Killed {
		row.Status = RowKilled
	}
	if v.Summary != nil && row.Status != string(result.Running) {
		row.Reason = v.Summary.Reason
	}
	switch row.Status {
	case string(result.Running), string(result.Completed):
	default:
		row.Resumable = row.Kind != result.ServeModel
	}
}

// used takes what a run has used.
func used(row *result.RunRow, u result.Usage) { row.Calls, row.CostUSD = u.Calls.Total, u.CostUSD }

// hasRecord reports whether a run has a record of calls.
func hasRecord(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, run.DBFile))
	return !errors.Is(err, fs.ErrNotExist)
}

// countUsage counts from the record what a run has used, where the run has not written it down.
func countUsage(ctx context.Context, row *result.RunRow, w *Watcher) error {
	for {
		p, err := w.Look(ctx)
		if err != nil {
			return err
		}
		if p.Unread > 0 {
			continue
		}
		row.Calls, row.CostUSD = p.Calls, p.USD
		return nil
	}
}

// maxHead is how much of a skill is read for its name, in bytes.
const maxHead = 64 << 10

// skillName returns the name of the skill that a run is about: of its front matter, else that of
// the run without its number, "" if that says nothing of a skill.
func skillName(dir string, m run.Manifest) string {
	for _, name := range []string{"skills/skill_v0000.md", run.BestFile, result.WholeFile, "skill_b.md"} {
		text, err := head(dir, name)
		if err != nil {
			continue
		}
		if doc, err := skill.Parse(text); err == nil && doc.Name != "" {
			return doc.Name
		}
	}
	switch m.Kind {
	case result.Train, result.Evaluate, result.Compare, result.Ablate, result.Prune, result.ServeModel:
		return numbered.ReplaceAllString(m.Name, "")
	case result.MeasureNoise:
		return hashed.ReplaceAllString(m.Name, "")
	}
	return "" // it is about no skill, or no one knows what its name says
}

var (
	numbered = pattern.New(`-\d+$`)
	hashed   = pattern.New(`-noise-[0-9a-f]+$`)
)

// head returns the beginning of a file of a run.
func head(dir, name string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }() // it was only read
	f, err := disk.OpenIn(context.Background(), root, filepath.FromSlash(name), math.MaxInt64)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // so too
	data, err := io.ReadAll(io.LimitReader(f, maxHead))
	return string(data), err
}
