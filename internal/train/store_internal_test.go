package train

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

func measuredOutcome(id string, hard float64) trajectory.Outcome {
	return trajectory.Outcome{ID: id, Status: score.OK, Hard: hard, Soft: hard}
}

// What is known of a skill is one list in memory until more is known, and what becomes
// known later does not change a list that was handed out.
func TestAllIsSharedUntilMoreIsKnown(t *testing.T) {
	t.Parallel()
	s := newStore([]string{"a", "b"}, nil, score.Projection{})
	e := s.of(&incumbent{skill: skill.New("x")}, 0)
	s.add(e, 0, 0, measuredOutcome("a", 1))
	first := s.all(e)
	s.add(e, 0, 1, measuredOutcome("a", 0)) // another evaluation: the first outcome stands
	if again := s.all(e); &again[0] != &first[0] {
		t.Error("the same list is there twice")
	}
	s.add(e, 1, 0, measuredOutcome("b", 1))
	if diff := cmp.Diff([]trajectory.Outcome{measuredOutcome("a", 1), measuredOutcome("b", 1)}, s.all(e)); diff != "" {
		t.Errorf("after more was measured (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]trajectory.Outcome{measuredOutcome("a", 1), unmeasuredOutcome("b")}, first); diff != "" {
		t.Errorf("the list handed out before has changed (-want +got):\n%s", diff)
	}
	e.forget()
	if diff := cmp.Diff([]trajectory.Outcome{unmeasuredOutcome("a"), unmeasuredOutcome("b")}, s.all(e)); diff != "" {
		t.Errorf("after all was forgotten (-want +got):\n%s", diff)
	}
}

// However many candidates there are, few of them keep a list.
func TestFewListsAreKept(t *testing.T) {
	t.Parallel()
	s := newStore([]string{"a"}, nil, score.Projection{})
	first := s.of(&incumbent{skill: skill.New("first")}, 0)
	for i := range 20 {
		s.all(s.of(&incumbent{skill: skill.New(string(rune('a' + i)))}, 0))
		s.all(first)
	}
	kept := 0
	for _, e := range s.order {
		if e.outcomes.open != nil {
			kept++
		}
	}
	if kept != maxOpen || first.outcomes.open == nil {
		t.Errorf("%d of %d entries keep a list, want %d with the one that is used most", kept, len(s.order), maxOpen)
	}
}

// What is kept compressed comes back with every field, whatever is in it, and more can be
// set afterwards.
func TestPackedOutcomesComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Make[trajectory.Outcome](), 1, 6).Draw(t, "outcomes")
		items := make([]string, len(want))
		var l outcomeList
		for i, o := range want {
			items[i] = o.ID
		}
		for i, o := range want {
			l.set(items, i, o)
			if rapid.Bool().Draw(t, "pack") {
				l.pack()
				if l.open != nil || l.packed == nil {
					t.Fatal("the list is not packed")
				}
			}
		}
		if diff := cmp.Diff(want, l.all(items), cmpopts.EquateEmpty(), cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("after packing (-want +got):\n%s", diff)
		}
	})
}
