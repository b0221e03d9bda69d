package record

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// A file that is too large is not begun: nobody has memory for what others have put there.
// Nothing runs beside it, since memory of the process is looked at.
func TestTooLargeFilesAreNotBegun(t *testing.T) {
	dir := smallRun(t)
	if err := os.Truncate(filepath.Join(dir, "history.json"), 3<<30); err != nil {
		t.Skip("the file system has no files with holes: ", err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := Open(t.Context(), dir); !errors.Is(err, disk.ErrTooLarge) {
		t.Errorf("opened: %v", err)
	}
	if _, err := ReadTraining(dir, "r"); err == nil || !strings.Contains(err.Error(), "the most that is read of such a file is 16 MB") {
		t.Errorf("training: %v", err)
	}
	runtime.ReadMemStats(&after)
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 32 {
		t.Errorf("%d MB of memory for a file that is not read", took)
	}
}
