package ask

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/testset"
	"github.com/seed-f4525e22/skillopt/skill"
)

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
	s, err := record.Version(dir, version)
	var none *record.VersionError
	if errors.As(err, &none) {
		return s, missing("run %s has no version %s yet: allowed are %s; `skillopt runs show %s` lists the steps", path, version, none.Allowed, path)
	}
	return s, err
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
