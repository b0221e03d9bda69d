// Package openenvtest starts a server of the Python package openenv for tests.
package openenvtest

import (
	"bufio"
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// PythonVar is the environment variable with a Python that has the package openenv.
const PythonVar = "SKILLOPT_OPENENV_PYTHON"

//go:embed server.py
var program []byte

// Start starts a harbour that takes at most the given number of episodes at a time, and returns its address. Without a Python the test is skipped.
func Start(t testing.TB, sessions int) string {
	t.Helper()
	python := os.Getenv(PythonVar)
	if python == "" {
		t.Skip(PythonVar + " names no Python with the package openenv")
	}
	file := filepath.Join(t.TempDir(), "server.py")
	if err := os.WriteFile(file, program, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, file, "0", strconv.Itoa(sessions))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the server printed no port: %v", err)
	}
	return "ws://127.0.0.1:" + strings.TrimSpace(port)
}
