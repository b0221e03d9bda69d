// Package report presents the result of a run to people: a self-contained page
// (report.html), and a text for a pull request (report.md).
//
// It gets what the reader of runs says, and reads and writes nothing itself. Whatever of
// that came from models, tasks or users is text to it, never markup. It knows nothing
// about how training decides, models are asked or results are recorded.
package report

import (
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/record"
)

// Run is a run that is reported.
type Run struct {
	record.Training
	Failing *record.Failing // what fails with the best skill; nil: not known, and nothing is shown
}

// Of returns the report of what the files of a run say.
func Of(t *record.Training) *Run { return &Run{Training: *t} }

// RunName returns the name of the run in a directory for a report: its folder and the one around
// it, as in runs/quickstart-1. The rest of the path does not concern the readers of a report.
func RunName(dir string) string {
	dir = filepath.Clean(dir)
	return filepath.ToSlash(filepath.Join(filepath.Base(filepath.Dir(dir)), filepath.Base(dir)))
}
