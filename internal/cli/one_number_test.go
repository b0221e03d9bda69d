package cli

import (
	"strings"
	"testing"
	"time"

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
