package bank

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/testing/memfolder"
	"github.com/seed-f4525e22/skillopt/internal/testing/race"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// session is a session with turns of these ids.
func session(id string, turns ...string) Session {
	s := Session{Transcript: transcript.Transcript{Source: "claude", ID: id, Project: "/p", Origin: transcript.Interactive, Started: noon, Ended: noon.Add(time.Hour)}}
	for i, name := range turns {
		s.Turns = append(s.Turns, transcript.Turn{ID: name, User: "said " + name, Started: noon.Add(time.Duration(i) * time.Minute), Ended: noon.Add(time.Duration(i+1) * time.Minute), Tools: []transcript.Tool{}, Files: []string{}})
	}
	return s
}

func open(t testing.TB, dir string) *Bank {
	t.Helper()
	b, err := Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func kept(path string, sessions ...Session) Kept {
	return Kept{Store: Store{Path: path, Source: "claude", LeftOut: map[string]int{}, Problems: []transcript.Problem{}}, Sessions: sessions}
}

// shown are the sessions that are shown, with the turns that count in them.
func shown(t testing.TB, b *Bank) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := b.Sessions(context.Background(), Filter{}, func(s Session) error {
		for i := range s.Turns {
			out[s.ID] = append(out[s.ID], s.Turns[i].ID)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSessionsKeptTwiceCountOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stores []Kept
		want   map[string][]string
	}{
		"the same session in two stores":  {[]Kept{kept("/live/a", session("a", "1", "2")), kept("/archived/a", session("a", "1", "2"))}, map[string][]string{"a": {"1", "2"}}},
		"the copy is behind":              {[]Kept{kept("/archived/a", session("a", "1")), kept("/live/a", session("a", "1", "2"))}, map[string][]string{"a": {"1", "2"}}},
		"a resumed session copies turns":  {[]Kept{kept("/a", session("a", "1", "2")), kept("/b", session("b", "1", "2", "3"))}, map[string][]string{"b": {"1", "2", "3"}}},
		"a fork has turns of its own":     {[]Kept{kept("/a", session("a", "1", "2", "3")), kept("/b", session("b", "1", "2", "4"))}, map[string][]string{"a": {"1", "2", "3"}, "b": {"4"}}},
		"sessions that share nothing":     {[]Kept{kept("/a", session("a", "1")), kept("/b", session("b", "2"))}, map[string][]string{"a": {"1"}, "b": {"2"}}},
		"a store is read anew, with less": {[]Kept{kept("/a", session("a", "1", "2", "3")), kept("/a", session("a", "1"))}, map[string][]string{"a": {"1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 2 {
				b := open(t, t.TempDir())
				for _, k := range c.stores {
					if err := b.Keep(t.Context(), []Kept{k}); err != nil {
						t.Fatal(err)
					}
				}
				if err := b.Settle(t.Context()); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.want, shown(t, b)); diff != "" {
					t.Error(diff)
				}
				if name != "a store is read anew, with less" {
					slices.Reverse(c.stores)
				}
			}
		})
	}
}

// Whatever the order of stores, however often one is read: every turn counts exactly once, and
// the result is the same. The race detector, for which each bank takes many times as long and which
// sees nothing run beside another here, looks at a tenth.
func TestSettlingIsALaw(t *testing.T) {
	t.Parallel()
	place, remove := memfolder.New()
	if place == "" {
		place = t.TempDir()
	}
	defer remove()
	const tenth = 20 // banks
	dirs := 0
	rapid.Check(t, func(r *rapid.T) {
		if race.Enabled && dirs >= tenth {
			return
		}
		var stores []Kept
		all := map[string]bool{}
		for i := range rapid.IntRange(1, 5).Draw(r, "stores") {
			turns := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-f]`), 1, 5, rapid.ID[string]).Draw(r, "turns")
			stores = append(stores, kept(fmt.Sprintf("/%d", i), session(rapid.SampledFrom([]string{"x", "y", "z"}).Draw(r, "id"), turns...)))
			for _, turn := range turns {
				all[turn] = true
			}
		}
		var first map[string][]string
		for range 2 {
			dirs++
			dir := fmt.Sprintf("%s/%d", place, dirs)
			b, err := Open(context.Background(), dir)
			if err != nil {
				r.Fatal(err)
			}
			for _, i := range rapid.Permutation(indices(len(stores))).Draw(r, "order") {
				for range rapid.IntRange(1, 2).Draw(r, "times") {
					if err := b.Keep(context.Background(), []Kept{stores[i]}); err != nil {
						r.Fatal(err)
					}
				}
			}
			if err := b.Settle(context.Background()); err != nil {
				r.Fatal(err)
			}
			got, counted := shown(t, b), map[string]int{}
			for _, turns := range got {
				for _, turn := range turns {
					counted[turn]++
				}
			}
			for turn := range all {
				if counted[turn] != 1 {
					r.Fatalf("turn %s counts %d times: %v", turn, counted[turn], got)
				}
			}
			if first == nil {
				first = got
			} else if diff := cmp.Diff(first, got); diff != "" {
				r.Fatalf("another order, another result:\n%s", diff)
			}
			if err := b.Close(); err != nil {
				r.Fatal(err)
			}
		}
	})
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// What counted in a session that is gone counts in another, and what a stopped harvest has left
// is settled by the next one.
func TestWhatIsGoneFreesItsTurns(t *testing.T) {
	t.Parallel()
	b := open(t, t.TempDir())
	long, short := session("long", "1", "2", "3"), session("short", "1", "2", "4")
	long.Ended = noon.Add(-time.Hour)
	if err := b.Keep(t.Context(), []Kept{kept("/long", long), kept("/short", short)}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		do   func() error
		want map[string][]string
	}{
		{func() error { return nil }, map[string][]string{"long": {"1", "2", "3"}, "short": {"4"}}},
		{func() error { _, err := b.Prune(t.Context(), noon); return err }, map[string][]string{"short": {"1", "2", "4"}}},
		{func() error { return b.Keep(t.Context(), []Kept{kept("/short", session("short", "5"))}) }, map[string][]string{"short": {"5"}}},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if err := b.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step.want, shown(t, b)); diff != "" {
			t.Error(diff)
		}
	}
}
