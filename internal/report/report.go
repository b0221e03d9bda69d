// Package report says what a run came to, for people: a page that stands alone
// (report.html), a text for a pull request (report.md), and the origin of each
// line of its skill.
//
// It reads the files of a run directory, those of older versions too, and writes
// nothing. Whatever in them came from models, tasks or users is text to it, never
// markup. It knows nothing about how training decides, models are asked or results
// are recorded.
package report

import (
	"fmt"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Run is what the files of a run directory say. What a run has not got to, or an
// older version did not write, is absent.
type Run struct {
	Name     string // how the run is called: its path as the reader gave it
	Manifest run.Manifest
	History  result.History
	Summary  *result.Summary // nil until the run has ended once
	Steps    []Step          // as in History, with what their files say
	Guided   map[int][]Item  // outcomes of the guidance that a slow update wrote, by epoch
	Seed     skill.Skill     // the skill before training, with the files that edits may change
	Best     skill.Skill     // so too
	HasBest  bool
	Test     map[string][]Item // outcomes on the test split by arm

	// Problems are files that could not be used, one line each.
	Problems []string
}

// NameOf is how a report calls the run in a directory: by its folder and the one
// around it, as in runs/quickstart-1. The rest of the path is no business of who
// reads a report.
func NameOf(dir string) string {
	dir = filepath.Clean(dir)
	return filepath.ToSlash(filepath.Join(filepath.Base(filepath.Dir(dir)), filepath.Base(dir)))
}

// A NoRunError says that a directory holds no run that can be reported.
type NoRunError struct {
	Dir    string
	Reason string
}

func (e *NoRunError) Error() string {
	return fmt.Sprintf("%s: %s; `skillopt runs list` shows runs", e.Dir, e.Reason)
}
