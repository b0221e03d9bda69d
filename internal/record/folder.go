package record

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
)

// Folder says where the runs and the nights of a folder lie that somebody names.
type Folder struct {
	Path  string // that all of it lies in
	Runs  string // the folder of runs: Path, or within it
	Run   string // the one run of Runs that is meant; "": all
	Night string // the one night of Path that is meant, and no run; "": all
	Sleep bool   // Path is a sleep.dir
}

// Names in a sleep.dir.
const (
	sleepRuns   = "runs"
	sleepNights = "nights"
	sleepBank   = "bank.db"
)

// InspectFolder finds out what a folder is: one of runs, one run, a sleep.dir, or of a sleep.dir the folder of all nights, that of
// the nights of a project, or one night.
func InspectFolder(path string) Folder {
	path = filepath.Clean(path)
	dir, name := filepath.Split(path)
	switch {
	case isFile(filepath.Join(path, run.ManifestFile)):
		return Folder{Path: filepath.Clean(dir), Runs: filepath.Clean(dir), Run: name}
	case isFile(filepath.Join(path, result.NightFile)):
		return Folder{Path: filepath.Clean(dir), Runs: filepath.Clean(dir), Night: name}
	case sleeps(path):
		return Folder{Path: path, Runs: filepath.Join(path, sleepRuns), Sleep: true}
	}
	return Folder{Path: path, Runs: path}
}

// sleeps reports whether a folder is a sleep.dir: it has a bank, or nights of a project.
func sleeps(path string) bool {
	if isFile(filepath.Join(path, sleepBank)) {
		return true
	}
	entries, err := os.ReadDir(filepath.Join(path, sleepNights))
	if err != nil {
		return false
	}
	for _, e := range entries {
		if e.IsDir() && projectName.MatchString(e.Name()) {
			return true
		}
	}
	return false
}

// projectName is that of the folder with the nights of a project: a digest.
var projectName = pattern.New(`^[0-9a-f]{16}$`)

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// CheckRuns fails if the folder of runs of a sleep.dir is a link that leads out of it. A folder that is not there yet is no failure.
func (f Folder) CheckRuns() error {
	if !f.Sleep {
		return nil
	}
	root, err := os.OpenRoot(f.Path)
	if err == nil {
		defer func() { _ = root.Close() }() // it was only looked into
		_, err = root.Stat(sleepRuns)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
