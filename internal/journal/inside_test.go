package journal_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/journal"
)

// The calls of an episode are counted once, and the same in the session that made them
// and in a later one: those that came before its result.
func TestCallsInsideAnEpisodeAreCountedOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.db")
	j := open(t, path)
	inner := func(attempt, ordinal int, code string) {
		t.Helper()
		r := journal.Record{Key: "ep", Kind: journal.Inner, Attempt: attempt, Ordinal: ordinal, Code: code}
		if err := j.Charge(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	inner(0, 0, journal.CodeCut)
	inner(1, 0, "")
	inner(1, 1, journal.CodeCut)
	inner(1, 2, "")
	if n := j.Attempts("ep"); n != 2 {
		t.Errorf("%d attempts before anything is durable, want 2", n)
	}
	appendAll(t, j, journal.Record{Key: "ep", Kind: journal.Episode, Attempt: 1, Result: []byte("done")})
	inner(1, 3, journal.CodeCut) // answered after the episode had ended
	appendAll(t, j)              // and durable

	want := journal.Inside{Attempt: 1, Calls: 3, Cut: 1, Ended: true}
	if diff := cmp.Diff(want, j.LastTry("ep")); diff != "" {
		t.Errorf("live (-want +got):\n%s", diff)
	}
	j = reopen(t, j, path)
	if diff := cmp.Diff(want, j.LastTry("ep")); diff != "" {
		t.Errorf("reopened (-want +got):\n%s", diff)
	}
}
