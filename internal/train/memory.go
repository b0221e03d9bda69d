package train

import (
	"slices"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

const (
	stayingAfter = 2 // steps after which a failure is told as one that stays
	stayingMost  = 6 // of them that are named
)

// memory is what the optimizer is told of earlier steps. It holds what steps report when
// they are closed, and decides nothing.
type memory struct {
	opts      Options
	epoch     []optimize.StepNote // of the steps of this epoch: the step buffer
	run       []optimize.StepNote // of the run, the newest opts.Memory ones
	failing   map[string][]int    // train task -> steps with a candidate in which it failed since it was solved last
	notes     []heldNote
	metaSkill string
}

// newMemory begins with what other runs leave to this one.
func newMemory(o Options) *memory {
	return &memory{opts: o, failing: map[string][]int{}, metaSkill: o.Remembered.MetaSkill}
}

// beginEpoch empties the step buffer.
func (m *memory) beginEpoch() { m.epoch = nil }

// stepBuffer is what is told of the steps of this epoch.
func (m *memory) stepBuffer() string { return optimize.StepBuffer(m.epoch) }

// told is what analysts are told of earlier steps.
type told struct {
	stepBuffer string // of the epoch's steps
	memory     string // or of the run's
}

// told is what analysts are told of the steps before this one, and of the failures among
// what they are about to read.
func (m *memory) told(outcomes []trajectory.Outcome) told {
	if m.opts.Memory == 0 {
		return told{stepBuffer: m.stepBuffer()}
	}
	return told{memory: optimize.Memory(m.run, m.staying(outcomes))}
}

// staying are those of the failures that earlier steps could not fix.
func (m *memory) staying(outcomes []trajectory.Outcome) []optimize.Staying {
	var out []optimize.Staying
	for _, p := range optimize.FailurePatterns(outcomes) {
		for _, id := range p.TaskIDs {
			if steps := m.failing[id]; len(steps) >= stayingAfter {
				out = append(out, optimize.Staying{ID: id, Steps: steps})
			}
		}
	}
	return out
}

// remember keeps what later steps are told of one that is closed: in the step buffer,
// among the newest steps of the run, and in which steps a task has failed since it was
// solved last. tried says that it had a candidate; without one nothing was tried.
func (m *memory) remember(n optimize.StepNote, outcomes []trajectory.Outcome, tried bool) {
	m.epoch = append(m.epoch, n)
	if m.opts.Memory == 0 {
		return
	}
	m.run = append(m.run, n)
	m.run = m.run[max(0, len(m.run)-m.opts.Memory):]
	failed := map[string]bool{}
	for _, p := range n.Patterns {
		for _, id := range p.TaskIDs {
			failed[id] = true
		}
	}
	for _, o := range outcomes {
		switch steps := m.failing[o.ID]; {
		case !o.Status.Measured():
		case !failed[o.ID]:
			delete(m.failing, o.ID)
		case tried:
			steps = append(steps[:len(steps):len(steps)], n.Step)
			m.failing[o.ID] = steps[max(0, len(steps)-stayingMost):]
		}
	}
}

// noteTries is how many rejected candidates a note may be part of: one alone may have
// failed by its edits.
const noteTries = 3

// heldNote is a note on a lapse that is in no skill yet.
type heldNote struct {
	text  string
	tries int // candidates with it that were rejected
}

// heldBack are the notes that earlier steps leave to this one.
func (m *memory) heldBack() []string {
	var texts []string
	for _, n := range m.notes {
		texts = append(texts, n.text)
	}
	return texts
}

// holdBack keeps the notes of a step whose candidate was not accepted for the next one:
// that edits were rejected says nothing of what stood beside them.
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
