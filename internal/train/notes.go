package train

import (
	"slices"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/skill"
)

// noteTries is how many rejected candidates a note may be part of: one alone may have
// failed by its edits.
const noteTries = 3

// keptNote is a note on a lapse that is in no skill yet.
type keptNote struct {
	text  string
	tries int // candidates with it that were rejected
}

// heldBack are the notes that earlier steps leave to this one.
func (t *trainer) heldBack() []string {
	var texts []string
	for _, n := range t.notes {
		texts = append(texts, n.text)
	}
	return texts
}

// holdBack keeps the notes of a step whose candidate was not accepted for the next one:
// that edits were rejected says nothing of what stood beside them.
func (s *step) holdBack() {
	if !s.SkillAware || !s.Whole {
		return
	}
	action := gate.Action(s.record.Action)
	if action.Accepted() {
		s.notes = nil
		return
	}
	tries := map[string]int{}
	for _, n := range s.notes {
		tries[skill.NoteKey(n.text)] = n.tries
	}
	s.notes = nil
	for _, text := range skill.DedupeNotes(slices.Clone(s.record.Notes)) {
		n := keptNote{text, tries[skill.NoteKey(text)]}
		if action.Rejected() {
			n.tries++
		}
		if n.tries < noteTries {
			s.notes = append(s.notes, n)
		}
	}
	s.notes = s.notes[max(0, len(s.notes)-optimize.AppendixThreshold):]
}
