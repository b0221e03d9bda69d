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

func TestTold(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`test "$GOLD" = x`: true, `${GOLD:-x}`: true, `"${TASK}"`: true, `sh $CONFIG_DIR/a.sh`: true, `os.environ["GOLD"]`: true, `process.env.GOLD`: true,
		`ENV['TASK']`: true, `getenv("CONFIG_DIR")`: true, `go test ./...`: false, `$GOLDEN`: false, `MY_TASK=1 ./x`: false, `gold task`: false, "": false,
	} {
		if got := Told(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestLint holds commands against what a warning about them says.
func TestLint(t *testing.T) {
	t.Parallel()
	const told, fails = "told the gold answers", "nothing of the workspace can be executed"
	script := func(run string) []string { return []string{"sh", "-c", run} }
	tests := []struct {
		argv    []string
		scripts []string
		want    []string // a part of each warning
	}{
		{argv: script(`test "$(cat answer.txt)" = "$GOLD"`)},
		{argv: script(`grep -qxF "$GOLD" out/a.txt && ! diff -r "$CONFIG_DIR/want" out # make`)},
		{argv: script(`python3 "$CONFIG_DIR/grade.py" answer.txt | tee log`)},
		{argv: script(`python3 -c 'import json,os; json.load(open("out.json"))' out.json; test "$GOLD"`)},
		{argv: script(`python3 -m json.tool out.json >/dev/null && test "$GOLD"`)},
		{argv: script(`jq -e '.a == env.GOLD' out.json`)},
		{argv: script(`perl -ne 'print if /$ENV{GOLD}/' out.txt`)},
		{argv: script(`awk -v "g=$GOLD" '$1 == g' answer.txt`)},
		{argv: script(`if test -f a; then /usr/bin/python3 -I "$CONFIG_DIR/g.py" a; fi`)},
		{argv: script(`node -e 'require("fs"); require("node:os"); process.env.GOLD'`)},
		{argv: []string{"python3", "/srv/grade.py", "GOLD"}},
		{argv: script(`test "$(./solve <in.txt)" = "$GOLD"`), want: []string{"./solve, but"}},
		{argv: script(`x=1 timeout 5 ./solve | grep -q "$GOLD"`), want: []string{fails}},
		{argv: script(`"$WORKSPACE/bin/solve" "$GOLD"`), want: []string{fails}},
		{argv: []string{"./solve", "TASK"}, want: []string{fails}},
		{argv: script(`python3 solve.py "$GOLD"`), want: []string{"python3 is given solve.py"}},
		{argv: script(`python3.12 -u -W ignore $WORKSPACE/solve.py; echo $GOLD`), want: []string{"$WORKSPACE/solve.py"}},
		{argv: script(`python3 < solve.py; echo $GOLD`), want: []string{"solve.py"}},
		{argv: script(`python3 -m pytest -q; echo $GOLD`), want: []string{"-m pytest"}},
		{argv: script(`bash -e run.sh; . ./env.sh; sh -c "ruby x.rb"; echo $GOLD`), want: []string{"./env.sh into the shell", "bash is given run.sh", "ruby is given x.rb"}},
		{argv: script(`make -s && pytest -q tests && go test ./... && echo $TASK`), want: []string{"go follows", "make follows", "pytest follows"}},
		{argv: script(`cd out && git diff --quiet && npm test && echo $GOLD`), want: []string{"git follows", "npm follows"}},
		{argv: script(`tar cf - * | sha256sum | grep "$GOLD"; tar cf - ./* -- .`), want: []string{"write ./*"}},
		{argv: script(`python3 "$CONFIG_DIR/g.py"`), scripts: []string{"import pickle, os\nos.environ['GOLD'] == pickle.load(open('x'))"}, want: []string{"pickle.load("}},
		{argv: script(`node -r ./hook.js "$CONFIG_DIR/g.js"`), want: []string{"./hook.js"}},
		{argv: script(`node -e 'require("left-pad"); process.env.GOLD'`), want: []string{`require(\"left-pad\"`}},
		{argv: script(`sh "$OUTPUT/stdout" "$GOLD"`), want: []string{"$OUTPUT/stdout"}},
		{argv: []string{"python3", "-c", `import sys,os; sys.path.insert(0, "."); import solve; os.environ["GOLD"]`}, want: []string{"sys.path.insert"}},
		{
			argv: script(`python3 "$CONFIG_DIR/g.py"`), scripts: []string{"import subprocess, sys\nsubprocess.run([sys.executable, 'solve.py'])\nsubprocess.run(['python3', 'solve.py'])\nsubprocess.run(['python3', '-V'])"},
			want: []string{"sys.executable, 's", "'python3', 's"},
		},
		{argv: script(`sh "$CONFIG_DIR/g.sh"`), scripts: []string{"#!/bin/sh\ncd x\n./solve | grep \"$GOLD\"\n"}, want: []string{fails}},
	}
	for _, tt := range tests {
		c := Command{Argv: tt.argv}
		got := c.Lint(true, tt.scripts)
		slices.Sort(tt.want)
		for _, w := range tt.want {
			if !slices.ContainsFunc(got, func(g string) bool { return strings.Contains(g, w) }) {
				t.Errorf("%q: no warning has %q: %q", tt.argv, w, got)
			}
		}
		if len(got) != len(tt.want) {
			t.Errorf("%q: %d warnings, want %d: %q", tt.argv, len(got), len(tt.want), got)
		}
	}
	if got := (&Command{Argv: script("go test ./... && ./solve")}).Lint(false, nil); got != nil {
		t.Errorf("untrusted: %q", got)
	}
	if got := (&Command{Argv: script("sh /c/run.sh")}).Lint(false, []string{`. "$(dirname "$0")/lib.sh"`}); len(got) != 1 || !strings.Contains(got[0], "dirname") {
		t.Errorf("looks beside itself: %q", got)
	}
	ran := &Execution{Argv: []string{"./solve"}}
	if got := (&Command{Argv: script("test -f x"), Execute: ran}).Lint(true, nil); len(got) != 1 || !strings.Contains(got[0], "never looks into $OUTPUT") {
		t.Errorf("never looked at: %q", got)
	}
	for _, c := range []Command{{Argv: script(`grep x "$OUTPUT/stdout"`), Execute: ran}, {Argv: script(`$CONFIG_DIR/g.sh`), Execute: ran}} {
		if got := c.Lint(true, []string{"#!/bin/sh\ncat $OUTPUT/end"}); got != nil {
			t.Errorf("%q: %q", c.Argv, got)
		}
	}
}

func FuzzLint(f *testing.F) {
	for _, seed := range []string{`a "$(b "c$(d)e")" 'f' # g`, "`x`; {y;}", `"`, `'`, `$(`, `)`, `\`, "<<E\nx\nE"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, script string) {
		c := Command{Argv: []string{"sh", "-c", script}}
		c.Lint(true, []string{script})
	})
}

func TestExecuteIsRead(t *testing.T) {
	t.Parallel()
	var got []Command
	by := Means{Command: func(_ context.Context, _ string, c Command) (CommandResult, error) {
		got = append(got, c)
		return CommandResult{End: EndExit, Execute: &CommandResult{End: EndExit}}, nil
	}}
	assess(t, `
- {type: command, run: 'test "$(cat $OUTPUT/code)" = 0', execute: {argv: [./solve, 3], timeout: 90}}
- {type: command, run: x, execute: {run: make}}`, Evidence{Dir: t.TempDir()}, task.Task{}, by)
	want := []Command{
		{Argv: []string{"sh", "-c", `test "$(cat $OUTPUT/code)" = 0`}, Timeout: time.Minute, Execute: &Execution{Argv: []string{"./solve", "3"}, Timeout: 90 * time.Second}},
		{Argv: []string{"sh", "-c", "x"}, Timeout: time.Minute, Execute: &Execution{Argv: []string{"sh", "-c", "make"}, Timeout: time.Minute}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for execute, fault := range map[string]string{
		`make`:                               "checks.execute: an object with argv or run expected, found the text \"make\"",
		`{}`:                                 "execute.argv: exactly one of argv",
		`{run: x, argv: [y]}`:                "execute.argv: exactly one of argv",
		`{run: x, timeout: -1}`:              "execute.timeout: -1s is out of range",
		`{run: x, network: true}`:            `execute: unknown key "network"; execute takes argv, run, timeout`,
		`{run: 'test "$GOLD" = x'}`:          "execute: $GOLD is not there for what may be the agent's program",
		`{argv: [sh, "${CONFIG_DIR}/x.sh"]}`: "execute: $CONFIG_DIR is not there",
	} {
		_, err := Compile(fromYAML(t, "[{type: command, run: x, execute: "+execute+"}]"), Options{})
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "[0]", ""), fault) {
			t.Errorf("%s: %v", execute, err)
		}
	}
}

// TestExecuteDecides holds results of an execute against what they score.
func TestExecuteDecides(t *testing.T) {
	t.Parallel()
	ran := func(r CommandResult) CommandResult { return CommandResult{End: EndExit, Execute: &r} }
	const plain, fails = "{type: command, run: x, execute: {run: y}}", "{type: command, run: x, on_missing: fail, execute: {run: y}}"
	for name, tt := range map[string]struct {
		check  string
		result CommandResult
		hard   float64 // -1: not measured
		want   string
	}{
		"judged well":            {plain, ran(CommandResult{End: EndExit, Code: 3}), 1, ""},
		"deadline, judged well":  {plain, ran(CommandResult{End: EndDeadline, Code: -1, Signal: "SIGKILL"}), 1, ""},
		"flood, judged well":     {plain, ran(CommandResult{End: EndFlood, Code: -1, Signal: "SIGTERM"}), 1, ""},
		"killed":                 {plain, ran(CommandResult{End: EndExit, Code: 137}), -1, "execute was ended by SIGKILL"},
		"missing":                {plain, ran(CommandResult{End: EndExit, Code: 127}), -1, "execute: the command ended with exit code 127"},
		"missing, a fault":       {fails, ran(CommandResult{End: EndExit, Code: 126}), 0, "a program cannot be run"},
		"not run":                {plain, CommandResult{End: EndExit}, -1, "execute was not run"},
		"no end":                 {plain, ran(CommandResult{}), -1, "means nothing"},
		"a program of the judge": {fails, CommandResult{End: EndExit, Code: 127, Execute: &CommandResult{End: EndExit}}, -1, "a program was not found, which measures nothing; install it"},
	} {
		by := Means{Command: func(context.Context, string, Command) (CommandResult, error) {
			recorded, err := json.Marshal(tt.result)
			must(t, err)
			var r CommandResult
			must(t, json.Unmarshal(recorded, &r))
			return r, nil
		}}
		got, err := suite(t, tt.check, Options{}).Assess(t.Context(), Evidence{Dir: t.TempDir()}, task.Task{}, by)
		if tt.hard < 0 {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
			continue
		}
		if err != nil || got.Hard != tt.hard || !strings.Contains(got.Reason, tt.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestCarryExecute: it runs first, as an untrusted command, and what it came to is
// handed on, unless there is nothing to judge.
func TestCarryExecute(t *testing.T) {
	t.Parallel()
	c := Command{Argv: []string{"judge"}, Timeout: time.Minute, MissingFails: true, Execute: &Execution{Argv: []string{"./solve"}, Timeout: time.Second}}
	broken := errors.New("no sandbox")
	for name, tt := range map[string]struct {
		first CommandResult
		err   error
		runs  int
		want  CommandResult
	}{
		"judged":  {CommandResult{End: EndDeadline, Code: -1, Stdout: "l", Head: []byte("all"), Cut: true}, nil, 2, CommandResult{End: EndExit, Code: 5, Execute: &CommandResult{End: EndDeadline, Code: -1, Stdout: "l"}}},
		"missing": {CommandResult{End: EndExit, Code: 127}, nil, 1, CommandResult{Execute: &CommandResult{End: EndExit, Code: 127}}},
		"broken":  {CommandResult{}, broken, 1, CommandResult{}},
	} {
		dir := folder(t, map[string]string{"solve": "x"})
		must(t, os.Chmod(filepath.Join(dir, "solve"), 0o700))
		var ran []Command
		got, err := Carry(t.Context(), dir, c, func(_ context.Context, c Command) (CommandResult, error) {
			if ran = append(ran, c); len(ran) == 1 {
				return tt.first, tt.err
			}
			return CommandResult{End: EndExit, Code: 5}, nil
		})
		if d := cmp.Diff(tt.want, got); d != "" || !errors.Is(err, tt.err) || len(ran) != tt.runs {
			t.Errorf("%s: %s %v, %d runs", name, d, err, len(ran))
		}
		if d := cmp.Diff(Command{Argv: []string{"./solve"}, Timeout: time.Second, MissingFails: true, Untrusted: true}, ran[0]); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if tt.runs == 2 && (ran[1].Executed == nil || string(ran[1].Executed.Head) != "all" || ran[1].MissingFails) {
			t.Errorf("%s: the judge is %+v", name, ran[1])
		}
	}
}

// TestRecordedCommands: what is recorded of a command without execute is as it
// was before there was one, so that records stay good.
func TestRecordedCommands(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]any{
		`{"argv":["sh","-c","x"],"timeout":60000000000}`: Command{Argv: []string{"sh", "-c", "x"}, Timeout: time.Minute, Untrusted: true, Executed: &CommandResult{}},
		`{"argv":["a"],"timeout":1,"network":true,"reward":"r","late_fails":true,"missing_fails":true}`: Command{
			Argv: []string{"a"}, Timeout: 1, Network: true, Reward: "r", LateFails: true, MissingFails: true,
		},
		`{"argv":["a"],"timeout":1,"execute":{"argv":["b"],"timeout":2}}`: Command{Argv: []string{"a"}, Timeout: 1, Execute: &Execution{Argv: []string{"b"}, Timeout: 2}},
		`{"end":"exit","code":1,"stdout":"o"}`:                            CommandResult{End: EndExit, Code: 1, Stdout: "o", Head: []byte("x"), Cut: true},
	} {
		got, err := json.Marshal(c)
		must(t, err)
		if string(got) != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
