package adopt_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-f4525e22/skillopt/internal/sleep/adopt"
)

func TestBlame(t *testing.T) {
	w := newWorld(t)
	w.write("CLAUDE.md", with(t, "# House\n", "- Mine."))
	adoptRules := func(night string, rules ...string) {
		t.Helper()
		it := w.item("CLAUDE.md", rules...)
		it.Claim = "of " + night
		if _, err := w.store().Adopt(t.Context(), w.request(night, it)); err != nil {
			t.Fatal(err)
		}
	}
	adoptRules("n1", "- Mine.", "- A.")
	adoptRules("n2", "- Mine.", "- A.", "- B.")
	adoptRules("n3", "- Mine.", "- A.", "- B.", "- C.")
	if _, _, err := w.store().Rollback(t.Context(), w.project, 0); err != nil {
		t.Fatal(err)
	}
	got, err := w.store().Blame(w.project, "memory:CLAUDE.md", w.read("CLAUDE.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := []adopt.Origin{
		{Line: 4, Text: "- Mine."},
		{Line: 5, Text: "- A.", N: 1, Night: "n1", Claim: "of n1", Rule: &adopt.Rule{Text: "- A."}},
		{Line: 6, Text: "- B.", N: 2, Night: "n2", Claim: "of n2", Rule: &adopt.Rule{Text: "- B."}},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestSome(t *testing.T) {
	base := with(t, "# House\r\n", "- Old.", "- Gone.")
	proposed := with(t, "# House\r\n", "- Old.", "- A.", "- B.", "- C.")
	got, err := adopt.Some(base, proposed, []int{3, 1})
	want := strings.ReplaceAll(strings.ReplaceAll(with(t, "# House\r\n", "- Old.", "- Gone.", "- A.", "- C."), "\r", ""), "\n", "\r\n")
	if err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
}
