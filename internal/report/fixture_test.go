package report

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/record"
)

// fixture is a copy of the recorded run, which a test may damage.
func fixture(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "run"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, dir string) *Run {
	t.Helper()
	r, err := record.ReadTraining(dir, "runs/small-1")
	if err != nil {
		t.Fatal(err)
	}
	return Of(r)
}

func write(name, text string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
