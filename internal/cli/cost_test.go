package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/result"
)

// What is not known is said, and by whom it was spent.
func TestCostsAndCacheHits(t *testing.T) {
	t.Parallel()
	usd := func(v float64) *float64 { return &v }
	for _, tt := range []struct {
		name string
		sum  result.Summary
		want string
	}{
		{"simulated", result.Summary{Simulated: true}, "no cost"},
		{"known", result.Summary{Usage: result.Usage{CostUSD: usd(1.25)}}, "$1.2500"},
		{"not known", result.Summary{Stages: []result.Stage{{Role: "target", Calls: 1}}}, "cost unknown"},
		{"known in part", result.Summary{Stages: []result.Stage{
			{Role: "target", Calls: 1, CostUSD: usd(0.5)}, {Role: "optimizer", Calls: 2}, {Role: "optimizer", Calls: 2},
		}}, "$0.5000 and what the optimizer cost"},
		{"hit rate", result.Summary{Usage: result.Usage{Tokens: result.Tokens{Input: 400, Cached: 300}}}, "400 input (75 % from the provider's cache)"},
	} {
		var out bytes.Buffer
		writeUsage(printer{Writer: &out}, &tt.sum)
		if !strings.Contains(out.String(), tt.want) {
			t.Errorf("%s: got %q, want %q in it", tt.name, out.String(), tt.want)
		}
	}
}
