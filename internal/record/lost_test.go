package record

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
)

// What gave no result is counted by its reason: attempts at calls, and calls in attempts at
// episodes that failed, were replaced or never ended. What another run paid for is none of it.
func TestLostSpending(t *testing.T) {
	t.Parallel()
	r, dir := emptyRun(t)
	j, err := journal.Open(t.Context(), filepath.Join(dir, run.DBFile), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cost := func(nano int64) *int64 { return &nano }
	at := time.Unix(1_760_000_000, 0)
	spend := func(nano *int64) journal.Spend {
		return journal.Spend{Stage: "rollout", Role: "target", Model: "m", Usage: journal.Usage{Input: 10, Output: 1, Cached: 4}, Cost: nano, StartedAt: at, Took: time.Second}
	}
	estimated := func(nano *int64) journal.Spend { s := spend(nano); s.Estimate = true; return s }
	charge := func(rec journal.Record) {
		if err := j.Charge(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
	}
	appended := func(rec journal.Record) {
		if err := j.Append(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
	}
	chat, episode := "e1/s1/rollout/a/sample0/attempt0/turn1", "e1/s1/rollout/b/sample0"
	charge(journal.Record{Kind: journal.Fault, Key: chat, Code: "rate_limit", Spend: estimated(cost(0))})
	charge(journal.Record{Kind: journal.Fault, Key: chat, Code: "rate_limit", Spend: estimated(cost(2e6))})
	charge(journal.Record{Kind: journal.Fault, Key: chat, Code: "server", Spend: estimated(nil)})
	appended(journal.Record{Kind: journal.Call, Key: chat, Result: []byte(`{"text":"x"}`), Spend: spend(cost(5e6))})
	for attempt := range 3 { // the first fails, the second is cut, the third counts
		for n := range 2 {
			charge(journal.Record{Kind: journal.Inner, Key: episode, Attempt: attempt, Ordinal: n, Spend: spend(cost(1e6))})
		}
		if attempt == 0 {
			charge(journal.Record{Kind: journal.Fault, Key: episode, Attempt: attempt, Code: "timeout", Spend: journal.Spend{Stage: "rollout", Role: "target"}})
		}
	}
	appended(journal.Record{Kind: journal.Episode, Key: episode, Attempt: 2, Result: []byte(`{}`), Spend: journal.Spend{Stage: "rollout", Role: "target"}})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	parts, lost, err := SpendingBy(t.Context(), r, ByRole)
	if err != nil {
		t.Fatal(err)
	}
	usd := func(v float64) *float64 { return &v }
	want := []Lost{
		{What: LostAttempts, Code: "rate_limit", Count: 2, In: 20, Out: 2, USD: usd(0.002)},
		{What: LostEpisodes, Code: Cut, Count: 2, Tries: 1, In: 20, Out: 2, USD: usd(0.002)},
		{What: LostEpisodes, Code: "timeout", Count: 2, Tries: 1, In: 20, Out: 2, USD: usd(0.002)},
		{What: LostAttempts, Code: "server", Count: 1, In: 10, Out: 1},
		{What: LostAttempts, Code: "timeout", Count: 1},
	}
	if diff := cmp.Diff(want, lost); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
	if len(parts) != 1 || parts[0].Part != "target" || parts[0].Calls != 7 || parts[0].Failed != 4 || parts[0].Cached != 28 || parts[0].USD == nil {
		t.Errorf("%+v", parts)
	}
	if _, _, err := SpendingBy(t.Context(), r, "day"); err == nil {
		t.Error("by day")
	}
}
