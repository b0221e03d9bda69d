package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
)

// hostileText would steer a terminal.
const hostileText = "x\x1b[2J\x1b]0;title\x07\u202e\r\nnot a line of its own\u009b31m"

// progressOf is a look at a run in which everything is there, with hostile texts.
func progressOf(now time.Time) record.Progress {
	n, usd, silent := int64(1000), 1.25, 75.0
	of := result.NewRunScore(0.5, "hard", 40, 40, "selection", score.Unanswered{})
	return record.Progress{
		RunDir: "/r", RunID: "id", At: now, Kind: result.Train, Status: result.Running, Begun: now, Reason: hostileText, Simulated: true, Epoch: 2, Step: 7,
		Plan:     &run.Plan{Steps: 12},
		Work:     []record.Work{{Place: record.Place{Step: 7, Epoch: 2, At: "gate/cand" + hostileText}, Stage: "rollout", Answered: 41, Of: 80}},
		Spending: record.Spending{Calls: 512, LastMinute: 118, Failed: map[string]int64{"rate_limit": 3}, USD: &usd},
		Ceilings: record.Ceilings{Calls: &n, Tokens: &n, USD: &usd, Time: "2h"},
		Current:  &record.Standing{RunScore: of, Origin: "seed"}, Best: &record.Standing{RunScore: of, Origin: "step 3"},
		Decisions: []record.Decided{{Step: 6, Epoch: 2, Action: hostileText}, {Step: 6, Epoch: 2, End: true, Action: "reject"}},
		Faults:    []record.Faulted{{Seq: 9, Ended: &now, Place: record.Place{At: "gate/cand", Task: hostileText}, Code: "rate_limit"}},
		Pulse:     record.Pulse{Entries: 520, LastEntry: &now, SilentS: &silent},
	}
}

// A frame fits into terminals of any width and height, and what models and tasks say moves
// no cursor.
func TestWatchFrames(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{200, 50}, {80, 24}, {40, 16}, {24, 5}, {1, 1}} {
		var out bytes.Buffer
		v := &watchScreen{watchText: watchText{path: "runs/" + hostileText}, w: &out, size: func() (int, int) { return size[0], size[1] }}
		if err := v.look(progressOf(time.Now())); err != nil {
			t.Fatal(err)
		}
		frame, _ := strings.CutPrefix(out.String(), enterScreen+toTop)
		frame = strings.TrimSuffix(frame, clearBelow)
		lines := strings.Split(strings.TrimSuffix(frame, clearLine+"\r\n"), clearLine+"\r\n")
		if size[1] > 5 && len(lines) > size[1]-1 {
			t.Errorf("%v: %d lines", size, len(lines))
		}
		for _, line := range lines {
			if strings.ContainsFunc(line, wording.Steers) {
				t.Errorf("%v: %q steers the terminal", size, line)
			}
			// A word that is longer than a line is cut by the terminal.
			if size[0] >= 40 && utf8.RuneCountInString(line) >= size[0] && strings.Contains(strings.TrimSpace(line[labelWidth:]), " ") && !strings.Contains(line, `\u`) {
				t.Errorf("%v: %q is %d long", size, line, utf8.RuneCountInString(line))
			}
		}
	}
}

// watchApp is an app whose output a test reads.
func watchApp(t *testing.T, live bool) (*app, *bytes.Buffer) {
	t.Helper()
	out := &bytes.Buffer{}
	return &app{Streams: Streams{
		Out: onScreen(out), Err: onScreen(out), Dir: t.TempDir(), Shown: live, Terminal: live, Width: 80, Size: func() (int, int) { return 80, 24 },
	}}, out
}

// begin begins a run in a folder of the app.
func begin(t *testing.T, a *app) *run.Run {
	t.Helper()
	r, err := run.Open(t.Context(), run.OpenOptions{
		Dir: filepath.Join(a.Dir, "x"), Name: "x", Kind: result.Train, Version: "test", Now: time.Now, Identity: map[string]string{"train.batch_size": "4"},
		Compare: func(_, _ map[string]string) []string { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Watching ends when the run ends, and leaves what it has shown last behind.
func TestWatchEndsWithTheRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, out := watchApp(t, true)
		r := begin(t, a)
		done := make(chan error)
		go func() { done <- (&runsWatchOptions{}).run(t.Context(), a, "x") }()
		time.Sleep(3500 * time.Millisecond)
		select {
		case err := <-done:
			t.Fatalf("it ended while the run works: %v", err)
		default:
		}
		if err := errors.Join(r.SetStatus(result.OverBudget), r.Close()); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if strings.Count(text, toTop) != 4 || !strings.Contains(text, leaveScreen+"run       x\r\nstatus    budget: at a ceiling") {
			t.Errorf("%d frames: %q", strings.Count(text, toTop), text)
		}
	})
}

// An interrupt ends watching, not the run; a dumb terminal gets lines.
func TestWatchIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, out := watchApp(t, true)
		signals := make(chan os.Signal)
		a.Signals = signals
		r := begin(t, a)
		defer func() { _ = r.Close() }()
		done := make(chan error)
		go func() { done <- (&runsWatchOptions{}).run(t.Context(), a, "x") }()
		signals <- os.Interrupt
		if err := <-done; err != nil || !strings.Contains(out.String(), "the run continues") {
			t.Errorf("%v, %q", err, out.String())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		a, out := watchApp(t, true)
		a.Dumb = true
		r := begin(t, a)
		done := make(chan error)
		go func() { done <- (&runsWatchOptions{}).run(t.Context(), a, "x") }()
		time.Sleep(25 * time.Second)
		if err := errors.Join(r.SetStatus(result.Completed), r.Close()); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil || strings.Contains(out.String(), "\x1b") || strings.Count(out.String(), "  running  ") != 3 || !strings.Contains(out.String(), "status    completed") {
			t.Errorf("%v: %q", err, out.String())
		}
	})
}

// With --json each look is a document on a line of its own.
func TestWatchPrintsDocuments(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, out := watchApp(t, false)
		a.json = true
		r := begin(t, a)
		done := make(chan error)
		go func() { done <- (&runsWatchOptions{}).run(t.Context(), a, "x") }()
		time.Sleep(15 * time.Second)
		if err := errors.Join(r.SetStatus(result.Completed), r.Close()); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		var last record.Progress
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || len(lines) != 3 || last.Status != result.Completed {
			t.Errorf("%d lines, %v: %s", len(lines), err, out)
		}
	})
}

// A run that is deleted while it is watched ends watching with an error that says so.
func TestWatchARunThatIsDeleted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, out := watchApp(t, true)
		r := begin(t, a)
		done := make(chan error)
		go func() { done <- (&runsWatchOptions{}).run(t.Context(), a, "x") }()
		time.Sleep(1500 * time.Millisecond)
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := run.Trash(r.Dir, time.Now()); err != nil {
			t.Fatal(err)
		}
		err := <-done
		if err == nil || !strings.Contains(err.Error(), "run x is gone: it was deleted or moved") || exitCode(err) != exitInput || !strings.Contains(out.String(), leaveScreen) {
			t.Errorf("%v: %q", err, out.String())
		}
	})
}
