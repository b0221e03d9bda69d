package check_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/task"
)

func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	// The clock of the pattern matcher goes on for a while after the last match.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2.runClock"))
}

// sandboxed runs the commands of checks in a sandbox: the workspace can be
// written, the system be read, and nothing else be reached.
func sandboxed(dir, temp string) check.Means {
	return check.Means{Command: func(ctx context.Context, _ string, c check.Command) (check.CommandResult, error) {
		return check.Carry(ctx, dir, c, func(ctx context.Context, c check.Command) (check.CommandResult, error) {
			var out bytes.Buffer // bounded by MaxOutput
			r, err := sandbox.Run(ctx, sandbox.Spec{
				Argv: c.Argv, Dir: dir, Timeout: c.Timeout, Stdout: &out, MaxOutput: 1 << 20,
				Env:     []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + temp, "TMPDIR=" + temp, "LANG=C.UTF-8"},
				Confine: &sandbox.Confine{Write: []string{dir, temp}, Network: c.Network},
			})
			if err != nil {
				return check.CommandResult{}, err
			}
			end, known := map[sandbox.Reason]check.End{
				sandbox.Exited: check.EndExit, sandbox.Deadline: check.EndDeadline, sandbox.Flooded: check.EndFlood,
			}[r.Reason]
			if !known {
				return check.CommandResult{}, fmt.Errorf("run %s: %w", c.Argv[0], context.Cause(ctx))
			}
			return check.CommandResult{End: end, Code: r.Code, Signal: r.Signal, Stdout: out.String(), Stderr: r.Stderr}, nil
		})
	}}
}

// TestInSandbox scores what an agent left with real commands, which do what
// agents make them do.
func TestInSandbox(t *testing.T) {
	t.Parallel()
	if can := sandbox.Supports(); can.Kind == "" || runtime.GOOS == "windows" {
		t.Skip("programs cannot be confined here: " + can.Why)
	}
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("hidden gold"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		check  map[string]any
		hard   float64 // -1: not measured
		reason string
	}{
		{"passes", map[string]any{"run": "test \"$(cat answer.txt)\" = 42"}, 1, ""},
		{"fails", map[string]any{"run": "test \"$(cat answer.txt)\" = 43"}, 0, "exit code 1"},
		{"argv", map[string]any{"argv": []any{"grep", "-q", "42", "answer.txt"}}, 1, ""},
		{"reward", map[string]any{"run": "mkdir -p out && echo 0.75 > out/r", "reward": "out/r", "threshold": 0.7}, 1, ""},
		{"a planted reward", map[string]any{"run": "exit 1", "reward": "planted"}, 0, "left no reward"},
		{"reads outside", map[string]any{"run": "cat " + outside}, 0, "exit code 1"},
		{"writes outside", map[string]any{"run": "echo x > " + outside}, 0, "exit code"},
		{"hangs", map[string]any{"run": "sleep 600 & wait", "timeout": "300ms"}, -1, "measures nothing"},
		{"hangs, and that counts", map[string]any{"run": "sleep 600", "timeout": "300ms", "on_timeout": "fail"}, 0, "ended after 300ms"},
		{"floods", map[string]any{"run": "yes"}, -1, "writing too much"},
		{"no such program in a script", map[string]any{"run": "no-such-program -q"}, -1, "on_missing: fail"},
		{"the agent left no program", map[string]any{"run": "./solve", "on_missing": "fail"}, 0, "a program was not found"},
		{"the agent's program cannot be run", map[string]any{"run": "./answer.txt", "on_missing": "fail"}, 0, "a program cannot be run"},
		{"the agent left no program to start", map[string]any{"argv": []any{"./solve", "-q"}, "on_missing": "fail"}, 0, "exit code 127: a program was not found"},
		{"nor one that can be started", map[string]any{"argv": []any{"./answer.txt"}, "on_missing": "fail", "reward": "r"}, 0, "exit code 126: a program cannot be run"},
		{"the machine lacks the program", map[string]any{"argv": []any{"no-such-program"}, "on_missing": "fail"}, -1, "no-such-program"},
		{"the program of the config is missing", map[string]any{"argv": []any{"/no/such/program"}, "on_missing": "fail"}, -1, "/no/such/program"},
		{"a program of the workspace, by default", map[string]any{"argv": []any{"./solve"}}, -1, "start ./solve"},
		{"killed in a script", map[string]any{"run": "sh -c 'kill -9 $$'; exit $?"}, -1, "SIGKILL"},
		{"no such program", map[string]any{"argv": []any{"no-such-program"}}, -1, "no-such-program"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range map[string]string{"answer.txt": "42\n", "planted": "1.0"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			tt.check["type"] = "command"
			s, err := check.Compile(tt.check, check.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Assess(t.Context(), check.Evidence{Dir: dir}, task.Task{}, sandboxed(dir, t.TempDir()))
			if tt.hard < 0 {
				if err == nil || !strings.Contains(err.Error(), tt.reason) {
					t.Errorf("got %+v, %v", got, err)
				}
				return
			}
			if err != nil || got.Hard != tt.hard || !strings.Contains(got.Reason, tt.reason) {
				t.Errorf("got %+v, %v", got, err)
			}
			if strings.Contains(got.Feedback, "hidden gold") {
				t.Error("the command read what it must not")
			}
		})
	}
}

func TestCancelledIsNotMeasured(t *testing.T) {
	t.Parallel()
	if can := sandbox.Supports(); can.Kind == "" {
		t.Skip("programs cannot be confined here: " + can.Why)
	}
	s, err := check.Compile(map[string]any{"type": "command", "run": "sleep 600"}, check.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	if got, err := s.Assess(ctx, check.Evidence{Dir: dir}, task.Task{}, sandboxed(dir, dir)); err == nil {
		t.Errorf("got %+v", got)
	}
}
