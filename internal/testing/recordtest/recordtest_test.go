package recordtest

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/record"
)

// What is written is read as any run is. SKILLOPT_LARGE names a directory for a large one, which
// tests of the browser open; one with a long skill is written beside it.
func TestWrittenRunsAreRead(t *testing.T) {
	size := Size{Steps: 3, Candidates: 6, Batch: 4, Selection: 5, Train: 8, Test: 3, Record: true, Events: true, Skill: 200}
	large := os.Getenv("SKILLOPT_LARGE")
	if large != "" {
		size = Large()
		size.Record, size.Events = true, true
		if err := Write(t.Context(), large+"-skill", Size{Steps: 20, Candidates: 20, Batch: 4, Selection: 50, Train: 80, Test: 3, Skill: 250_000}); err != nil {
			t.Fatal(err)
		}
	}
	dir := cmp.Or(large, filepath.Join(t.TempDir(), "run"))
	if err := Write(t.Context(), dir, size); err != nil {
		t.Fatal(err)
	}
	r, err := record.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	grid, err := r.Grid(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(grid.Tasks) != size.Train+size.Selection+size.Test || len(grid.Columns) < 2*size.Steps {
		t.Errorf("%d tasks and %d columns of a run of %+v", len(grid.Tasks), len(grid.Columns), size)
	}
}
