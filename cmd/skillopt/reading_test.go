//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/testing/race"
)

// longFile writes a JSONL file of n tasks.
func longFile(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tasks.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	rest := strings.Repeat("Explain the steps in short words. ", 5)
	for i := range n {
		fmt.Fprintf(w, "{\"id\":\"t%d\",\"prompt\":\"What is %d and 7? %s\",\"gold\":\"%d\"}\n", i, i, rest, i+7)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// measured skips a test whose figure would be that of the race detector.
func measured(t *testing.T) {
	t.Helper()
	if race.Enabled {
		t.Skip("the race detector takes many times the memory")
	}
}

// peak returns the most memory that an ended child had, in MB.
func peak(t *testing.T, c *child) int64 {
	t.Helper()
	usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("no usage of the child")
	}
	return usage.Maxrss >> 10
}

// TestHostileFilesTakeLittleMemory: what is no proper file is refused before it has
// taken more than a program takes anyway.
func TestHostileFilesTakeLittleMemory(t *testing.T) {
	measured(t)
	t.Parallel()
	const most = 200 // MB
	dir := t.TempDir()
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 8 {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	for name, text := range map[string]string{"zero.yaml": "extends: /dev/zero\n", "bomb.yaml": bomb, "brackets.yaml": strings.Repeat("[", 50_000)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := start(t, dir, "config", "explain", name)
		c.ends(2)
		if got := peak(t, c); got > most {
			t.Errorf("%s took %d MB, at most %d are expected", name, got, most)
		}
	}
}

// TestLintOfManyTasksTakesLittleMemory: what a task asks is not kept.
func TestLintOfManyTasksTakesLittleMemory(t *testing.T) {
	measured(t)
	t.Parallel()
	const most = 250 // MB
	c := start(t, t.TempDir(), "tasks", "lint", longFile(t, 100_000))
	c.ends(0)
	if got := peak(t, c); got > most {
		t.Errorf("it took %d MB, at most %d are expected", got, most)
	}
}

// TestSignalEndsReading: SIGTERM while a long file is read ends the program at once.
// That the file is open is seen in /proc.
func TestSignalEndsReading(t *testing.T) {
	t.Parallel()
	path := longFile(t, 300_000)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("tasks: {path: "+path+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"tasks", "lint", path}, {"tasks", "lint", dir}, {"doctor", dir}, {"eval", dir}, {"train", dir, "--plan"}, {"train", dir, "--yes"},
	} {
		c := start(t, dir, args...)
		for !opened(c.Process.Pid, path) {
			if exited(c.Process.Pid) {
				t.Fatal("the program ended before it was seen to read")
			}
		}
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		out, _ := c.ends(130)
		if out != "" {
			t.Errorf("%v: it went on: %s", args, out)
		}
	}
}

// opened reports whether a process has a file open.
func opened(pid int, path string) bool {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, _ := os.ReadDir(dir) // none: it has not begun, or ended
	for _, e := range entries {
		if to, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && to == path {
			return true
		}
	}
	return false
}

// exited reports whether a child has ended that nobody has waited for.
func exited(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := bytes.Cut(stat, []byte(") "))
	return err != nil || bytes.HasPrefix(after, []byte("Z"))
}
