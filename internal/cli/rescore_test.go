package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/result"
)

// A decision that would be made in other words is not told as the one that was made.
func TestRescoredDecisionWords(t *testing.T) {
	t.Parallel()
	early, accept := "reject_early", "accept"
	var out bytes.Buffer
	printDecisions(printer{Writer: &out}, &result.Rescore{Decisions: []result.Rejudgement{
		{Where: "step 1", Then: "reject", Now: &early, NowReason: "x"},
		{Where: "step 2", Then: "reject_early", Now: &early, NowReason: "x"},
		{Where: "step 3", Then: "reject", Now: &accept, NowReason: "x", Changed: true},
	}})
	for _, want := range []string{"step 1  reject early, before reject: x", "step 2  reject early, as before: x", "step 3  accept, instead of reject: x"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
