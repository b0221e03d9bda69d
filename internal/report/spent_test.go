package report

import (
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/result"
)

// Tokens of calls that did not say what they used are marked, as in the terminal.
func TestSpentMarksUnknownUsage(t *testing.T) {
	t.Parallel()
	for unknown, want := range map[int64]string{0: "20 in, 3 out", 2: "~20 in, ~3 out"} {
		s := &result.Summary{Usage: result.Usage{Tokens: result.Tokens{Input: 20, Output: 3}, Unknown: &result.UnknownUsage{Calls: unknown}}}
		var got []string
		for _, f := range spendFacts(Of(&record.Training{Summary: s})) {
			got = append(got, f.Value)
		}
		if all := strings.Join(got, "|"); !strings.Contains(all, "|"+want+"|") {
			t.Errorf("%d unknown: %s, want %s", unknown, all, want)
		}
	}
}
