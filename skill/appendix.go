package skill

import (
	"slices"
	"strings"

	"golang.org/x/text/cases"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// The appendix region holds short notes for the executing agent: rules that
// are right but were not followed. The functions on text behave as SkillOpt's;
// Skill.WithNotes is what training uses.

const appendixTitle = "## Execution Notes Appendix"

var appendixHeading = pattern.New(`^#{1,6}\s*(?i:execution notes appendix)$`)

// HasAppendix reports whether both markers of the appendix are in text.
func HasAppendix(text string) bool { return appendix.present(text) }

// InjectAppendix returns text with an empty appendix at its end, or as it is
// when it has one.
func InjectAppendix(text string) string {
	if HasAppendix(text) {
		return text
	}
	return atEnd(text, appendixBlock(nil, lf), lf)
}

// StripAppendix returns text without appendix regions, lone markers of theirs,
// and white space at its end.
func StripAppendix(text string) string { return appendix.strip(text) }

// Notes returns the notes of the first appendix, one a line, without their
// bullets. The title and empty lines are no notes.
func Notes(text string) []string {
	var notes []string
	for _, line := range strings.FieldsFunc(appendix.inner(text), isLineBreak) {
		line = trim(line)
		if appendixHeading.MatchString(line) {
			continue
		}
		if strings.HasPrefix(line, "-") || strings.HasPrefix(line, "*") {
			line = trim(line[1:])
		}
		if line != "" {
			notes = append(notes, line)
		}
	}
	return notes
}

// AppendNotes returns text with one appendix at its end that holds the notes
// it had and those of notes, without repeats. Notes go in as they are, markers
// included: for notes of a model use Skill.WithNotes.
func AppendNotes(text string, notes []string) string {
	all := DedupeNotes(append(Notes(text), notes...))
	return atEnd(StripAppendix(text), appendixBlock(all, lf), lf)
}

// DedupeNotes returns notes with white space collapsed, without those that say
// nothing and those whose key came before.
func DedupeNotes(notes []string) []string {
	seen := map[string]bool{}
	var kept []string
	for _, note := range notes {
		key := NoteKey(note)
		if key == "" || seen[key] {
			continue
		}
		seen[key] = true
		kept = append(kept, oneLine(note))
	}
	return kept
}

// NoteKey returns what decides whether two notes are the same: the note
// case-folded, with white space collapsed and without punctuation at its end.
func NoteKey(note string) string {
	return strings.TrimRight(cases.Fold().String(oneLine(note)), " .,;:!?_-")
}

// WithNotes returns a copy whose appendix holds notes, each on one line,
// without repeats and freed of region markers; those that are new also of what
// Plain leaves out. An appendix that is there stays
// in its place and nothing around it changes; several, or broken ones, become
// one at the end. Without notes there is no appendix.
func (s Skill) WithNotes(notes []string) Skill {
	var clean []string
	had := DedupeNotes(Notes(s.main))
	for _, note := range notes {
		if !slices.Contains(had, oneLine(note)) {
			note = Plain(note)
		}
		clean = append(clean, StripMarkers(oneLine(note)))
	}
	clean = DedupeNotes(clean)
	if len(clean) == 0 {
		return s.withoutNotes()
	}
	return s.WithText(setRegion(s.main, appendix, appendixBlock(clean, LineEnd(s.main))))
}

// withoutNotes leaves a skill that has no appendix as it is, to the last byte.
func (s Skill) withoutNotes() Skill {
	if !strings.Contains(s.main, AppendixStart) && !strings.Contains(s.main, AppendixEnd) {
		return s
	}
	return s.WithText(StripAppendix(s.main) + LineEnd(s.main))
}

func appendixBlock(notes []string, end string) string {
	lines := []string{AppendixStart, appendixTitle}
	for _, note := range notes {
		lines = append(lines, "- "+note)
	}
	return strings.Join(append(lines, AppendixEnd), end)
}

func oneLine(s string) string { return strings.Join(strings.FieldsFunc(s, isSpace), " ") }

// isLineBreak knows the line boundaries of Python's splitlines.
func isLineBreak(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}
