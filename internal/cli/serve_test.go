package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// Serve says what the folders hold that it was given: runs, nights, both or nothing yet.
func TestServeSaysWhatFoldersHold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	manifest := `{"format": 2, "run_id": "a", "name": "a", "kind": "dream", "created_at": "2026-01-02T03:04:05Z", "status": "completed"}`
	put("runs/a/manifest.json", manifest)
	put("sleep/runs/a/manifest.json", manifest)
	put("sleep/nights/0123456789abcdef/20260102-030405/night.json", `{"format": 4}`)
	put("begun/bank.db", "")
	for path, want := range map[string]string{
		"runs": "showing 1 run in runs", "runs/a": "showing the run runs/a", "sleep": "showing 1 run and 1 night in sleep", "sleep/nights": "showing 1 night in sleep/nights",
		"sleep/nights/0123456789abcdef": "showing 1 night in sleep/nights/0123456789abcdef", "sleep/runs": "showing 1 run in sleep/runs",
		"sleep/nights/0123456789abcdef/20260102-030405": "showing the night sleep/nights/0123456789abcdef/20260102-030405",
		"begun": "no runs in begun yet; they are shown as they begin",
	} {
		if got := filepath.ToSlash(foldersText(printer{dir: dir}, filepath.Join(dir, filepath.FromSlash(path)))); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
