package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/testset"
)

// View is what the files of a run say.
type View = record.View

// Run reads the files of the run in a folder; path is what messages call it. Secrets are not
// masked in it yet. A folder that is no run, and a run with a damaged file, are an *Error.
func Run(dir, path string) (View, error) { return record.ReadView(dir, path) }

// Open opens a run for reading; path is what messages call it.
func Open(ctx context.Context, dir, path string) (*record.Run, error) {
	r, err := record.Open(ctx, dir)
	var none *run.MissingError
	if errors.As(err, &none) {
		return nil, missingErrorf("%s is no run directory: it has no %s; `skillopt runs list` shows runs", path, run.ManifestFile)
	}
	return r, err
}

// lookedAt makes the id under which the ledger of test sets knows those who look at what a
// run has read.
const lookedAt = "/looked-at"

// NoteLook notes that answers to test tasks of the run in dir are looked at; command is what
// with. It is noted in each ledger of test sets that knows of the run: that of the folder, and
// those in which the run noted its reading, wherever the folder is now. Without one it is an
// error, and so is one that cannot be written.
func NoteLook(ctx context.Context, dir string, r *record.Run, command string, now time.Time) error {
	m := r.Manifest
	look := testset.Reading{RunID: m.RunID + lookedAt, Number: 1, Run: filepath.Base(dir) + " (looked at)", Command: command, At: now}
	folders := []string{filepath.Dir(dir)}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		folders = append(folders, filepath.Dir(real))
	}
	var failed, unknown error
	noted := false
	for _, folder := range append(folders, m.Ledgers...) {
		switch err := noteLookIn(ctx, folder, m.RunID, look); {
		case err == nil:
			noted = true
		case errors.Is(err, testset.ErrNoOpening):
			unknown = cmp.Or(unknown, err)
		default:
			failed = cmp.Or(failed, err)
		}
	}
	if !noted {
		return cmp.Or(failed, unknown)
	}
	return failed
}

// noteLookIn notes a look at what the run of has read in the ledger of a folder. A ledger that
// is a link is not written to.
func noteLookIn(ctx context.Context, folder, of string, look testset.Reading) error {
	for _, name := range []string{testset.File, testset.File + "-journal", testset.File + "-wal"} {
		if info, err := os.Lstat(filepath.Join(folder, name)); err == nil && !info.Mode().IsRegular() { // a folder may come from anybody
			return fmt.Errorf("%s is a link, or no regular file: remove it", filepath.Join(folder, name))
		}
	}
	return testset.NoteReading(ctx, folder, of, look)
}
