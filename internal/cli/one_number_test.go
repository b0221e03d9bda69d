package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/result"
)

// What is not known of a run is marked wherever its figures are shown.
func TestWatchMarksUnknownUsage(t *testing.T) {
	t.Parallel()
	p := progressOf(time.Now())
	p.Simulated, p.Ceilings = false, record.Ceilings{}
	p.Tokens = result.Tokens{Input: 2000, Output: 30}
	usd := p.USD
	for _, tt := range []struct {
		unknown       int64
		usd           *float64
		tokens, money string
	}{
		{0, usd, "tokens    2000 in, 30 out", "money     $1.2500"},
		{2, usd, "tokens    ~2000 in, ~30 out; usage unknown for 2 calls", "money     ~$1.2500"},
		{1, nil, "tokens    ~2000 in, ~30 out; usage unknown for 1 call", "money     not known"},
	} {
		p.Unknown, p.USD = tt.unknown, tt.usd
		got := strings.Join(watchText{path: "r"}.frame(p, 120), "\n") + "\n"
		if !strings.Contains(got, tt.tokens+"\n") || !strings.Contains(got, tt.money+"\n") {
			t.Errorf("want %q and %q in\n%s", tt.tokens, tt.money, got)
		}
	}
}

// A run has one status, by one word, on every screen.
func TestWatchHasTheWordOfTheList(t *testing.T) {
	t.Parallel()
	for _, s := range []result.Status{result.Running, result.Completed, result.Stopped, result.OverBudget, result.Waiting, result.Failed, result.Undecided} {
		for _, killed := range []bool{false, true} {
			if got, want := statusWords(record.Progress{Status: s, Killed: killed}), statusText(string(s), killed); !strings.HasPrefix(got, want) {
				t.Errorf("watch says %q, the list %q", got, want)
			}
		}
	}
}

// The score of a run is one number, of the same answers, in every window, whatever its kind.
func TestEveryWindowHasTheSameScore(t *testing.T) {
	t.Parallel()
	w := newWindows(t)
	makeRuns(w)
	w.look()
	scored := 0
	for _, row := range w.rows {
		w.compareDocuments(row)
		w.compareTexts(row)
		w.compareFailures(row)
		if row.Score == nil {
			continue
		}
		scored++
		if refuses := !strings.HasPrefix(row.Name, "unmeasured"); (row.NumRefused() > 0) != refuses {
			t.Errorf("%s: refusals in %+v: want %v", row.Name, row.RunScore, refuses)
		}
	}
	w.compareNumbers()
	if len(w.rows) != 17 || scored < 16 {
		t.Errorf("%d runs, %d of them with a score:\n%s", len(w.rows), scored, w.table)
	}
}

// Rescoring shows the score that a run has, and the one by other checks. It changes no window.
func TestRescoringChangesNoWindow(t *testing.T) {
	t.Parallel()
	w := newWindows(t)
	w.train("test")
	w.look()
	before, failing := w.rows[0].RunScore, w.text("runs", "tasks", "runs/test", "--failing")
	var r result.Rescore
	decode(t, w.text("rescore", "runs/test", "--config", ".", "--test", "--json", "--set", laxChecks), &r)
	w.look()
	if diff := cmp.Diff(before, w.rows[0].RunScore); diff != "" {
		t.Error("the score of the run: ", diff)
	}
	if diff := cmp.Diff(failing, w.text("runs", "tasks", "runs/test", "--failing")); diff != "" {
		t.Error("what fails: ", diff)
	}
	w.compareDocuments(w.rows[0])
	w.compareTexts(w.rows[0])
	w.compareFailures(w.rows[0])
	for _, s := range r.Sheets {
		if s.Split != before.Split {
			continue
		}
		if got := s.Before; got == nil || got.Hard != *before.Score || got.N != before.N || s.After.Hard <= got.Hard {
			t.Errorf("%s: before %+v, after %+v; the run has %v on %d", s.Where, got, s.After, *before.Score, before.N)
		}
	}
}
