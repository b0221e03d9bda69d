package ask

import (
	"context"
	"errors"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
)

// Step shows what a step of the run in dir proposed and decided; path is what messages call it.
func Step(dir, path string, step int) (result.StepDetail, error) {
	d, err := record.ReadStep(dir, step)
	var none *record.StepError
	switch {
	case errors.As(err, &none) && none.Last < 0:
		return d, missingErrorf("run %s has done no step yet", path)
	case errors.As(err, &none):
		return d, missingErrorf("run %s has no step %d: allowed are 0 to %d", path, step, none.Last)
	}
	return Shareable(d), readable(err, path)
}

// Compare puts runs side by side; paths are what messages call them.
func Compare(ctx context.Context, dirs, paths []string) (result.RunsCompared, error) {
	rows := make([]result.RunRow, len(dirs))
	for i, dir := range dirs {
		if _, found, err := run.ReadManifest(dir); err == nil && !found {
			return result.RunsCompared{}, readable(&run.MissingError{Dir: dir}, paths[i])
		}
		rows[i] = record.Row(ctx, dir)
	}
	c, err := record.CompareRuns(ctx, rows)
	return Shareable(c), err
}

// Notes returns the notes that people have written to the run in dir.
func Notes(dir string) (result.Notes, error) {
	n, err := record.ReadNotes(dir)
	return n, notesError(err)
}

// SetNotes replaces the notes on the run in dir with n, and returns what is
// kept; path is what messages call the run.
func SetNotes(dir, path string, n result.Notes) (result.Notes, error) {
	n, err := record.WriteNotes(dir, n)
	return n, readable(notesError(err), path)
}

// notesError returns an error about notes as an error about a question.
func notesError(err error) error {
	var notes *record.NotesError
	if errors.As(err, &notes) {
		return &Error{Message: strings.TrimPrefix(notes.Error(), "notes: ")}
	}
	return err
}
