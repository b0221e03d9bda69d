package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
)

// mostFiles bounds how many files of a run are listed.
const mostFiles = 200

// Kinds returns the kinds of runs that this program knows.
func Kinds() []result.Kind {
	return []result.Kind{
		result.Train, result.Evaluate, result.Compare, result.Ablate, result.Prune, result.MeasureNoise, result.DraftTasks, result.MineTasks, result.Reflect, result.ServeModel,
	}
}

// listFiles lists what is at the top of a run directory, by name: of a run of a kind that
// this program does not know there is nothing else to show. More than some hundred are not
// listed.
func listFiles(dir string, m run.Manifest) ([]result.RunFile, error) {
	if slices.Contains(Kinds(), m.Kind) {
		return nil, nil
	}
	folder, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("list the files of the run: %w", err)
	}
	defer func() { _ = folder.Close() }() // it was only read
	entries, err := folder.ReadDir(mostFiles)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("list the files of the run: %w", err)
	}
	out := []result.RunFile{}
	for _, e := range entries {
		f := result.RunFile{Name: e.Name(), Folder: e.IsDir()}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() { // else it has gone meanwhile, or is none
			f.Bytes = info.Size()
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b result.RunFile) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}
