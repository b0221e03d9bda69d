package sleeptasks

import (
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pytext"
)

// The lines around the learned block of a document.
const (
	LearnedStart = "<!-- SKILLOPT-SLEEP:LEARNED START -->"
	LearnedEnd   = "<!-- SKILLOPT-SLEEP:LEARNED END -->"
)

// banner stands at the top of the block.
const banner = "_This block is maintained by SkillOpt-Sleep. Edits here are proposed " +
	"offline, validated against your past tasks, and adopted only after you " +
	"approve them. Hand-edits outside this block are never touched._"

// Learned is what stands in the learned block, "" if there is none.
func Learned(document string) string {
	start, end := strings.Index(document, LearnedStart), strings.Index(document, LearnedEnd)
	if from := start + len(LearnedStart); start >= 0 && end >= from {
		return trim(document[from:end])
	}
	return ""
}

// LearnedLines are the rules of the block: its lines that are bullets, without those.
func LearnedLines(document string) []string {
	lines := []string{}
	for _, line := range splitLines(Learned(document)) {
		if text, ok := strings.CutPrefix(trim(line), "- "); ok {
			lines = append(lines, trim(text))
		}
	}
	return lines
}

// splitLines cuts a text where lines end, by any of the characters that end one.
func splitLines(text string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(text, "\r\n", "\n"), func(r rune) bool {
		return strings.ContainsRune("\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029", r)
	})
}

// WithoutLearned is a document without its blocks and what a block that does not end reaches;
// no two blank lines follow each other.
func WithoutLearned(document string) string {
	for {
		start := strings.Index(document, LearnedStart)
		if start < 0 {
			break
		}
		end := strings.Index(document[start:], LearnedEnd)
		if end < 0 {
			document = document[:start]
			break
		}
		document = document[:start] + document[start+end+len(LearnedEnd):]
	}
	for strings.Contains(document, "\n\n\n") {
		document = strings.ReplaceAll(document, "\n\n\n", "\n\n")
	}
	return strings.TrimRightFunc(document, pytext.IsSpace)
}

// WithLearned is a document with a block of rules at its end, in the place of those that it
// has.
func WithLearned(document string, rules []string) string {
	var lines []string
	for _, rule := range rules {
		if trim(rule) != "" {
			lines = append(lines, "- "+trim(strings.TrimLeft(trim(rule), "- ")))
		}
	}
	block := "\n\n" + LearnedStart + "\n## Learned preferences & procedures\n\n" + banner + "\n\n" + strings.Join(lines, "\n") + "\n" + LearnedEnd + "\n"
	return strings.TrimLeft(WithoutLearned(document)+block, "\n")
}

// LearnedEdit is a change of the learned block.
type LearnedEdit struct {
	Op      string // add, delete or replace; "" is add
	Anchor  string // of what is deleted or replaced: a part of it
	Content string
}

// EditLearned makes changes of the learned block. It returns the document and, by their
// places, the edits that were applied and those that changed nothing.
func EditLearned(document string, edits []LearnedEdit) (edited string, applied, unmatched []int) {
	lines := LearnedLines(document)
	for i, e := range edits {
		after, ok := e.apply(lines)
		if !ok {
			unmatched = append(unmatched, i)
			continue
		}
		lines, applied = after, append(applied, i)
	}
	return WithLearned(document, lines), applied, unmatched
}

// apply makes a change of rules, and reports whether it changed anything.
func (e LearnedEdit) apply(lines []string) (after []string, changed bool) {
	op := lower(e.Op)
	if e.Op == "" {
		op = "add"
	}
	switch op {
	case "add":
		if trim(e.Content) == "" || slices.ContainsFunc(lines, func(l string) bool { return plain(l) == plain(e.Content) }) {
			return lines, false
		}
		return append(slices.Clone(lines), trim(e.Content)), true
	case "delete":
		anchor := plain(e.Anchor)
		if e.Anchor == "" {
			anchor = plain(e.Content)
		}
		if anchor == "" {
			return lines, false
		}
		after = slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return strings.Contains(plain(l), anchor) })
		return after, len(after) != len(lines)
	case "replace":
		anchor, content := plain(e.Anchor), trim(e.Content)
		after = slices.Clone(lines)
		for i, l := range lines {
			if anchor != "" && strings.Contains(plain(l), anchor) {
				after[i] = content
				changed = changed || content != l
			}
		}
		return after, changed
	}
	return lines, false
}

// plain is a text in small letters, with one space wherever it has white space.
func plain(s string) string { return strings.Join(strings.FieldsFunc(lower(s), pytext.IsSpace), " ") }
