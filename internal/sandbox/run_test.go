//go:build unix

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// act is a Spec of the test binary as a program under test.
func act(t *testing.T, what string, args ...string) Spec {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Spec{
		Argv: append([]string{self}, args...), Dir: t.TempDir(), Env: []string{actVar + "=" + what},
		Timeout: time.Minute, Grace: 200 * time.Millisecond,
	}
}

// run runs s and returns what it printed.
func run(t *testing.T, s Spec) (Result, string) {
	t.Helper()
	var out bytes.Buffer
	s.Stdout = &out
	r, err := Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return r, out.String()
}

func TestRun(t *testing.T) {
	t.Parallel()
	say := act(t, "say", "a", "b c")
	fail := act(t, "fail")
	cat := act(t, "cat")
	cat.Stdin = strings.NewReader("some input")
	unread := act(t, "say", "x")
	unread.Stdin = strings.NewReader(strings.Repeat("y", 1<<20))
	empty := act(t, "cat")
	crash := act(t, "crash")
	tests := []struct {
		name   string
		spec   Spec
		want   Result
		stdout string
	}{
		{"output", say, Result{Reason: Exited, Output: 6}, "a\nb c\n"},
		{"exit code", fail, Result{Reason: Exited, Code: 3, Stderr: "it went \uFFFD wrong", Output: 15}, ""},
		{"input", cat, Result{Reason: Exited, Output: 10}, "some input"},
		{"input that nobody reads", unread, Result{Reason: Exited, Output: 2}, "x\n"},
		{"no input", empty, Result{Reason: Exited}, ""},
		{"signal", crash, Result{Reason: Exited, Code: -1, Signal: "SIGKILL"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, out := run(t, tt.spec)
			if got.Took <= 0 {
				t.Errorf("it took %v", got.Took)
			}
			got.Took = 0
			if got != tt.want || out != tt.stdout {
				t.Errorf("got %+v, printed %q", got, out)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	s := act(t, "environ")
	t.Setenv("A_SECRET", "hunter2")
	_, out := run(t, s)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2 || lines[0] != s.Env[0] || !strings.HasPrefix(lines[1], Marker+"=") {
		t.Errorf("the program sees %q", lines)
	}
}

func TestStartErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "plain.txt")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		spec Spec
		want error
	}{
		{"no program", Spec{Dir: dir}, nil},
		{"unknown program", Spec{Argv: []string{"no-such-program"}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}}, exec.ErrNotFound},
		{"no PATH", Spec{Argv: []string{"sh"}, Dir: dir}, exec.ErrNotFound},
		{"PATH that depends on us", Spec{Argv: []string{"plain.txt"}, Dir: dir, Env: []string{"PATH=.:"}}, exec.ErrNotFound},
		{"not a program", Spec{Argv: []string{"./plain.txt"}, Dir: dir}, fs.ErrPermission},
		{"no folder", Spec{Argv: []string{"/bin/sh"}, Dir: filepath.Join(dir, "none")}, fs.ErrNotExist},
		{"a file as folder", Spec{Argv: []string{"/bin/sh"}, Dir: file}, nil},
		{"relative folder", Spec{Argv: []string{"/bin/sh"}, Dir: "."}, nil},
		{"NUL", Spec{Argv: []string{"/bin/sh", "a\x00b"}, Dir: dir}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := Run(t.Context(), tt.spec)
			var start *StartError
			if !errors.As(err, &start) || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("got %v", err)
			}
			if r != (Result{}) {
				t.Errorf("got a result of what has not run: %+v", r)
			}
		})
	}
}

