package cli

import (
	"fmt"

	"github.com/seed-f4525e22/skillopt/result"
)

// printBundle says what the last confirmation of a night found.
func printBundle(out printer, b *result.NightJoint) {
	if b == nil {
		return
	}
	out.line("")
	out.line(fmt.Sprintf("all %d documents: %s", len(b.Targets), b.Verdict))
	out.line("  " + oneLine(b.Reason))
	if b.Difference != nil {
		text := fmt.Sprintf("  fresh answers: won %d, lost %d, %d alike of %d; difference %+.3f", b.Wins, b.Losses, b.Ties, b.N, *b.Difference)
		if b.Low != nil && b.High != nil {
			text += fmt.Sprintf(", %+.3f to %+.3f (%.0f %%)", *b.Low, *b.High, 100*b.Level)
		}
		out.line(text)
	}
	for _, l := range b.Lost {
		out.line(fmt.Sprintf("  %s: %s; asked afresh, %s pass with the live documents, %s with the staged ones", oneLine(l.ID), l.State, l.Current, l.Candidate))
	}
}
