package week_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/week"
	"github.com/seed-f4525e22/skillopt/result"
)

var now = time.Date(2026, 11, 26, 8, 0, 0, 0, time.UTC)

func opened(t *testing.T) *bank.Bank {
	t.Helper()
	b, err := bank.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func put(t *testing.T, b *bank.Bank, project string, daysAgo int, over bool, change func(*result.Night)) string {
	t.Helper()
	at := now.AddDate(0, 0, -daysAgo).Add(-5 * time.Hour)
	r := result.Night{ID: fmt.Sprintf("%s-%s", at.Format("20060102-150405"), project[1:]), Project: project, Started: at}
	if change != nil {
		change(&r)
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	row := bank.Night{ID: r.ID, Project: project, Started: at, Data: data}
	if over {
		row.Ended = at.Add(time.Hour)
	}
	if err := b.PutNight(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	return r.ID
}

func of(t *testing.T, b *bank.Bank, in week.Inputs) *result.Week {
	t.Helper()
	in.Bank, in.Dir, in.Now = b, t.TempDir(), now
	if in.Days == 0 {
		in.Days = 7
	}
	w, err := week.Of(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Nights of the days are there, the newest first; of older ones what waits still; of other projects nothing.
func TestWeekHasTheNightsOfItsDays(t *testing.T) {
	t.Parallel()
	b := opened(t)
	open := put(t, b, "/shop", 30, false, nil)
	put(t, b, "/shop", 8, true, nil)
	second := put(t, b, "/shop", 6, true, nil)
	first := put(t, b, "/shop", 0, true, nil)
	put(t, b, "/site", 1, true, nil)
	w := of(t, b, week.Inputs{Project: func(p string) bool { return p == "/shop" }})
	var ids []string
	for _, n := range w.Nights {
		ids = append(ids, n.Night)
	}
	if fmt.Sprint(ids) != fmt.Sprint([]string{first, second}) || len(w.Waits.Nights) != 1 || w.Waits.Nights[0] != open || w.Nights[0].Ended == nil {
		t.Errorf("%v, %+v", ids, w.Waits)
	}
	if len(w.Next) != 1 || w.Next[0].Command != "skillopt sleep run" {
		t.Errorf("%+v", w.Next)
	}
	if w := of(t, b, week.Inputs{Days: 40}); len(w.Nights) != 5 {
		t.Errorf("%d nights", len(w.Nights))
	}
}

// What is not known is no 0: a night without a price makes the sum unknown, one that asked nothing does not.
func TestWeekDoesNotKnowWhatANightDoesNotKnow(t *testing.T) {
	t.Parallel()
	b := opened(t)
	cost := 0.5
	put(t, b, "/shop", 0, true, func(r *result.Night) { r.Spent = result.NightSpent{Calls: 2, Input: 10, Output: 3, CostUSD: &cost} })
	put(t, b, "/shop", 1, true, nil)
	if s := of(t, b, week.Inputs{}).Spent; s.CostUSD == nil || *s.CostUSD != cost || s.Unknown != 0 || s.Calls != 2 || s.Input != 10 {
		t.Errorf("%+v", s)
	}
	put(t, b, "/shop", 2, true, func(r *result.Night) { r.Spent = result.NightSpent{Calls: 1} })
	if s := of(t, b, week.Inputs{}).Spent; s.CostUSD != nil || s.KnownUSD != cost || s.Unknown != 1 {
		t.Errorf("%+v", s)
	}
	if w := of(t, b, week.Inputs{}); w.Scheduled != nil {
		t.Error("a next night is known that nobody has scheduled")
	}
}

// A night that cannot be read is a problem, and the others are there; a proposal that is gone is told as gone.
func TestWeekNamesWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	b := opened(t)
	put(t, b, "/shop", 0, true, func(r *result.Night) {
		r.Targets = []result.NightTarget{{Target: "memory:CLAUDE.md", Outcome: result.NightSupported, Proposal: "memory-CLAUDE.md.proposed.md", Rules: []result.NightRule{{Text: "- Be.", Tasks: []string{"a", "b"}}}}}
	})
	if err := b.PutNight(t.Context(), bank.Night{ID: "bad", Project: "/shop", Started: now, Ended: now, Data: json.RawMessage(`{"night": 7}`)}); err != nil {
		t.Fatal(err)
	}
	w := of(t, b, week.Inputs{})
	if len(w.Nights) != 1 || len(w.Problems) != 1 || !strings.HasPrefix(w.Problems[0], "read night bad: ") {
		t.Fatalf("%+v", w)
	}
	got := w.Nights[0].Targets[0]
	if got.Proposal != result.ProposedGone || len(w.Waits.Proposals) != 0 || *got.Rules[0].Tasks != 2 || got.Rules[0].Won != nil {
		t.Errorf("%+v", got)
	}
}
