package check

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/task"
)

// TestCommand holds results of a command against what they score. A result that
// measures nothing is an error, never a score.
func TestCommand(t *testing.T) {
	t.Parallel()
	const plain, rewarded = "{type: command, run: make test}", "{type: command, run: make test, reward: out/reward.txt, threshold: 0.8}"
	tests := []struct {
		name   string
		check  string
		result CommandResult
		err    error
		hard   float64
		soft   float64
		want   string // of the reason, or of the error
	}{
		{"exit 0", plain, CommandResult{End: EndExit}, nil, 1, 1, ""},
		{"exit 1", plain, CommandResult{End: EndExit, Code: 1}, nil, 0, 0, "exit code 1"},
		{"exit 1, expected", "{type: not-command, run: make test}", CommandResult{End: EndExit, Code: 1}, nil, 1, 1, ""},
		{"exit 0, not expected", "{type: not-command, run: make test}", CommandResult{End: EndExit}, nil, 0, 0, "must not be so: the command succeeds"},
		{"no such program in the script", plain, CommandResult{End: EndExit, Code: 127, Stderr: "sh: 1: make:\x1b[2J not found\n"}, nil, -1, 0, `exit code 127: a program was not found, which measures nothing ("sh: 1: make:\x1b[2J not found"); install it, or write on_missing: fail`},
		{"a program that cannot be run", plain, CommandResult{End: EndExit, Code: 126}, nil, -1, 0, "exit code 126: a program cannot be run, which measures nothing; make it executable, or write on_missing: fail if the agent should have left it"},
		{"missing, expected to fail", "{type: not-command, run: make test}", CommandResult{End: EndExit, Code: 127}, nil, -1, 0, "measures nothing"},
		{"missing, and that counts", "{type: command, run: ./solve, on_missing: fail}", CommandResult{End: EndExit, Code: 127}, nil, 0, 0, "exit code 127: a program was not found"},
		{"cannot be run, and that counts", "{type: command, run: ./solve, on_missing: fail}", CommandResult{End: EndExit, Code: 126}, nil, 0, 0, "exit code 126: a program cannot be run"},
		{"missing, and that counts, turned round", "{type: not-command, run: ./solve, on_missing: fail}", CommandResult{End: EndExit, Code: 127}, nil, 0, 0, "exit code 127"},
		{"missing and no reward", rewarded, CommandResult{End: EndExit, Code: 127, RewardFault: "gone"}, nil, -1, 0, "a program was not found"},
		{"missing beside a reward", rewarded, CommandResult{End: EndExit, Code: 127, Reward: "1"}, nil, 1, 1, ""},
		{"crash", plain, CommandResult{End: EndExit, Code: -1, Signal: "SIGSEGV"}, nil, 0, 0, "ended by SIGSEGV"},
		{"crash of the script's last program", plain, CommandResult{End: EndExit, Code: 139}, nil, 0, 0, "exit code 139"},
		{"wrong arguments", plain, CommandResult{End: EndExit, Code: 129}, nil, 0, 0, "exit code 129"},
		{"killed", plain, CommandResult{End: EndExit, Code: -1, Signal: "SIGKILL"}, nil, -1, 0, "want of memory"},
		{"killed within the script", plain, CommandResult{End: EndExit, Code: 137}, nil, -1, 0, "ended by SIGKILL, which measures nothing"},
		{"killed after the reward", rewarded, CommandResult{End: EndExit, Code: 137, Reward: "0."}, nil, -1, 0, "ended by SIGKILL"},
		{"killed with all that ran", plain, CommandResult{End: EndExit, Code: -1, Signal: "SIGTERM"}, nil, -1, 0, "ended by SIGTERM"},
		{"told to end within the script", plain, CommandResult{End: EndExit, Code: 143}, nil, -1, 0, "ended by SIGTERM"},
		{"interrupted", plain, CommandResult{End: EndExit, Code: -1, Signal: "SIGINT"}, nil, -1, 0, "ended by SIGINT"},
		{"hung up", plain, CommandResult{End: EndExit, Code: -1, Signal: "SIGHUP"}, nil, -1, 0, "ended by SIGHUP"},
		{"deadline", plain, CommandResult{End: EndDeadline, Code: -1}, nil, -1, 0, "ended after 1m0s, which measures nothing"},
		{"deadline that counts", "{type: command, run: x, timeout: 90, on_timeout: fail}", CommandResult{End: EndDeadline, Code: -1}, nil, 0, 0, "ended after 1m30s"},
		{"deadline that counts, turned round", "{type: not-command, run: x, on_timeout: fail}", CommandResult{End: EndDeadline, Code: -1}, nil, 0, 0, "ended after"},
		{"flood", plain, CommandResult{End: EndFlood}, nil, -1, 0, "writing too much"},
		{"no end", plain, CommandResult{}, nil, -1, 0, "means nothing"},
		{"not started", plain, CommandResult{}, errors.New("no such program"), -1, 0, "check command: no such program"},
		{"reward", rewarded, CommandResult{End: EndExit, Reward: " 0.85\n"}, nil, 1, 0.85, ""},
		{"reward with an exit code", rewarded, CommandResult{End: EndExit, Code: 1, Reward: "1"}, nil, 1, 1, ""},
		{"low reward", rewarded, CommandResult{End: EndExit, Reward: "0.5"}, nil, 0, 0.5, "the reward is 0.5, 0.8 is needed"},
		{"NaN", rewarded, CommandResult{End: EndExit, Reward: "NaN"}, nil, -1, 0, "a number from 0 to 1"},
		{"infinite", rewarded, CommandResult{End: EndExit, Reward: "inf"}, nil, -1, 0, "a number from 0 to 1"},
		{"too much", rewarded, CommandResult{End: EndExit, Reward: "1.01"}, nil, -1, 0, "a number from 0 to 1"},
		{"negative", rewarded, CommandResult{End: EndExit, Reward: "-0.1"}, nil, -1, 0, "a number from 0 to 1"},
		{"no number", rewarded, CommandResult{End: EndExit, Reward: "good"}, nil, -1, 0, "a number from 0 to 1"},
		{"no reward", rewarded, CommandResult{End: EndExit, RewardFault: "out/reward.txt is not there"}, nil, -1, 0, "ended well but left no reward"},
		{"no reward and an exit code", rewarded, CommandResult{End: EndExit, Code: 2, RewardFault: "gone"}, nil, 0, 0, "exit code 2, and left no reward"},
		{"blocked", rewarded, CommandResult{End: EndBlocked, RewardFault: "out cannot be read"}, nil, 0, 0, "in the way"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			by := Means{Command: func(context.Context, string, Command) (CommandResult, error) {
				recorded, err := json.Marshal(tt.result) // as a journal would
				must(t, err)
				var r CommandResult
				must(t, json.Unmarshal(recorded, &r))
				return r, tt.err
			}}
			got, err := suite(t, tt.check, Options{}).Assess(t.Context(), Evidence{Dir: t.TempDir()}, task.Task{}, by)
			if tt.hard < 0 {
				if err == nil || !strings.Contains(err.Error(), tt.want) || got.Components != nil {
					t.Errorf("got %+v, %v", got, err)
				}
				return
			}
			if err != nil || got.Hard != tt.hard || got.Soft != tt.soft || !strings.Contains(got.Reason, tt.want) || (tt.want == "") != (got.Reason == "") {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestCommandsAreNamed(t *testing.T) {
	t.Parallel()
	var ids []string
	var got []Command
	by := Means{Command: func(_ context.Context, id string, c Command) (CommandResult, error) {
		ids, got = append(ids, id), append(got, c)
		return CommandResult{End: EndExit, Code: 1, Stdout: strings.Repeat("x", 5000) + "FAIL: TestA\n", Stderr: "panic\n"}, nil
	}}
	s := assess(t, `
- {type: equals, value: x, required: false}
- {type: command, argv: [go, test, 3], timeout: 5m, network: true, reward: r.txt}
- any:
    - {type: command, run: a}
    - all: [{type: not-file-exists, path: x}, {type: command, run: b}]`, Evidence{Dir: t.TempDir()}, task.Task{}, by)
	if d := cmp.Diff([]string{"check2", "check3/1", "check3/2/2"}, ids); d != "" {
		t.Error(d)
	}
	want := []Command{
		{Argv: []string{"go", "test", "3"}, Timeout: 5 * time.Minute, Network: true, Reward: "r.txt"},
		{Argv: []string{"sh", "-c", "a"}, Timeout: time.Minute},
		{Argv: []string{"sh", "-c", "b"}, Timeout: time.Minute},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if !strings.Contains(s.Feedback, "FAIL: TestA") || !strings.Contains(s.Feedback, "errors: panic") || strings.Contains(s.Feedback, strings.Repeat("x", 1100)) {
		t.Errorf("the feedback is %q", s.Feedback)
	}
	if strings.Contains(s.Components[1].Reason, "\n") {
		t.Errorf("a reason of several lines: %q", s.Components[1].Reason)
	}
}

// TestChecksRunInOrder: a file that a command makes can be looked at after it,
// and is no change of the agent's.
func TestChecksRunInOrder(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"main.c": "int main;"})
	before, err := Snapshot(dir)
	must(t, err)
	by := Means{Command: func(context.Context, string, Command) (CommandResult, error) {
		return CommandResult{End: EndExit}, os.WriteFile(filepath.Join(dir, "out"), []byte("built"), 0o600)
	}}
	got := assess(t, `
- {type: not-file-exists, path: out}
- {type: command, run: make}
- {type: file-equals, path: out, value: built}
- {type: diff, max_files: 0}`, Evidence{Dir: dir, Before: before}, task.Task{}, by)
	if got.Hard != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestCarry(t *testing.T) {
	t.Parallel()
	write := func(text string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(text), 0o600) }
	}
	elsewhere := t.TempDir()
	tests := []struct {
		name  string
		agent func(path string) error // what the agent leaves where the reward belongs
		run   func(path string) error
		want  CommandResult
	}{
		{"written", nil, write("0.5"), CommandResult{End: EndExit, Reward: "0.5"}},
		{"planted", write("1.0"), nil, CommandResult{End: EndExit, RewardFault: "reward is not there"}},
		{"planted as a folder", func(p string) error { return os.MkdirAll(filepath.Join(p, "x"), 0o700) }, write("0"), CommandResult{End: EndExit, Reward: "0"}},
		{"planted as a link", func(p string) error { return os.Symlink(filepath.Join(elsewhere, "r"), p) }, write("0"), CommandResult{End: EndExit, Reward: "0"}},
		{"empty", nil, write(" \n"), CommandResult{End: EndExit, RewardFault: "reward is empty"}},
		{"too long", nil, write(strings.Repeat("1", 2000)), CommandResult{End: EndExit, RewardFault: "reward has 2000 bytes, a number has at most 1024"}},
		{"link out", nil, func(p string) error { return os.Symlink("/etc/hostname", p) }, CommandResult{End: EndExit, RewardFault: "reward cannot be read: path escapes from parent"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "reward")
			if tt.agent != nil {
				must(t, tt.agent(path))
			}
			got, err := Carry(t.Context(), dir, Command{Reward: "reward"}, func(context.Context, Command) (CommandResult, error) {
				if tt.run != nil {
					return CommandResult{End: EndExit}, tt.run(path)
				}
				return CommandResult{End: EndExit}, nil
			})
			must(t, err)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
	if entries, err := os.ReadDir(elsewhere); err != nil || len(entries) != 0 {
		t.Errorf("the link was followed: %v, %v", entries, err)
	}
}

func TestCarryBlocked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.Symlink(t.TempDir(), filepath.Join(dir, "out")))
	got, err := Carry(t.Context(), dir, Command{Reward: "out/reward"}, func(context.Context, Command) (CommandResult, error) {
		t.Error("it was run")
		return CommandResult{}, nil
	})
	if err != nil || got.End != EndBlocked || got.RewardFault == "" {
		t.Errorf("got %+v, %v", got, err)
	}
	failed := errors.New("no sandbox")
	for _, c := range []Command{{}, {Reward: "r"}} {
		_, err := Carry(t.Context(), dir, c, func(context.Context, Command) (CommandResult, error) { return CommandResult{}, failed })
		if !errors.Is(err, failed) {
			t.Errorf("got %v", err)
		}
	}
	if _, err := Carry(t.Context(), filepath.Join(dir, "none"), Command{Reward: "r"}, nil); err == nil {
		t.Error("a workspace that is not there: no error")
	}
}

func FuzzReward(f *testing.F) {
	for _, seed := range []string{"0.5", "1", "NaN", "-0", "1e-9", "0x1p-2", "1_0", "", " 1 "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := Command{Reward: "r", Timeout: time.Second}
		v, err := c.verdict(CommandResult{End: EndExit, Reward: text}, 1)
		if err == nil && !(v.score >= 0 && v.score <= 1) {
			t.Errorf("%q scores %v", text, v.score)
		}
		if err != nil && slices.Contains([]string{"0", "1"}, text) {
			t.Errorf("%q: %v", text, err)
		}
	})
}
