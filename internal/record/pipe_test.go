//go:build unix

package record

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/run"
)

// A pipe in the place of a file of the run is refused: nobody may ever write to it.
func TestPipesAreNotWaitedFor(t *testing.T) {
	t.Parallel()
	r, dir := emptyRun(t)
	for _, name := range []string{"outcomes.json", run.HistoryFile} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Sheets(); !errors.Is(err, disk.ErrNotFile) || !strings.Contains(err.Error(), "outcomes.json: it is a named pipe") {
		t.Errorf("sheets: %v", err)
	}
	if _, err := Open(t.Context(), dir); !errors.Is(err, disk.ErrNotFile) || !strings.Contains(err.Error(), "history.json: it is a named pipe") {
		t.Errorf("open: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, run.SummaryFile), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadTraining(dir, "r"); err == nil || !strings.Contains(err.Error(), "history.json: it is a named pipe") {
		t.Errorf("training: %v", err)
	}
}
