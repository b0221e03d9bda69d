package run

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A file is there when the call returns, whole, and in folders that it needs.
func TestFilesAreWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := opened(t, options(dir))
	for _, n := range []int{1, 2} {
		if err := r.WriteJSON("steps/1/n.json", map[string]int{"n": n}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.WriteProgram("steps/run.sh", []byte("true\n")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"steps/1/n.json": "{\n  \"n\": 2\n}\n", "steps/run.sh": "true\n"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	for range 2 {
		if err := r.RemoveFile("steps/run.sh"); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "steps", "run.sh")); !os.IsNotExist(err) {
		t.Errorf("what was removed: %v", err)
	}
}