func TestPrograms(t *testing.T) {
	t.Parallel()
	s := Spec{Argv: []string{"sh", "-c", "./tool"}, Dir: t.TempDir(), Env: []string{"PATH=/usr/bin:/bin"}}
	if err := os.WriteFile(filepath.Join(s.Dir, "tool"), []byte("#!/bin/sh\necho found\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if r, out := run(t, s); out != "found\n" || r.Code != 0 {
		t.Errorf("got %+v, %q", r, out)
	}
	s.Argv = []string{"./tool"}
	if r, out := run(t, s); out != "found\n" || r.Code != 0 {
		t.Errorf("got %+v, %q", r, out)
	}
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"hang", "deaf", "close"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := act(t, what)
			s.Timeout = 1500 * time.Millisecond
			s.Stdin = strings.NewReader(strings.Repeat("z", 1<<20))
			r, _ := run(t, s)
			want := map[string]string{"hang": "SIGTERM", "deaf": "SIGKILL", "close": "SIGTERM"}[what]
			if r.Reason != Deadline || r.Code != -1 || r.Signal != want {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestAskedBeforeKilled(t *testing.T) {
	t.Parallel()
	s := act(t, "polite")
	s.Grace = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	s.Stdout = writerFunc(func(b []byte) (int, error) {
		cancel()
		return out.Write(b)
	})
	r, err := Run(ctx, s)
	if err != nil || r.Reason != Cancelled || r.Code != 0 || out.String() != "ready\ngoodbye\n" {
		t.Errorf("got %+v, %v, %q", r, err, out.String())
	}
	if r, err := Run(ctx, s); err != nil || r.Reason != Cancelled || r.Code != -1 {
		t.Errorf("with a context that has ended: got %+v, %v", r, err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func TestFlood(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"flood", "flood-stderr"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := act(t, what)
			s.MaxOutput = 5 << 20
			var n int
			s.Stdout = writerFunc(func(b []byte) (int, error) {
				n += len(b)
				return len(b), nil
			})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r, err := Run(t.Context(), s)
			if err != nil || r.Reason != Flooded || r.Output != s.MaxOutput || len(r.Stderr) > 3*maxStderr {
				t.Errorf("got %v, %s %d bytes", err, r.Reason, r.Output)
			}
			if what == "flood" && int64(n) != s.MaxOutput {
				t.Errorf("%d bytes were handed on", n)
			}
			runtime.ReadMemStats(&after)
			if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 32<<20 {
				t.Errorf("the heap has grown by %d bytes", grown)
			}
		})
	}
}

func TestStdoutFails(t *testing.T) {
	t.Parallel()
	s := act(t, "flood")
	s.Stdout = writerFunc(func([]byte) (int, error) { return 0, io.ErrShortWrite })
	r, err := Run(t.Context(), s)
	if !errors.Is(err, io.ErrShortWrite) || r.Reason != Cancelled {
		t.Errorf("got %+v, %v", r, err)
	}
}

// TestNothingIsLeft runs programs whose children ignore SIGTERM, one of them in
// a session of its own, and looks for them afterwards.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		args   []string
		reason Reason
	}{
		{"at its end", []string{"leave"}, Exited},
		{"at its end, with our pipes in their hands", []string{"leave", "hold"}, Exited},
		{"at the deadline", []string{"hang"}, Deadline},
		{"at the deadline, with our pipes in their hands", []string{"hang", "hold"}, Deadline},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := act(t, "brood", tt.args...)
			s.Timeout = 2 * time.Second
			if tt.reason == Exited {
				s.Timeout = time.Minute
			}
			r, out := run(t, s)
			if r.Reason != tt.reason {
				t.Errorf("got %+v", r)
			}
			if r.Took > 30*time.Second {
				t.Errorf("it took %v", r.Took)
			}
			pids := 0
			for _, word := range strings.Fields(out) {
				pid, err := strconv.Atoi(word)
				if err != nil {
					continue // "deaf"
				}
				pids++
				if pids == 2 && runtime.GOOS != "linux" {
					_ = syscall.Kill(pid, syscall.SIGKILL) // nothing finds it there
					continue
				}
				if alive(pid) {
					t.Errorf("process %d is still there", pid)
				}
			}
			if pids != 2 {
				t.Fatalf("it printed %q", out)
			}
		})
	}
}

// TestSessionIsEnded has a program leave a child in a process group of its own,
// without our mark in its environment.
func TestSessionIsEnded(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows the session of a process")
	}
	_, out := run(t, act(t, "apart"))
	pid, err := strconv.Atoi(strings.TrimSpace(out))
	if err != nil {
		t.Fatalf("it printed %q", out)
	}
	if alive(pid) {
		t.Errorf("process %d is still there", pid)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// alive reports whether a process runs. A zombie that nobody has collected yet
// does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// An input that waits is closed when the program has ended.
func TestAnInputThatWaitsIsClosed(t *testing.T) {
	t.Parallel()
	in, input := io.Pipe()
	var out bytes.Buffer
	go func() { _, _ = io.WriteString(input, "one\n") }() // ends with the program, which reads it
	r, err := Run(t.Context(), Spec{Argv: []string{"/bin/sh", "-c", "read line; echo $line"}, Dir: t.TempDir(), Stdin: in, Stdout: &out})
	if err != nil || r.Reason != Exited || out.String() != "one\n" {
		t.Errorf("%+v, %q, %v", r, out.String(), err)
	}
	if _, err := input.Write([]byte("two")); err == nil {
		t.Error("the input is still open")
	}
}
