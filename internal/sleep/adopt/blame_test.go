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

// The block that SkillOpt-Sleep has learned is taken over: it stands between the same markers, and stays as it is beside what is adopted.
func TestTheBlockOfAnotherProgramIsTakenOver(t *testing.T) {
	w := newWorld(t)
	const theirs = "# House\n\n<!-- SKILLOPT-SLEEP:LEARNED START -->\n## Learned\n\n_Kept by another program._\n\n- Old rule.\n<!-- SKILLOPT-SLEEP:LEARNED END -->\n\nMine.\n"
	w.write("CLAUDE.md", theirs)
	proposed := strings.Replace(theirs, "- Old rule.\n", "- Old rule.\n- New rule.\n", 1)
	it := adopt.Item{Target: "memory:CLAUDE.md", Base: theirs, Proposed: proposed, Rules: []adopt.Rule{{Text: "- New rule."}}}
	if added, err := adopt.Added(theirs, proposed); err != nil || len(added) != 1 || added[0] != "- New rule." {
		t.Errorf("%q, %v", added, err)
	}
	if _, err := w.store().Adopt(t.Context(), w.request("n1", it)); err != nil || w.read("CLAUDE.md") != proposed {
		t.Fatalf("%v: %q", err, w.read("CLAUDE.md"))
	}
	origins, err := w.store().Blame(w.project, "memory:CLAUDE.md", proposed)
	if err != nil || len(origins) != 4 || origins[2].N != 0 || origins[3].N != 1 {
		t.Errorf("%+v, %v", origins, err)
	}
	w.write("CLAUDE.md", strings.Replace(proposed, "Mine.", "More of mine.", 1))
	if _, _, err := w.store().Rollback(t.Context(), w.project, 0); err != nil {
		t.Fatal(err)
	}
	if got := w.read("CLAUDE.md"); got != strings.Replace(theirs, "Mine.", "More of mine.", 1) {
		t.Errorf("%q", got)
	}
}
