package acceptance_test

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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
	// What that module names is found, and may be imported from outside: this refuses internal packages.
	goIn(t, dir, "list", "-mod=mod", "-deps", ".")
	// "go run" would compile all packages of this module anew there, since another module has them under a version: the
	// program is compiled and linked against what is compiled already.
	list := []string{"list", "-export", "-deps", "-f", "{{if .Export}}packagefile {{.ImportPath}}={{.Export}}{{end}}"}
	compiled := filepath.Join(dir, "importcfg")
	if err := os.WriteFile(compiled, goIn(t, here, append(list, importsOf(t, program)...)...), 0o600); err != nil {
		t.Fatal(err)
	}
	goIn(t, dir, "tool", "compile", "-p", "main", "-importcfg", compiled, "-o", "main.a", "main.go")
	goIn(t, dir, "tool", "link", "-s", "-w", "-importcfg", compiled, "-o", "main.exe", "main.a")
	out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "main.exe")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if want := "[bad_input] false 0 falsenothing was removed<nil>\n"; !bytes.HasPrefix(out, []byte(want)) {
		t.Errorf("it says %q, want %q first", out, want)
	}
}

// goIn runs the go command in a folder without the network, with the flags of this build.
func goIn(t *testing.T, dir string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off", "CGO_ENABLED=0")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s%s", args[0], err, out, said.Bytes())
	}
	return out
}

// importsOf lists what a program imports, and the runtime, which every program is linked with.
func importsOf(t *testing.T, program []byte) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "main.go", program, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	imports := []string{"runtime"}
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		imports = append(imports, path)
	}
	return imports
}
