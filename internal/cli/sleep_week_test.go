package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

// A year of adoptions stays one screen, and texts that would steer a terminal are shown as what they are.
func TestWeekOnAScreen(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 25, 20, 0, 0, 0, time.UTC)
	const bad = "x\x1b[31m\u202e\x00\ny"
	w := &result.Week{Days: 7, Nights: []result.WeekNight{{Night: "20261125-200000" + bad, Project: "/srv/shop" + bad, Started: at, Targets: []result.WeekTarget{{Target: bad, Outcome: result.NightSupported, Proposal: result.ProposedWaits}}}}}
	w.Nights = append(w.Nights, result.WeekNight{Project: "/srv/site", Started: at, Ended: &at})
	for n := range 365 {
		w.Adoptions = append(w.Adoptions, result.WeekAdoption{Number: 365 - n, Kind: "adopted", Project: "/srv/shop" + bad, At: at, Target: bad, Claim: bad, Since: &result.NightAdopted{Reason: bad}})
	}
	w.Next = []result.WeekStep{{Why: bad, Command: "skillopt sleep rollback 3" + bad}}
	w.Problems = []string{bad}
	var out bytes.Buffer
	a := &app{Streams: Streams{Out: &out, Err: &out, Width: 120}}
	printWeek(a.stdoutPrinter(), w)
	text := out.String()
	if n := strings.Count(text, "\n"); n > 60 {
		t.Errorf("%d lines", n)
	}
	if at := strings.IndexFunc(text, wording.Steers); at >= 0 {
		t.Errorf("%q steers a terminal", text[max(0, at-20):at+1])
	}
	for _, want := range []string{"nights of the last 7 days: 2", "and 355 older; skillopt sleep rollback lists them", "next: skillopt sleep rollback 3", "no document was worked on", "(not over)"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not said:\n%s", want, text)
		}
	}
}
