package textgame

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/testing/textgames"
)

// writeGames writes the 300 games of our own.
func writeGames(t *testing.T, dir string) {
	t.Helper()
	for _, g := range textgames.MakeAll(300) {
		if err := os.WriteFile(filepath.Join(dir, g.Name), g.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWriteGames writes the games that tools/record_alfworld.py records into the folder that SKILLOPT_TEXTGAMES_TO
// names.
func TestWriteGames(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("SKILLOPT_TEXTGAMES_TO")
	if dir == "" {
		t.Skip("SKILLOPT_TEXTGAMES_TO is not set: the folder to write the games into")
	}
	writeGames(t, dir)
}
