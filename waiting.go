package skillopt

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/plural"
	"github.com/seed-f4525e22/skillopt/internal/provider/handoff"
)

// waitingError says how many questions wait for an answer, and where.
type waitingError struct {
	folders []folder
	err     *caller.WaitingError
}

type folder struct {
	path      string
	questions int
}

func (e *waitingError) Error() string {
	var lines []string
	for _, f := range e.folders {
		what := plural.Of(f.questions, "question waits for its answer", "questions wait for answers")
		lines = append(lines, fmt.Sprintf("%s in %s, as %s there says", what, f.path, handoff.Readme))
	}
	return strings.Join(lines, "\n")
}

func (e *waitingError) Unwrap() error { return e.err }

// waiting counts what waits, instead of naming one of many.
func (w *world) waiting(err *caller.WaitingError) error {
	e := &waitingError{err: err}
	for _, b := range w.setup.models {
		if b.Questions == nil || slices.ContainsFunc(e.folders, func(f folder) bool { return f.path == b.Folder }) {
			continue
		}
		if n := b.Questions(); n > 0 {
			e.folders = append(e.folders, folder{path: filepath.Clean(b.Folder), questions: n})
		}
	}
	if len(e.folders) == 0 {
		return err
	}
	slices.SortFunc(e.folders, func(a, b folder) int { return cmp.Compare(a.path, b.path) })
	return e
}
