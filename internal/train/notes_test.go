package train

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// A note outlives the rejection of the edits that it came with, and is in the skill once
// a candidate with it is accepted.
func TestNotesOutliveTheirEdits(t *testing.T) {
	t.Parallel()
	for _, whole := range []bool{true, false} {
		w := newWorld(8, 4, 0)
		w.propose[1], w.notes[1] = []string{"harm a", "harm b"}, []string{"mind the unit"}
		w.seed += "rule a\nrule b\n"
		w.propose[2] = []string{"rule c"}
		o := standard()
		o.Epochs, o.SkillAware, o.Whole, o.Window = 2, true, whole, 60_000
		r := w.must(t, o)
		steps := r.History.Steps
		if steps[1].Action != "reject" || steps[2].Action != "accept_new_best" {
			t.Fatalf("whole %v: %s, then %s", whole, steps[1].Action, steps[2].Action)
		}
		var want []string
		if whole {
			want = w.notes[1]
		}
		if diff := cmp.Diff(want, skill.Notes(r.Final.Text())); diff != "" {
			t.Errorf("whole %v: notes (-want +got):\n%s", whole, diff)
		}
	}
}

// A note that was part of several rejected candidates is given up.
func TestNotesAreGivenUp(t *testing.T) {
	t.Parallel()
	m := newMemory(Options{Reflection: Reflection{SkillAware: true, Whole: true}})
	for i := range noteTries + 1 {
		notes := m.heldBack()
		if i == 0 {
			notes = []string{"a"}
		}
		m.holdBack("reject", notes)
		if got, want := len(m.heldBack()) > 0, i < noteTries-1; got != want {
			t.Errorf("after %d rejections it is kept: %v", i+1, got)
		}
	}
	var notes []string
	for i := range 100 {
		notes = append(notes, fmt.Sprint("note ", i))
	}
	m.holdBack(result.ActionNoPatches, notes)
	if n := len(m.heldBack()); n != 20 {
		t.Errorf("%d notes are kept, want the last 20", n)
	}
	m.holdBack("accept", notes)
	if m.heldBack() != nil {
		t.Error("notes of an accepted candidate are kept")
	}
}
