package skill

import (
	"fmt"
	"slices"
	"strings"
)

// This file holds edits, rewritten texts, guidance and notes to the learned region of
// SKILL.md: what a scope with a region allows.

// WithRegion returns the scope in which a part of SKILL.md alone may change, and no other
// file; "" is the whole of it. A document that has no such region, or none that can be determined
// for certain, stays as it is.
func (s Scope) WithRegion(r Region) Scope {
	s.region = r
	return s
}

// Region returns the part of SKILL.md that alone may change, "" for the whole of it.
func (s Scope) Region() Region { return s.region }

// Protected returns the half-open byte ranges of text, a SKILL.md, that may not be touched,
// in order: those of the function Protected, and what is outside of the region of the scope.
func (s Scope) Protected(text string) [][2]int {
	if s.region == "" {
		return Protected(text)
	}
	l, err := learnedIn(text)
	if err != nil {
		return [][2]int{{0, len(text)}}
	}
	out := [][2]int{{0, l.inner.from}}
	for _, r := range Protected(text) {
		if l.inner.from <= r[0] && r[1] <= l.inner.to {
			out = append(out, r)
		}
	}
	return append(out, [2]int{l.inner.to, len(text)})
}

// Confine returns the text that a SKILL.md may get when a new one was written for it: after,
// or before with what the region of the scope holds in after. Outside of the region both have
// to be equal but for line ends and white space at ends of lines, which stay as before has
// them. The error says what is not equal, or why no region can be determined.
func (s Scope) Confine(before, after string) (string, error) {
	if s.region == "" {
		return after, nil
	}
	was, err := learnedIn(before)
	if err != nil {
		return "", fmt.Errorf("the document: %w", err)
	}
	is, err := learnedIn(after)
	if err != nil {
		return "", fmt.Errorf("the new text: %w", err)
	}
	for _, part := range []struct {
		was, is string
		at      int
	}{{before[:was.inner.from], after[:is.inner.from], 0}, {before[was.inner.to:], after[is.inner.to:], is.inner.to}} {
		if line := differsAt(part.was, part.is); line >= 0 {
			return "", fmt.Errorf("the new text, line %d: it differs from the document outside of the learned region, where all has to stay", lineNumber(after, part.at)+line)
		}
	}
	return ReplaceLearned(before, WithLineEnd(after[is.inner.from:is.inner.to], LineEnd(before)))
}

// differsAt returns the first line, from 0, in which two texts differ in more than white
// space at its end, -1 if none does. Blank lines at the end of a text are not looked at.
func differsAt(a, b string) int {
	x, y := strings.Split(trimEnd(a), lf), strings.Split(trimEnd(b), lf)
	for i := range max(len(x), len(y)) {
		if i >= len(x) || i >= len(y) || strings.TrimRight(x[i], " \t\r") != strings.TrimRight(y[i], " \t\r") {
			return i
		}
	}
	return -1
}

// WithSlow does what Skill.WithSlow does within the region of the scope: the slow-update region lies in it
// then, at its end if there was none. The skill stays as it is where the slow-update region cannot lie there.
func (s Scope) WithSlow(sk Skill, content string) Skill {
	return s.changeRegion(sk, func(part Skill) Skill { return part.WithSlow(content) })
}

// WithNotes does what Skill.WithNotes does within the region of the scope, as WithSlow does.
func (s Scope) WithNotes(sk Skill, notes []string) Skill {
	return s.changeRegion(sk, func(part Skill) Skill { return part.WithNotes(notes) })
}

// changeRegion runs change on a skill whose document is what the region holds. Nothing after a line
// of a marker can be taken for front matter.
func (s Scope) changeRegion(sk Skill, change func(Skill) Skill) Skill {
	if s.region == "" {
		return change(sk)
	}
	content, err := LearnedText(sk.main)
	if err != nil {
		return sk
	}
	first := LearnedStart + LineEnd(sk.main)
	changed, ok := strings.CutPrefix(change(New(first+content)).main, first)
	if !ok {
		return sk
	}
	if content == "" {
		changed = strings.TrimPrefix(changed, LineEnd(sk.main))
	}
	next, err := ReplaceLearned(sk.main, changed)
	if err != nil {
		return sk
	}
	return sk.WithText(next)
}

// outOfRegion returns where in text a marker of kind k is outside of what l holds, -1 if
// none is.
func (k kind) outOfRegion(text string, l learnedSpan) int {
	for _, marker := range []string{k.start, k.end} {
		for at := indexFrom(text, marker, 0); at >= 0; at = indexFrom(text, marker, at+1) {
			if at < l.inner.from || at >= l.inner.to {
				return at
			}
		}
	}
	return -1
}

// CheckRegion reports why SKILL.md of sk cannot be trained within the region of the scope:
// there is none, or it cannot be determined. With guidance, a slow-update region that lies
// elsewhere is a reason too, and with notes an appendix. The error is ErrNoRegion or a
// *RegionError.
func (s Scope) CheckRegion(sk Skill, guidance, notes bool) error {
	if s.region == "" {
		return nil
	}
	l, err := learnedIn(sk.main)
	if err != nil {
		return err
	}
	for _, r := range []struct {
		kind kind
		used bool
	}{{slow, guidance}, {appendix, notes}} {
		if at := r.kind.outOfRegion(sk.main, l); r.used && at >= 0 {
			return &RegionError{Line: lineNumber(sk.main, at), Reason: "a marker of " + r.kind.start + " is outside of the learned region, in which alone it may be written: put that region into the learned one, or take it out"}
		}
	}
	return nil
}

// planRegionEdit returns what planEdit does for an edit that may change what the learned region
// holds, and nothing else.
func (a *applier) planRegionEdit(e Edit) (Change, ApplyStatus, string) {
	text := a.skill.main
	l, err := learnedIn(text)
	switch {
	case err != nil:
		return Change{}, SkippedOutsideRegion, err.Error()
	case e.path() != Main || e.Op == Describe || e.Op == Move:
		return Change{}, SkippedOutsideRegion, "only the learned region may be edited"
	}
	part := a.page(Main)
	whole := part
	part.text, part.part = text[l.inner.from:l.inner.to], true
	if (e.Op == Append || e.Op == InsertAfter) && states(part.text, e.Content) {
		return Change{}, SkippedDuplicate, "the learned region says so already"
	}
	if _, inside := part.locate(e.Target); !inside && e.Op != Append {
		if at, outside := whole.locate(e.Target); outside {
			return Change{}, SkippedOutsideRegion, fmt.Sprintf("line %d: the target is outside of the learned region", lineNumber(text, at.from))
		}
	}
	c, status := part.planEdit(e)
	if rest := c.in(part.text); rest != "" && !strings.HasSuffix(rest, lf) {
		c.Text += part.end // the end of the region begins a line
	}
	c.From, c.To = c.From+l.inner.from, c.To+l.inner.from
	return c, status, ""
}

// states reports whether text already has the lines of rules, one after the other, but for blank lines, white
// space and the sign of a bullet. Nights would say the same again and again otherwise.
func states(text, rules string) bool {
	have, want := plainLines(text), plainLines(rules)
	for i := range len(have) - len(want) + 1 {
		if len(want) > 0 && slices.Equal(have[i:i+len(want)], want) {
			return true
		}
	}
	return false
}

// plainLines returns the lines of text that are not blank, with single spaces and without signs of bullets.
func plainLines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) > 1 && (words[0] == "-" || words[0] == "*" || words[0] == "+") {
			words = words[1:]
		}
		if len(words) > 0 {
			out = append(out, strings.Join(words, " "))
		}
	}
	return out
}
