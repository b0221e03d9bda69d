package record

import (
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Listed is a run directory found in a folder, with its manifest.
type Listed = run.Entry

// List returns the run directories in a folder, oldest first. A folder that does not exist
// holds no runs.
func List(dir string) ([]Listed, error) { return run.List(dir) }

// Best reads the best skill of the run in dir with all its files, those that edits may not
// change among them. Nothing outside of the directory is read. Without one it is the empty
// skill.
func Best(dir string) (skill.Skill, error) { return run.ReadBest(dir) }
