package train

import (
	"slices"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/skill"
)

// memory is what the optimizer learns of earlier steps. It holds what steps report when
// they are closed, and decides nothing.
type memory struct {
	opts      Options
	epoch     []optimize.StepNote // of the steps of this epoch: the step buffer
	notes     []heldNote
	metaSkill string
}

// newMemory begins with what other runs leave to this one.
func newMemory(o Options) *memory {
	return &memory{opts: o, metaSkill: o.Remembered.MetaSkill}
}

// beginEpoch empties the step buffer.
func (m *memory) beginEpoch() { m.epoch = nil }

// stepBuffer returns what is reported of the steps of this epoch.
func (m *memory) stepBuffer() string { return optimize.StepBuffer(m.epoch) }

// remember adds a step that is closed to the step buffer.
func (m *memory) remember(n optimize.StepNote) { m.epoch = append(m.epoch, n) }

// noteTries is how many rejected candidates a note may be part of: one alone may have
// failed by its edits.
const noteTries = 3

// heldNote is a note on a lapse that is in no skill yet.
type heldNote struct {
	text  string
	tries int // candidates with it that were rejected
}

// heldBack returns the notes that earlier steps leave to this one.
func (m *memory) heldBack() []string {
	var texts []string
	for _, n := range m.notes {
		texts = append(texts, n.text)
	}
	return texts
}

// holdBack keeps the notes of a step whose candidate was not accepted for the next one:
// that edits were rejected says nothing of the notes that accompanied them.
func (m *memory) holdBack(action gate.Action, notes []string) {
	if !m.opts.SkillAware || !m.opts.Whole {
		return
	}
	if action.Accepted() {
		m.notes = nil
		return
	}
	tries := map[string]int{}
	for _, n := range m.notes {
		tries[skill.NoteKey(n.text)] = n.tries
	}
	m.notes = nil
	for _, text := range skill.DedupeNotes(slices.Clone(notes)) {
		n := heldNote{text, tries[skill.NoteKey(text)]}
		if action.Rejected() {
			n.tries++
		}
		if n.tries < noteTries {
			m.notes = append(m.notes, n)
		}
	}
	m.notes = m.notes[max(0, len(m.notes)-optimize.AppendixThreshold):]
}
