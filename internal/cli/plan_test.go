package cli

import (
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/result"
)

// How often candidates survive says nothing of what has no gate.
func TestBasisOfAForecast(t *testing.T) {
	t.Parallel()
	f := &result.Forecast{Learned: &result.Learned{Runs: []string{"a"}, Judged: 6, Survived: 3}}
	if got := basis(result.Plan{Forecast: f}); strings.Contains(got, "survive") {
		t.Errorf("without a gate: %s", got)
	}
	if got := basis(result.Plan{Forecast: f, Selection: 20}); !strings.Contains(got, "how often candidates survive (3 of 6)") {
		t.Errorf("with a gate: %s", got)
	}
}
