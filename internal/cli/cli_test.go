package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
)

func TestExitCodes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("anything"), 1},
		{usagef("wrong"), 2},
		{&config.Error{}, 2},
		{fmt.Errorf("load: %w", &task.Error{}), 2},
		{context.Canceled, 130},
		{fs.ErrPermission, 7},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.ENOTDIR}, 7},
		{fmt.Errorf("print: %w", syscall.ENOSPC), 7},
		{&shownError{usagef("wrong")}, 2},
	}
	for kind, want := range map[skillopt.ErrorKind]int{
		skillopt.BadInput: 2, skillopt.OverBudget: 4, skillopt.Unmeasurable: 5, skillopt.Locked: 6, skillopt.Environment: 7,
		skillopt.Stopped: 130, skillopt.Internal: 1,
	} {
		tests = append(tests, struct {
			err  error
			want int
		}{fmt.Errorf("train: %w", &skillopt.Error{Kind: kind, Err: usagef("inner")}), want})
	}
	for _, tc := range tests {
		if got := exitCode(tc.err); got != tc.want {
			t.Errorf("exitCode(%v) = %d, want %d", tc.err, got, tc.want)
		}
	}
}

func TestConfirmAsksOnATerminalOnly(t *testing.T) {
	t.Parallel()
	large := result.Plan{Total: 501, Stages: []result.StageCalls{{Stage: "rollout", Calls: 501}, {Stage: "merge"}}}
	tests := []struct {
		name     string
		plan     result.Plan
		terminal bool
		yes      bool
		answer   string
		asks     bool
		refuses  string
	}{
		{name: "yes", plan: large, terminal: true, answer: "y\n", asks: true},
		{name: "a word", plan: large, terminal: true, answer: " YES\n", asks: true},
		{name: "no", plan: large, terminal: true, answer: "n\n", asks: true, refuses: "not started"},
		{name: "return", plan: large, terminal: true, answer: "\n", asks: true, refuses: "not started"},
		{name: "end of input", plan: large, terminal: true, asks: true, refuses: "--yes continues without asking"},
		{name: "--yes", plan: large, terminal: true, yes: true},
		{name: "no terminal", plan: large},
		{name: "few calls", plan: result.Plan{Total: 500}, terminal: true},
		{name: "simulated", plan: result.Plan{Total: 501, Simulated: true}, terminal: true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			a := &app{Streams: Streams{In: strings.NewReader(tc.answer), Err: &out, Terminal: tc.terminal}}
			err := a.confirm(tc.yes)(tc.plan)
			if asked := strings.Contains(out.String(), "continue? [y/N]"); asked != tc.asks {
				t.Errorf("asked = %v\n%s", asked, &out)
			}
			if tc.refuses == "" && err != nil || tc.refuses != "" && (err == nil || !strings.Contains(err.Error(), tc.refuses)) {
				t.Errorf("error = %v, want %q", err, tc.refuses)
			}
			if !strings.HasPrefix(out.String(), fmt.Sprintf("at most %d model calls", tc.plan.Total)) || strings.Contains(out.String(), "merge") {
				t.Errorf("the bound is missing, or names a stage without calls:\n%s", &out)
			}
		})
	}
}

func TestThePlanIsBrokenBetweenWords(t *testing.T) {
	t.Parallel()
	var plan result.Plan
	for i := range 20 {
		plan.Stages = append(plan.Stages, result.StageCalls{Stage: fmt.Sprintf("a_stage_%d", i), Calls: 1000})
	}
	var out bytes.Buffer
	writeBound(printer{Writer: &out}, plan)
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for _, l := range lines[1:] {
		if len(l) > lineWidth || !strings.HasPrefix(l, "  a_stage_") || !strings.HasSuffix(l, " 1000") {
			t.Errorf("line %q", l)
		}
	}
	if len(lines) < 4 || strings.Count(out.String(), "a_stage_") != 20 {
		t.Errorf("%d lines:\n%s", len(lines), &out)
	}
}

// TestADamagedProjection: files for eyes can be broken by hand; the message says
// how to have them written anew.
func TestADamagedProjection(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"manifest.json": `{"format": 2, "kind": "train", "status": "completed"}`, "history.json": "{"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	code := Main(t.Context(), []string{"runs", "show", dir}, Streams{Out: &out, Err: &errs, Dir: dir}, "test")
	if code != exitInput || !strings.Contains(errs.String(), "history.json is damaged") || !strings.Contains(errs.String(), "resume the run to write it again") {
		t.Errorf("code %d: %s", code, &errs)
	}
}

// TestARunWithoutAStep is what `runs show` sees of a run that was killed early.
func TestARunWithoutAStep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(`{"format": 2, "kind": "train", "status": "running"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := Main(t.Context(), []string{"runs", "show", dir}, Streams{Out: &out, Err: &errs, Dir: dir}, "test"); code != exitOK {
		t.Fatalf("code %d: %s", code, &errs)
	}
	for _, want := range []string{"no step is done yet", "not ended yet; the same train command continues"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("want %q in\n%s", want, &out)
		}
	}
}

func TestAFileOfTasksIsNoConfig(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"- {id: a}\n": true, "# why\n---\n- id: a\n": true, "[{id: a}]\n": true, "tasks:\n  - {id: a}\n": true, "tasks:\n- id: a\n": true,
		"tasks:\n  path: a.csv\n": false, "tasks: a.csv\n": false, "skill: a\ntasks:\n- a\n": false, "": false,
	} {
		path := filepath.Join(t.TempDir(), "a.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := isList(path); got != want {
			t.Errorf("isList(%q) = %v", text, got)
		}
	}
}
