package cli

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/result"
)

// A narrow terminal breaks no word of the summary; elsewhere a line stays whole.
func TestTheSummaryIsFoldedToTheTerminal(t *testing.T) {
	t.Parallel()
	sum := &result.Summary{Status: "completed", Simulated: true, RunDir: t.TempDir()}
	sum.Best.Selection = &result.Score{Hard: 0.975, Low: 0.913, High: 0.993, Soft: 0.975, N: 80}
	sum.Calls.Faults = map[string]int64{"network": 6, "rate_limit": 7, "server": 6, "truncated": 7}
	for _, width := range []int{0, 60} {
		var out bytes.Buffer
		a := &app{Streams: Streams{Out: &out, Terminal: width > 0, Width: width}}
		if err := writeSummary(a.printer(&out), sum); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		for _, line := range lines {
			if width > 0 && utf8.RuneCountInString(line) >= width {
				t.Errorf("wider than the terminal: %q", line)
			}
		}
		if words := strings.Fields(out.String()); width > 0 == (len(lines) == 7) || words[len(words)-1] != "simulation" {
			t.Errorf("%d columns: %d lines:\n%s", width, len(lines), out.String())
		}
	}
}
