package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/env"
	"github.com/seed-f4525e22/skillopt/task"
)

// TestOwnWorldKeepsToTheProtocol tries out the world in Python that the page shows.
func TestOwnWorldKeepsToTheProtocol(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	found := blocks(pages(t)["worlds.md"], "python")
	if len(found) != 1 {
		t.Fatalf("%d worlds, want 1", len(found))
	}
	sdk, err := os.ReadFile(filepath.FromSlash("../sdk/skillenv.py"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"skillenv.py": string(sdk), "guess.py": found[0]} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tk := task.New("Find it.", "7")
	cases, err := env.CheckProgram(t.Context(), env.Options{Command: []string{"python3", "guess.py"}, Dir: dir, Environ: env.AllowedVariables(os.LookupEnv), Timeout: time.Minute}, &tk)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if c.Seen != "" {
			t.Errorf("%s: saw %s, wanted %s", c.Name, c.Seen, c.Wanted)
		}
	}
}
