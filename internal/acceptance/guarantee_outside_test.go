package acceptance_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// What is public can be written down, and used, from outside: a module of its own names
// it, implements what programs bring, and compiles and runs without the network.
func TestAModuleOfItsOwnUsesTheLibrary(t *testing.T) {
	t.Parallel()
	here, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	mod, err := os.ReadFile(filepath.Join(here, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	// The same requirements at the same versions, so that nothing is looked up.
	mod = bytes.Replace(mod, []byte("module github.com/seed-f4525e22/skillopt"), []byte("module example.com/outside"), 1)
	mod = append(mod, []byte("\nrequire github.com/seed-f4525e22/skillopt v0.0.0\n\nreplace github.com/seed-f4525e22/skillopt => "+filepath.ToSlash(here)+"\n")...)
	sum, err := os.ReadFile(filepath.Join(here, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(filepath.Join("testdata", "outside", "main.go.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"go.mod": mod, "go.sum": sum, "main.go": program} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// This module's packages are compiled anew there, which takes a third less where nothing is optimized.
	quick := []string{"-ldflags=-s -w", "-gcflags=github.com/seed-f4525e22/skillopt/...=-N -l"}
	cmd := exec.CommandContext(t.Context(), "go", append(append([]string{"run", "-mod=mod"}, quick...), ".")...)
	cmd.Dir = dir
	// With the flags of this build, so that what has been compiled is used.
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if want := "[bad_input] false 0 falsenothing was removed0\n"; !bytes.HasPrefix(out, []byte(want)) {
		t.Errorf("it says %q, want %q first", out, want)
	}
}
